"""``robustclevr baseline``: predictions of a simple method."""

from __future__ import annotations

from pathlib import Path

import click

from robustclevr.cli import options


@click.command("baseline")
@click.argument("method", metavar="kmeans|truth|random|empty")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="PREDICTIONS",
    help="Folder; or FILE.json for clips in the form of the video benchmark.",
)
@options.split
@click.option(
    "--segments",
    type=int,
    default=None,
    metavar="K",
    help="Of kmeans and random, the background included; default: what fits the dataset.",
)
@options.seed
@options.workers
def command(
    method: str,
    directory: Path,
    output: Path,
    splits: tuple[str, ...],
    segments: int | None,
    seed: int | None,
    workers: int | None,
) -> None:
    """Predict the objects in every image or clip of DIRECTORY with a simple method.

    kmeans: clusters of colors. truth: the true labels. random: a random segment for each pixel.
    empty: no object. Predictions of the same seed are the same.
    """
    from robustclevr.baselines import run_baseline
    from robustclevr.cli.progress import counting
    from robustclevr.store.dataset import Dataset

    dataset = Dataset.open(directory)
    chosen = splits or tuple(dataset.splits)
    total = sum(dataset.split(name).samples for name in chosen)
    with counting(total) as on_progress:
        made = run_baseline(
            dataset,
            chosen,
            method,
            output,
            segments=segments,
            seed=seed,
            workers=workers,
            on_progress=on_progress,
        )
    click.echo(f"{output}: {made} predictions of {method}, splits {', '.join(chosen)}", err=True)
