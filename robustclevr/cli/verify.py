"""``robustclevr verify``: checks what a dataset promises."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustclevr.cli import codes, options

if TYPE_CHECKING:
    from robustclevr.verify import CheckResult

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
@options.recipes
@options.device
@options.blender
@options.blender_python
def command(
    directory: Path,
    rerender: int,
    as_json: bool,  # noqa: FBT001
    recipe_dirs: tuple[Path, ...],
    device: str,
    blender_app: Path | None,
    blender_python: Path | None,
) -> int:
    """Check checksums, records, labels and drawn values of DIRECTORY; exit 1 on any failure."""
    from robustclevr.cli.renderer import renderer_command
    from robustclevr.recipe import load_recipes
    from robustclevr.run.blender_process import RendererSetup
    from robustclevr.run.cores import share_cores
    from robustclevr.verify import verify_dataset

    recipes = load_recipes(recipe_dirs)
    setup = RendererSetup(
        recipes=tuple((str(item.path), item.shipped) for item in recipes.values()),
        threads=share_cores(1, shards=1)[1],
        device=device,
        command=renderer_command(blender_app, blender_python),
    )
    report = verify_dataset(
        directory,
        recipes,
        rerender=rerender,
        setup=setup,
        on_result=None if as_json else _tell,
    )
    if as_json:
        results = [asdict(result) for result in report.results]
        click.echo(json.dumps({"passed": report.passed, "results": results}, indent=2))
    else:
        click.echo("verified" if report.passed else "verification failed")
    return codes.DONE if report.passed else codes.INCOMPLETE


def _tell(result: CheckResult) -> None:
    state = "FAILED" if result.problems else "ok"
    of_split = f" of {result.split}" if result.split else ""
    click.echo(f"{state:6}  {result.check}{of_split}: {result.checked} checked")
    for problem in result.problems[:_SHOWN_PROBLEMS]:
        click.echo(f"        {problem}")
    if len(result.problems) > _SHOWN_PROBLEMS:
        click.echo(f"        … and {len(result.problems) - _SHOWN_PROBLEMS} more (--json has all)")
    if result.note:
        click.echo(f"        note: {result.note}")
