"""``robustclevr preview``: a contact sheet before days of rendering."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustclevr.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from robustclevr.run.clip_preview import NamedClip
    from robustclevr.run.preview import Row


@click.command("preview")
@click.argument("spec")
@click.option("-o", "--output", type=options.Output(), required=True, metavar="FILE.png")
@click.option("-n", "count", type=click.IntRange(1, 100), default=6, help="Number of samples.")
@click.option("--split", default=None, help="Split to show; by default the first with a DAG.")
@options.seed
@options.overrides
@options.recipes
@options.device
@options.blender
@options.blender_python
def command(
    spec: str,
    output: Path,
    count: int,
    split: str | None,
    seed: int | None,
    overrides: tuple[str, ...],
    recipe_dirs: tuple[Path, ...],
    device: str,
    blender_app: Path | None,
    blender_python: Path | None,
) -> None:
    """Draw a contact sheet of the first samples of SPEC: rows samples, columns images.

    Of clips the columns are frames, and FILE.gif shows them move. SPEC is a named dataset, a YAML
    file, or the folder of a dataset that is made already.
    """
    from robustclevr.cli.renderer import renderer_command
    from robustclevr.recipe import load_recipes
    from robustclevr.run.blender_process import RendererSetup
    from robustclevr.run.clip_preview import drawn_clips, holds_clips_at, stored_clips
    from robustclevr.run.cores import share_cores
    from robustclevr.run.preview import chosen_split, rendered_rows, stored_rows
    from robustclevr.spec import load_dataset

    _require(output, ".png", ".gif")
    if (Path(spec) / "dataset.json").is_file():
        if holds_clips_at(Path(spec)):
            _write_clips(stored_clips(Path(spec), split, count), output)
            return
        _require(output, ".png")
        _write_sheet(stored_rows(Path(spec), split, count), output)
        return
    recipes = load_recipes(recipe_dirs)
    dataset = load_dataset(spec, recipes, overrides=overrides, seed=seed)
    chosen = chosen_split(dataset, split)
    if chosen.video is not None:
        _write_clips(drawn_clips(chosen, recipes, root_seed=dataset.seed, count=count), output)
        return
    _require(output, ".png")
    setup = RendererSetup(
        recipes=tuple((str(item.path), item.shipped) for item in recipes.values()),
        threads=share_cores(1, shards=1)[1],
        device=device,
        command=renderer_command(blender_app, blender_python),
    )
    rows = rendered_rows(chosen, recipes, setup, root_seed=dataset.seed, count=count)
    _write_sheet(rows, output)


def _require(output: Path, *suffixes: str) -> None:
    from robustclevr.errors import SpecError

    if output.suffix.lower() not in suffixes:
        kinds = " or ".join(suffix.removeprefix(".").upper() for suffix in suffixes)
        raise SpecError.single(
            f"'{output}' is not a {kinds} file",
            file="--output",
            hint=f"end the name in {' or '.join(suffixes)}",
        )


def _write_clips(clips: Iterable[NamedClip], output: Path) -> None:
    from robustclevr.cli.files import write_bytes
    from robustclevr.imaging import encode_png
    from robustclevr.report import clip_animation, clip_sheet

    names, videos = zip(*clips, strict=True)
    moving = output.suffix.lower() == ".gif"
    data = clip_animation(videos) if moving else encode_png(clip_sheet(videos, names))
    write_bytes(output, data)
    click.echo(f"{output}: {len(names)} clips of {len(videos[0])} frames", err=True)


def _write_sheet(rows: Iterable[Row], output: Path) -> None:
    from robustclevr.cli.files import write_bytes
    from robustclevr.imaging import encode_png
    from robustclevr.report import contact_sheet

    names, images = [], []
    for name, by_variant in rows:
        names.append(name)
        images.append(by_variant)
        click.echo(f"{name}: {', '.join(by_variant)}", err=True)
    sheet = contact_sheet(
        [list(row.values()) for row in images],
        column_titles=list(images[0]),
        row_titles=names,
    )
    write_bytes(output, encode_png(sheet))
    click.echo(f"{output}: {len(names)} samples, {len(images[0])} images each", err=True)
