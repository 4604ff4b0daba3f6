"""``robustclevr recipe sweep``: how much each severity of a recipe degrades real renders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustclevr.cli import options

if TYPE_CHECKING:
    from robustclevr.recipe import LoadedRecipe
    from robustclevr.run.sweep import Sweep


@click.command("sweep")
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
@click.option("-o", "--output", type=options.Output(), required=True, metavar="DIR")
@click.option(
    "-n",
    "--scenes",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="Scenes to fit on; as many others to test on.",
)
@click.option("--height", type=click.IntRange(min=16), default=240, show_default=True)
@click.option("--width", type=click.IntRange(min=16), default=320, show_default=True)
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="Paths a pixel.",
)
@click.option(
    "--store/--no-store",
    default=None,
    help="Keep the curve beside the recipe file, where severities go through it; by default for "
    "recipes from --recipes only.",
)
@options.seed
@options.recipes
@options.device
@options.blender
@options.blender_python
def command(
    names: tuple[str, ...],
    output: Path,
    scenes: int,
    height: int,
    width: int,
    samples: int,
    store: bool | None,  # noqa: FBT001 - click passes options by name
    seed: int | None,
    recipe_dirs: tuple[Path, ...],
    device: str,
    blender_app: Path | None,
    blender_python: Path | None,
) -> None:
    """Measure recipe NAME on real renders and fit its severity curve.

    Writes curve.json, curve.png and sheet.png into DIR; with several names, which share the
    renders, into DIR/NAME. Half of the scenes are for fitting, the others for testing the fit.
    """
    from robustclevr.cli.renderer import renderer_command
    from robustclevr.recipe import get_recipe, load_recipes
    from robustclevr.run.blender_process import RendererSetup
    from robustclevr.run.cores import share_cores
    from robustclevr.run.sweep import SweepOptions, sweep
    from robustclevr.spec import RenderOptions, load_dataset

    recipes = load_recipes(recipe_dirs)
    chosen = {name: get_recipe(recipes, name) for name in names}
    setup = RendererSetup(
        recipes=tuple((str(item.path), item.shipped) for item in recipes.values()),
        threads=share_cores(1, shards=1)[1],
        device=device,
        command=renderer_command(blender_app, blender_python),
    )
    render = RenderOptions(height, width, samples, denoise=False)
    found = sweep(
        list(chosen),
        load_dataset("clevr", recipes).splits[0],
        recipes,
        setup,
        SweepOptions(scenes, render, seed or 0),
        lambda scene: click.echo(f"{scene}: measured", err=True),
    )
    for result in found:
        name = result.recipe.id
        _write(result, output if len(chosen) == 1 else output / name)
        _keep(result, chosen[name], store=store)


def _write(result: Sweep, folder: Path) -> None:
    from robustclevr.cli.files import write_bytes
    from robustclevr.imaging import encode_png
    from robustclevr.report.sweep import curve_json, curve_plot, sweep_sheet

    write_bytes(folder / "curve.json", curve_json(result))
    write_bytes(folder / "curve.png", curve_plot(result))
    write_bytes(folder / "sheet.png", encode_png(sweep_sheet(result)))
    worst = 1.0 - float(result.tested.ssim[:, -1].mean())
    click.echo(
        f"{folder}: {result.recipe.id} degrades by 1 - SSIM = {worst:.3f} at severity 1; "
        f"{result.ms_per_image:.0f} ms an image",
        err=True,
    )


def _keep(result: Sweep, loaded: LoadedRecipe, *, store: bool | None) -> None:
    from robustclevr.cli.files import write_bytes
    from robustclevr.recipe import curve_path
    from robustclevr.report.sweep import curve_json

    file = curve_path(loaded.path)
    if store is None and loaded.shipped:
        click.echo(f"{file} is left as it is; --store replaces it", err=True)
    elif store is not False:
        write_bytes(file, curve_json(result))
        click.echo(f"{file}: severities of {loaded.recipe.id} go through this curve", err=True)
