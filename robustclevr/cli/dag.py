"""``robustclevr dag``: validate a structural causal model and draw from it."""

from __future__ import annotations

from pathlib import Path

import click

from robustclevr.cli import dag_import, dag_plot, options

_MOST_DRAWS = 10**9
"""Chosen: a file of some 300 GB; they are written a million at a time."""

_LAST_START = 2**62
"""Chosen: indices are 64-bit integers, and the last one must be too."""


@click.group("dag")
def command() -> None:
    """Check a DAG of corruptions, draw it, sample from it, or import one."""


command.add_command(dag_import.command)
command.add_command(dag_plot.command)


@command.command("check")
@click.argument("file")
@options.recipes
def check(file: str, recipe_dirs: tuple[Path, ...]) -> None:
    """Validate FILE, a DAG's YAML file or the name of a shipped DAG."""
    from robustclevr.recipe import load_recipes
    from robustclevr.scm.ranges import require_applicable
    from robustclevr.spec import load_dag, stage_warnings

    dag = load_dag(file, load_recipes(recipe_dirs))
    require_applicable(dag)
    for warning in stage_warnings(dag):
        click.echo(f"warning: {warning}", err=True)
    order = " → ".join(node.id for node in dag.nodes)
    click.echo(f"{file}: valid; {len(dag.nodes)} nodes, applied in the order {order}")


@command.command("sample")
@click.argument("file")
@click.option(
    "-n", "count", type=click.IntRange(1, _MOST_DRAWS), required=True, help="Number of draws."
)
@click.option("--split", default="test", show_default=True, help="Name of the random stream.")
@click.option(
    "--start", type=click.IntRange(0, _LAST_START), default=0, help="Index of the first draw."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@options.do
@options.shift
@click.option("--given", default=None, metavar="FORMULA", help="Keep draws that fulfil this.")
@click.option("--noise", is_flag=True, help="Write the exogenous variables too.")
@options.recipes
@click.option("-o", "--output", type=options.Output(), required=True, help="FILE.csv or .parquet.")
def sample(
    file: str,
    count: int,
    split: str,
    start: int,
    seed: int,
    held: tuple[str, ...],
    shifted: tuple[str, ...],
    given: str | None,
    noise: bool,  # noqa: FBT001
    recipe_dirs: tuple[Path, ...],
    output: Path,
) -> None:
    """Draw from FILE and write one row a sample."""
    from robustclevr.cli.changes import read_changes
    from robustclevr.recipe import load_recipes
    from robustclevr.scm import SCM
    from robustclevr.scm.files import ROWS_TOGETHER, write
    from robustclevr.spec import load_dag

    model = SCM(load_dag(file, load_recipes(recipe_dirs)))
    if shifted:
        model = model.shift(read_changes("--shift", shifted))
    if held:
        model = model.do(read_changes("--do", held))
    if given is not None:
        model = model.given(given)
    parts = (
        model.sample(
            min(ROWS_TOGETHER, start + count - first), seed=seed, split=split, start=first
        ).to_arrow(noise=noise, interventions=False)
        for first in range(start, start + count, ROWS_TOGETHER)
    )
    write(parts, output)
    click.echo(f"{output}: {count} draws of {model.dag.name}, seed {seed}, split {split}", err=True)
