"""``robustclevr verify``: checks what a dataset promises."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustclevr.cli import codes, options

if TYPE_CHECKING:
    from robustclevr.verify import CheckResult, Report

_SHOWN_PROBLEMS = 10


@click.command("verify")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--rerender",
    type=click.IntRange(min=0),
    default=0,
    metavar="K",
    help="Render K samples of each split again and compare pixels.",
)
@options.as_json
@options.workers
@options.recipes
@options.device
@options.blender
@options.blender_python
def command(
    directory: Path,
    rerender: int,
    as_json: bool,  # noqa: FBT001
    workers: int | None,
    recipe_dirs: tuple[Path, ...],
    device: str,
    blender_app: Path | None,
    blender_python: Path | None,
) -> int:
    """Check files, records, labels and drawn values of DIRECTORY; exit 1 on any failure."""
    from robustclevr.cli.renderer import renderer_command
    from robustclevr.recipe import load_recipes
    from robustclevr.run.blender_process import RendererSetup
    from robustclevr.run.cores import share_cores
    from robustclevr.verify import VerifyOptions, verify_dataset

    recipes = load_recipes(recipe_dirs)
    setup = RendererSetup(
        recipes=tuple((str(item.path), item.shipped) for item in recipes.values()),
        threads=share_cores(1, shards=1)[1],
        device=device,
        command=renderer_command(blender_app, blender_python),
    )
    started = time.monotonic()
    with _progress() as on_samples:
        report = verify_dataset(
            directory, recipes, VerifyOptions(rerender, setup, workers), on_samples=on_samples
        )
    if as_json:
        results = [asdict(result) for result in report.results]
        click.echo(json.dumps({"passed": report.passed, "results": results}, indent=2))
    else:
        _tell(report, time.monotonic() - started)
    return codes.DONE if report.passed else codes.INCOMPLETE


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Yield what hears how many more samples were looked at, of how many."""
    from contextlib import ExitStack

    from robustclevr.cli.progress import counting

    count: Callable[[int], None] | None = None
    with ExitStack() as stack:

        def hear(more: int, total: int) -> None:
            nonlocal count
            count = count or stack.enter_context(counting(total))
            count(more)

        yield hear


def _tell(report: Report, seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table

    from robustclevr.cli.words import duration

    table = Table("", "check", "split", box=None, pad_edge=False)
    for heading in ("checked", "problems", "time"):
        table.add_column(heading, justify="right")
    for result in report.results:
        table.add_row(
            "FAILED" if result.problems else "ok",
            result.check,
            result.split or "-",
            str(result.checked),
            str(len(result.problems)),
            f"{result.seconds:.1f} s",
        )
    # A pipe has no width, and a cut column is of no use.
    Console(file=sys.stdout, width=None if sys.stdout.isatty() else 100).print(table)
    for result in report.results:
        _tell_details(result)
    click.echo(f"checked in {duration(seconds)}")
    click.echo("verified" if report.passed else "verification failed")


def _tell_details(result: CheckResult) -> None:
    of_split = f" of {result.split}" if result.split else ""
    if result.note:
        click.echo(f"{result.check}{of_split}: {result.note}")
    for problem in result.problems[:_SHOWN_PROBLEMS]:
        click.echo(f"{result.check}{of_split}: {problem}")
    if len(result.problems) > _SHOWN_PROBLEMS:
        click.echo(f"  … and {len(result.problems) - _SHOWN_PROBLEMS} more (--json has all)")
