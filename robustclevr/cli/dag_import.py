"""``robustclevr dag import``: the RobustCLEVR authors' DAG files to files of this project."""

from __future__ import annotations

from pathlib import Path

import click

from robustclevr.cli import options


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Of the weights and biases that their code draws once a graph.",
)
@click.option("-o", "--output", type=options.Output(), required=True, metavar="FILE.yaml")
def command(file: Path, seed: int, output: Path) -> None:
    """Write the model of FILE, in the format of ndrenkow/robustclevr, as a DAG file.

    Comments at the top of the new file name everything that was mended.
    """
    from robustclevr.cli.files import write_bytes
    from robustclevr.errors import SpecError
    from robustclevr.recipe import load_recipes
    from robustclevr.spec import import_dag, read_document
    from robustclevr.spec.dag import build_dag

    if output.suffix not in (".yaml", ".yml"):
        hint = "end the name in .yaml"
        raise SpecError.single(f"'{output}' is not a YAML file", file="--output", hint=hint)
    if output.exists() and file.exists() and output.samefile(file):
        hint = "give the new file another name"
        raise SpecError.single(f"'{output}' is the file itself", file="--output", hint=hint)
    text = import_dag(file, seed=seed)
    written = read_document(text, name=str(output))
    dag = build_dag(written, load_recipes(), name=output.stem)
    write_bytes(output, text.encode())
    click.echo(f"{output}: {len(dag.nodes)} nodes, seed {seed}; look at its first lines", err=True)
