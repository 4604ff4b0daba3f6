"""``robustclevr corrupt``: a DAG of corruptions on existing pictures."""

from __future__ import annotations

from pathlib import Path

import click

from robustclevr.cli import codes, options


@click.command("corrupt")
@click.argument("images", type=click.Path(path_type=Path))
@click.option("--dag", required=True, metavar="DAG", help="Name of a shipped DAG, or a YAML file.")
@click.option("-o", "--output", type=options.Output(), required=True, metavar="DIR", help="Folder.")
@click.option(
    "--masks",
    type=click.Path(path_type=Path),
    default=None,
    metavar="PATH",
    help="Folder or .tar of masks, or a COCO annotation file; they move with the pixels.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@options.overrides
@click.option(
    "--engine",
    type=click.Choice(["auto", "blender", "numpy"]),
    default="auto",
    show_default=True,
    help="What applies the recipes; auto takes Blender where it is installed.",
)
@click.option("--workers", type=int, default=None, help="Processes; default: one a core.")
@options.recipes
@options.blender
@options.blender_python
@click.option("--force", is_flag=True, help="Remake what another spec left in the folder.")
def command(
    images: Path,
    dag: str,
    output: Path,
    masks: Path | None,
    seed: int,
    overrides: tuple[str, ...],
    engine: str,
    workers: int | None,
    recipe_dirs: tuple[Path, ...],
    blender_app: Path | None,
    blender_python: Path | None,
    force: bool,  # noqa: FBT001
) -> int:
    """Corrupt IMAGES, a folder, a .tar or a COCO annotation file, as DAG says.

    The image-stage recipes of the DAG run on each picture, and the folder DIR holds a dataset as
    'generate' makes it. Run again, it goes on where it stopped. Exit 1 if a picture was left out.
    """
    from robustclevr.cli.progress import progress
    from robustclevr.cli.renderer import renderer_command
    from robustclevr.cli.summary import tell_summary
    from robustclevr.cli.words import plural
    from robustclevr.pictures import PictureOptions
    from robustclevr.recipe import load_recipes
    from robustclevr.run.corrupt import prepare_corruption
    from robustclevr.run.generate import GenerateOptions, generate

    recipes = load_recipes(recipe_dirs)
    renderer = renderer_command(blender_app, blender_python)
    where = PictureOptions(
        images=str(images.resolve()),
        masks=None if masks is None else str(masks.resolve()),
        engine=engine,
    )
    planned = prepare_corruption(
        where, dag, recipes, renderer, overrides=overrides, seed=seed, workers=workers
    )
    settings = GenerateOptions(workers=workers, device="cpu", command=renderer, force=force)
    try:
        with progress() as on_event:
            summary = generate(planned.spec, recipes, output, settings, on_event)
    except KeyboardInterrupt:
        click.echo("stopped; what is finished is kept, and the same command goes on", err=True)
        return codes.INCOMPLETE
    tell_summary(summary, output)
    if planned.problems:
        count = plural(len(planned.problems), "picture")
        click.echo(f"error: left out: {count} that could not be used:", err=True)
        for problem in planned.problems:
            click.echo(f"  {problem}", err=True)
        return codes.INCOMPLETE
    return summary.exit_code
