"""``robustclevr baseline``: predictions of a simple method, or of a trained model."""

from __future__ import annotations

from pathlib import Path

import click

from robustclevr.cli import options


@click.command("baseline")
@click.argument("method", metavar="kmeans|truth|random|empty|slot-attention")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=options.Output(),
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
    help="Of kmeans, random and slot-attention, the background included; default: what fits the "
    "dataset, or the slots of the training.",
)
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    default=None,
    metavar="RUN",
    help="Of slot-attention: folder of 'robustclevr train', or a checkpoint in it.",
)
@click.option(
    "--device", default="cpu", show_default=True, help="Of slot-attention: auto, cpu or cuda."
)
@options.seed
@options.workers
def command(
    method: str,
    directory: Path,
    output: Path,
    splits: tuple[str, ...],
    segments: int | None,
    checkpoint: Path | None,
    device: str,
    seed: int | None,
    workers: int | None,
) -> None:
    """Predict the objects in every image or clip of DIRECTORY with a baseline.

    kmeans: clusters of colors. truth: the true labels. random: a random segment for each pixel.
    empty: no object. slot-attention: the slots of a trained model. Predictions of the same seed
    are the same.
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
            checkpoint=checkpoint,
            device=device,
            seed=seed,
            workers=workers,
            on_progress=on_progress,
        )
    click.echo(f"{output}: {made} predictions of {method}, splits {', '.join(chosen)}", err=True)
