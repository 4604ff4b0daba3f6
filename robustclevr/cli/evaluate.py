"""``robustclevr evaluate``: scores of predictions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustclevr.cli import options
from robustclevr.cli.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robustclevr.evaluation import EvaluationOptions, Summary
    from robustclevr.store.dataset import Dataset

_SHOWN = ("mota", "motp", "miou", "fg_ari", "fb_iou", "mse", "ap", "important_ap")


@click.command("evaluate")
@click.argument("directory", type=click.Path(path_type=Path))
@click.argument("predictions", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=options.Output(), required=True, metavar="OUT", help="Folder.")
@options.split
@click.option(
    "--metrics",
    default="",
    metavar="A,B",
    help="Of ari, miou, classes, mot, sweep, mse, detection, importance.",
)
@click.option(
    "--preset",
    default="all-frames",
    show_default=True,
    help="Rules of tracking: all-frames, weis2021, weis2021-warm-start.",
)
@click.option("--variants", default="", metavar="A,B", help="Only these images of a sample.")
@click.option(
    "--compare",
    "other",
    type=click.Path(path_type=Path),
    default=None,
    metavar="OTHER",
    help="Predictions of another model, for differences sample by sample.",
)
@click.option("--allow-missing", is_flag=True, help="Score missing predictions as empty.")
@click.option(
    "--captions",
    type=click.Path(path_type=Path),
    default=None,
    metavar="FILE.json",
    help="COCO's captions for importance; default: made from the records of the scenes.",
)
@click.option(
    "--importance",
    type=click.FloatRange(0, 1),
    default=0.075,
    show_default=True,
    help="Objects more important than this are evaluated.",
)
@click.option("--bins", type=click.IntRange(1), default=10, show_default=True, help="Of severity.")
@options.workers
@options.as_json
def command(
    directory: Path,
    predictions: Path,
    output: Path,
    splits: tuple[str, ...],
    metrics: str,
    preset: str,
    variants: str,
    other: Path | None,
    allow_missing: bool,  # noqa: FBT001
    captions: Path | None,
    importance: float,
    bins: int,
    workers: int | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Score PREDICTIONS of the dataset in DIRECTORY; write OUT/scores.json and what it rests on.

    scores.json: aggregate, intervals, by_variant, by_split, by_severity. per_sample.csv: one row
    a prediction. scores.svg and severity_*.svg: the same as pictures.
    """
    from robustclevr.evaluation import EvaluationOptions
    from robustclevr.store.dataset import Dataset

    chosen = EvaluationOptions(
        metrics=_names(metrics),
        preset=preset,
        variants=_names(variants),
        allow_missing=allow_missing,
        captions=captions,
        importance=importance,
        bins=bins,
        workers=workers,
    )
    dataset = Dataset.open(directory)
    models = _scored(dataset, [predictions, *([other] if other else [])], splits, chosen)
    files = _files(dataset, models, chosen)
    for name, data in files.items():
        write_bytes(output / name, data)
    if as_json:
        click.echo(files["scores.json"].decode(), nl=False)
    else:
        _tell_scores(models)
    _tell(models, output)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _scored(
    dataset: Dataset, places: Sequence[Path], splits: tuple[str, ...], chosen: EvaluationOptions
) -> list[tuple[str, Summary]]:
    """Score each model; beside it the name of its predictions, no two alike."""
    from robustclevr.cli.progress import counting
    from robustclevr.evaluation import evaluate
    from robustclevr.predictions import find_splits

    splits = find_splits(places[0], dataset, splits)
    total = sum(dataset.split(name).samples for name in splits)
    models: list[tuple[str, Summary]] = []
    for place in places:
        taken = [name for name, _ in models]
        names = (place.name, str(place), f"{place} (compared)")
        name = next(name for name in names if name not in taken)
        with counting(total) as on_progress:
            summary = evaluate(dataset, place, splits, chosen, on_progress=on_progress)
        models.append((name, summary))
    return models


def _files(
    dataset: Dataset, models: list[tuple[str, Summary]], chosen: EvaluationOptions
) -> dict[str, bytes]:
    from robustclevr.evaluation.output import per_sample_csv, scores_json
    from robustclevr.evaluation.plots import plots
    from robustclevr.evaluation.summary import compare

    first, *others = [summary for _, summary in models]
    comparison = None
    if others:
        comparison = compare(first, others[0], chosen, seed=dataset.content["seed"])
    name = dataset.content["name"]
    return {
        "scores.json": scores_json(first, chosen, dataset=name, comparison=comparison),
        "per_sample.csv": per_sample_csv(first, chosen),
        **plots(models),
    }


def _tell_scores(models: list[tuple[str, Summary]]) -> None:
    for model, summary in models:
        whole = summary.whole
        for name, value in whole.aggregate.items():
            if name in _SHOWN:
                low, high = whole.intervals[name]
                between = "" if math.isnan(low) else f"  [{low:.4f}, {high:.4f}]"
                click.echo(f"{model}  {name:12}  {value:.4f}{between}")


def _tell(models: list[tuple[str, Summary]], output: Path) -> None:
    from robustclevr.cli.words import plural

    for model, summary in models:
        whole = summary.whole
        if whole.missing:
            missing = f"{whole.missing} of {plural(whole.images, 'prediction')}"
            click.echo(f"{model}: {missing} are missing and were scored as empty", err=True)
    click.echo(f"{output}: scores.json, per_sample.csv, pictures", err=True)
