"""``robustclevr dag plot``: a DAG as a picture, or as GraphML for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from robustclevr.cli import options

SUFFIXES = (".svg", ".png", ".graphml")


@click.command("plot")
@click.argument("file")
@options.do
@options.shift
@options.recipes
@click.option(
    "-o",
    "--output",
    type=options.Output(),
    required=True,
    help="FILE.svg, .png or .graphml.",
)
def command(
    file: str,
    held: tuple[str, ...],
    shifted: tuple[str, ...],
    recipe_dirs: tuple[Path, ...],
    output: Path,
) -> None:
    """Draw FILE, a DAG's YAML file or the name of a shipped DAG.

    Latent nodes are dashed. What --do and --shift change is red, and edges that nothing reads any
    more are crossed out.
    """
    from robustclevr.cli.changes import read_changes
    from robustclevr.cli.files import write_bytes
    from robustclevr.errors import SpecError, suggest
    from robustclevr.recipe import load_recipes
    from robustclevr.scm.interventions import held_values, shifted_dag
    from robustclevr.spec import load_dag

    if output.suffix not in SUFFIXES:
        hint = suggest(output.suffix, SUFFIXES)
        raise SpecError.single(f"cannot draw '{output}'", file="--output", hint=hint)
    dag, replaced = load_dag(file, load_recipes(recipe_dirs)), frozenset[str]()
    if shifted:
        dag, texts = shifted_dag(dag, read_changes("--shift", shifted))
        replaced = frozenset(texts)
    do = held_values(dag, read_changes("--do", held)) if held else {}
    if output.suffix == ".graphml":
        from robustclevr.scm.graphml import to_graphml

        data = to_graphml(dag).encode()
    else:
        from robustclevr.report.dag_boxes import Changes
        from robustclevr.report.dag_plot import plot_dag

        data = plot_dag(dag, Changes(do, replaced), output.suffix)
    write_bytes(output, data)
    click.echo(f"{output}: {len(dag.nodes)} nodes", err=True)
