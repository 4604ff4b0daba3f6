"""An evaluation from files to scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from robustclevr.errors import SpecError, StoreError
from robustclevr.evaluation.options import OF_BOXES, OF_LABELS, EvaluationOptions
from robustclevr.evaluation.score import ScoreTask, score_chunk
from robustclevr.evaluation.summary import Summary, summarize
from robustclevr.evaluation.table import gathered
from robustclevr.predictions import (
    Detections,
    SplitFiles,
    chunks,
    find_splits,
    is_hidden,
    open_split,
    read_captions,
    read_detections,
    targets,
)
from robustclevr.run.parallel import ordered_results
from robustclevr.store.dataset import Dataset


def evaluate(
    dataset: Dataset,
    predictions: Path,
    splits: Sequence[str],
    options: EvaluationOptions,
    *,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Summary:
    """Score the predictions of a dataset.

    Parameters
    ----------
    dataset : Dataset
    predictions : Path
        As in :mod:`robustclevr.predictions`.
    splits : sequence of str
        From :func:`robustclevr.predictions.find_splits`; their scores are taken together, and
        each apart.
    options : EvaluationOptions
    on_progress : callable
        Hears the number of samples done since it was last called.

    Returns
    -------
    Summary

    Raises
    ------
    SpecError
        If an option does not fit the dataset.
    StoreError
        If a prediction is missing, unreadable, of a wrong shape or of no sample; names it.
    """
    tasks: list[ScoreTask] = []
    metrics: tuple[str, ...] = ()
    for split in find_splits(predictions, dataset, splits):
        metrics, of_split = _split_tasks(dataset, predictions, split, options)
        tasks += of_split
    rows = []
    results = ordered_results(score_chunk, tasks, workers=options.workers)
    for task, found in zip(tasks, results, strict=True):
        rows.append(found)
        on_progress(task.chunk.stop - task.chunk.start)
    table = gathered(rows)
    if not table.rows:
        raise StoreError(f"{dataset.layout.root}: there is no sample to evaluate")
    return summarize(table, metrics, options, seed=dataset.content["seed"])


def _split_tasks(
    dataset: Dataset, predictions: Path, split: str, options: EvaluationOptions
) -> tuple[tuple[str, ...], list[ScoreTask]]:
    """Return the metrics to compute, and the tasks of one split."""
    found = targets(dataset.sample(split, 0))
    if not found:
        raise StoreError(f"split '{split}' was made without images and masks")
    is_clip = found[0].is_clip
    has_labels = _has_labels(predictions, split)
    metrics = options.resolved(is_clip=is_clip, has_labels=has_labels)
    of_labels = any(name in OF_LABELS for name in metrics)
    files = open_split(
        predictions,
        dataset,
        split,
        variants=options.variants,
        # Boxes need no label maps.
        allow_missing=options.allow_missing or not of_labels,
    )
    samples = dataset.split(split).samples
    detections: dict[str, dict[int, Detections]] = {}
    if any(name in OF_BOXES for name in metrics):
        variants = options.variants or tuple(target.variant for target in found)
        detections = _detections(files, variants, samples, allow_missing=options.allow_missing)
    captions = None if options.captions is None else read_captions(options.captions, samples)
    seed = dataset.content["seed"]
    return metrics, [
        ScoreTask(
            chunk=chunk,
            files=files,
            metrics=metrics,
            variants=options.variants,
            rules=options.rules,
            seed=seed,
            detections={
                variant: {i: of[i] for i in range(chunk.start, chunk.stop) if i in of}
                for variant, of in detections.items()
            },
            captions=captions,
        )
        for chunk in chunks(dataset, split)
    ]


def _has_labels(predictions: Path, split: str) -> bool:
    folder = predictions / split
    if not folder.is_dir():
        return True
    return any(file.suffix != ".json" for file in folder.iterdir() if not is_hidden(file))


def _detections(
    files: SplitFiles, variants: Sequence[str], samples: int, *, allow_missing: bool
) -> dict[str, dict[int, Detections]]:
    found = {}
    for variant in variants:
        file = files.detections_file(variant)
        if file is not None:
            found[variant] = read_detections(file, samples)
        elif not allow_missing:
            raise SpecError.single(
                f"there are no detections of variant '{variant}'",
                file=str(files.place / f"{variant}.coco.json"),
                hint="write COCO's results there, choose others with --variants, "
                "or let them count as empty with --allow-missing",
            )
    return found
