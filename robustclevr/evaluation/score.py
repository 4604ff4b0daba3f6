"""Samples to rows: the part of an evaluation that runs in worker processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from robustclevr.evaluation.boxes import BoxRow
from robustclevr.evaluation.captions import scene_captions, shape_typicality
from robustclevr.evaluation.options import OF_LABELS
from robustclevr.evaluation.scorers import SHAPES, make_scorer
from robustclevr.evaluation.table import Row
from robustclevr.metrics import TrackingRules
from robustclevr.predictions import (
    CATEGORIES,
    Chunk,
    Detections,
    Prediction,
    SplitFiles,
    Target,
    chunk_samples,
    targets,
)
from robustclevr.seeds import stream


@dataclass(frozen=True)
class ScoreTask:
    """A chunk to score.

    Attributes
    ----------
    chunk : Chunk
    files : SplitFiles
    metrics : tuple of str
    variants : tuple of str
        Empty for all.
    rules : TrackingRules
    seed : int
        Of captions.
    detections : mapping of str to mapping of int to Detections
        By variant and index of the sample.
    captions : mapping of int to list of str, or None
        None to make them.
    """

    chunk: Chunk
    files: SplitFiles
    metrics: tuple[str, ...]
    variants: tuple[str, ...]
    rules: TrackingRules
    seed: int
    detections: Mapping[str, Mapping[int, Detections]]
    captions: Mapping[int, list[str]] | None


def score_chunk(task: ScoreTask) -> list[Row]:
    """Score the samples of a chunk.

    Raises
    ------
    StoreError
        If a sample or a prediction cannot be read; names it.
    SpecError
        If the rules do not fit the clips.
    """
    return [row for sample in chunk_samples(task.chunk) for row in _rows(task, targets(sample))]


def _rows(task: ScoreTask, found: tuple[Target, ...]) -> Iterator[Row]:
    for target in found:
        if not task.variants or target.variant in task.variants:
            yield _row(task, target)


def _row(task: ScoreTask, target: Target) -> Row:
    scorers = {name: make_scorer(name, task.rules) for name in task.metrics if name in OF_LABELS}
    if "classes" in scorers:
        target.require_shapes(SHAPES, "--metrics classes")
    prediction = Prediction.empty(target.shape)
    if scorers:
        prediction = task.files.read(target) or prediction
    boxes = None
    if len(scorers) < len(task.metrics):
        boxes = _boxes(task, target)
    return Row(
        split=target.sample.split,
        index=target.index,
        variant=target.variant,
        severity=target.severity,
        missing=bool(scorers) and prediction.missing,
        sums={name: scorer.sums(target, prediction) for name, scorer in scorers.items()},
        boxes=boxes,
    )


def _boxes(task: ScoreTask, target: Target) -> BoxRow:
    target.require_shapes(CATEGORIES, "--metrics detection, importance")
    found = task.detections.get(target.variant, {}).get(target.index)
    typicality = None
    if "importance" in task.metrics:
        typicality = shape_typicality(_captions(task, target))
    return BoxRow.of(target, found, typicality)


def _captions(task: ScoreTask, target: Target) -> list[str]:
    if task.captions is not None:
        return task.captions.get(target.index, [])
    rng = stream(task.seed, target.sample.split, "evaluation.captions", target.index)
    return list(scene_captions(target.record["objects"], rng=rng))
