"""``robustclevr generate``: makes a dataset, or the missing rest of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustclevr.cli import codes, options

if TYPE_CHECKING:
    from robustclevr.run.estimate import Estimate
    from robustclevr.spec import DatasetSpec


@click.command("generate")
@click.argument("spec")
@click.option(
    "-o",
    "--output",
    type=options.FolderOrUrl(),
    required=True,
    metavar="DIR",
    help="Folder; or the URL of an object store, such as s3://bucket/folder, with --shards.",
)
@options.seed
@options.overrides
@click.option("--splits", default="", metavar="A,B", help="Only these splits.")
@click.option("--shards", default=None, metavar="I/N", help="Only part I of N of all shards.")
@click.option(
    "--workers",
    type=int,
    default=None,
    help="Processes; default: one a GPU, else one for two cores, and for clips one a core.",
)
@click.option(
    "--backend",
    default="local",
    show_default=True,
    help="Where the workers run: local, ray or slurm.",
)
@click.option(
    "--slurm",
    "backend_settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of sbatch, such as partition=gpu; may be given more than once.",
)
@options.device
@options.on_device_loss
@options.recipes
@options.blender
@options.blender_python
@click.option(
    "--samples",
    default="",
    metavar="SPLIT:I[-J],…",
    help="Only these samples, such as test:17,test:40-44; their shards are finished when all are.",
)
@options.retries
@options.sample_timeout
@options.memory_limit
@options.log_file
@click.option("--dry-run", is_flag=True, help="Only say what it takes, from a measured sample.")
@click.option("--force", is_flag=True, help="Remake what another spec left in the folder.")
def command(
    spec: str,
    output: Path | str,
    seed: int | None,
    overrides: tuple[str, ...],
    splits: str,
    shards: str | None,
    workers: int | None,
    backend: str,
    backend_settings: tuple[str, ...],
    device: str,
    on_device_loss: str,
    recipe_dirs: tuple[Path, ...],
    blender_app: Path | None,
    blender_python: Path | None,
    samples: str,
    retries: int,
    sample_timeout_s: float | None,
    memory_limit_gib: float | None,
    log_file: Path | None,
    dry_run: bool,  # noqa: FBT001
    force: bool,  # noqa: FBT001
) -> int:
    """Make the dataset SPEC, a name or a YAML file, in the folder DIR.

    Run again, it goes on where it stopped.
    """
    from robustclevr.cli.log import logged
    from robustclevr.cli.progress import progress
    from robustclevr.cli.renderer import renderer_command
    from robustclevr.cli.summary import tell_summary
    from robustclevr.recipe import load_recipes
    from robustclevr.run.estimate import estimate
    from robustclevr.run.generate import GenerateOptions, generate
    from robustclevr.run.generate_remote import generate_remote, scratch_of
    from robustclevr.run.shards import Selection
    from robustclevr.spec import load_dataset

    recipes = load_recipes(recipe_dirs)
    dataset = load_dataset(spec, recipes, overrides=overrides, seed=seed)
    _warn(dataset)
    settings = GenerateOptions(
        splits=_names(splits),
        selection=None if shards is None else Selection.from_text(shards),
        workers=workers,
        backend=backend,
        backend_settings=backend_settings,
        device=device,
        on_device_loss=on_device_loss,
        command=renderer_command(blender_app, blender_python),
        force=force,
        samples=samples,
        retries=retries,
        sample_timeout_s=sample_timeout_s,
        memory_limit_bytes=options.gib_to_bytes(memory_limit_gib),
    )
    if dry_run:
        click.echo("measuring a sample of each kind of split; nothing is written", err=True)
        folder = output if isinstance(output, Path) else scratch_of(output, settings.selection)
        _tell_estimate(estimate(dataset, recipes, folder, settings))
        return 0
    try:
        with progress() as shown, logged(log_file, shown) as (on_event, log_end):
            if isinstance(output, str):
                summary = generate_remote(dataset, recipes, output, settings, on_event)
            else:
                summary = generate(dataset, recipes, output, settings, on_event)
            log_end(summary)
    except KeyboardInterrupt:
        click.echo("stopped; what is finished is kept, and the same command goes on", err=True)
        return codes.INCOMPLETE
    tell_summary(summary, output, chooses=True)
    return summary.exit_code


def _names(splits: str) -> tuple[str, ...]:
    from robustclevr.errors import SpecError

    names = tuple(name.strip() for name in splits.split(",") if name.strip())
    if splits and not names:
        raise SpecError.single(
            f"'{splits}' names no split", file="--splits", hint="write --splits train,test"
        )
    return names


def _warn(dataset: DatasetSpec) -> None:
    from robustclevr.spec import stage_warnings

    dags = [split.dag for split in dataset.splits if split.dag is not None]
    warnings = [warning for dag in dags for warning in stage_warnings(dag)]
    for warning in dict.fromkeys(warnings):
        click.echo(f"warning: {warning}", err=True)


def _tell_estimate(estimated: Estimate) -> None:
    from robustclevr.cli.words import duration, plural, size

    for split in estimated.splits:
        click.echo(
            f"{split.split}: {plural(split.samples, 'sample')}, {plural(split.renders, 'render')}, "
            f"{duration(split.seconds)}, {size(split.size_bytes)} "
            f"({split.seconds_per_sample:.2f} s a sample in one worker, measured)"
        )
    click.echo(
        f"in all: {plural(estimated.samples, 'sample')}, {plural(estimated.renders, 'render')}, "
        f"{duration(estimated.seconds)} with {plural(estimated.workers, 'worker')}, "
        f"{size(estimated.size_bytes)}"
    )
