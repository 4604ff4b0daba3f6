"""Scores as functions of sums, so that sets, bins and resamples are scored alike.

A prediction beside its truth enters a scorer; a vector leaves. Vectors of several predictions
add up, with weights if need be, and the scorer turns a sum into scores: those of one prediction,
of a set, of a bin of severities, or of a resampled set.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import astuple, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from robustclevr.errors import SpecError, StoreError
from robustclevr.metrics import (
    IOU_SWEEP,
    ClassAreas,
    Overlaps,
    TrackingCounts,
    TrackingRules,
    class_areas,
    iou_sweep,
    label_overlaps,
    mask_overlaps,
    matched_iou,
    rand_scores,
    score_masks,
    squared_error,
)
from robustclevr.metrics.overlap import FloatArray, IntArray, iou, pair_counts
from robustclevr.predictions import Prediction, Target

SHAPES = (
    "cube",
    "cylinder",
    "sphere",
    "ellipse",
    "heart",
    "square",
    "diamond",
    "disc",
    "rectangle",
    "triangle",
)
"""Classes of objects: the shapes of CLEVR, dSprites and Sprites-MOT."""


class Scorer(ABC):
    """One group of scores.

    Attributes
    ----------
    names : tuple of str
        Of its scores.
    """

    names: tuple[str, ...]

    @abstractmethod
    def sums(self, target: Target, prediction: Prediction) -> FloatArray:
        """Return the vector of one prediction, shape (K,)."""

    @abstractmethod
    def scores(self, sums: FloatArray) -> FloatArray:
        """Return the scores of sums of vectors, shape (..., K), as (..., len(names)).

        nan where nothing defines a score.
        """


class MeanScorer(Scorer):
    """Scores that are means over predictions; those that have none are left out."""

    @abstractmethod
    def values(self, target: Target, prediction: Prediction) -> Sequence[float]:
        """Return the scores of one prediction; nan where it has none."""

    def sums(self, target: Target, prediction: Prediction) -> FloatArray:
        """Return values, then how many of each there are."""
        values = np.array(self.values(target, prediction), np.float64)
        there = ~np.isnan(values)
        return np.concatenate([np.where(there, values, 0.0), there])

    def scores(self, sums: FloatArray) -> FloatArray:
        """Return the means."""
        totals, counts = np.split(sums, 2, axis=-1)
        return np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)


class RandScorer(MeanScorer):
    """Adjusted Rand index, precision and recall; a clip is one map."""

    names = ("ari", "arp", "arr", "fg_ari", "fg_arp", "fg_arr")

    def values(self, target: Target, prediction: Prediction) -> Sequence[float]:
        """Return the scores of all pixels, then of those of true objects."""
        maps = target.labels[np.newaxis], prediction.labels[np.newaxis]
        both = (rand_scores(*maps), rand_scores(*maps, foreground=True))
        return [float(value[0]) for scores in both for value in astuple(scores)]


class MatchedIouScorer(MeanScorer):
    """Mean IoU of segments under the best pairing; a clip is one map."""

    names = ("miou", "miou_pairs", "fg_miou")

    def values(self, target: Target, prediction: Prediction) -> Sequence[float]:
        """Return the mean over true segments, over pairs, and over true objects."""
        maps = target.labels[np.newaxis], prediction.labels[np.newaxis]
        every, objects = matched_iou(*maps), matched_iou(*maps, foreground=True)
        return [float(every.mean[0]), float(every.mean_of_pairs[0]), float(objects.mean[0])]


class SquaredErrorScorer(MeanScorer):
    """Squared error of reconstructed clips."""

    names = ("mse",)

    def __init__(self, rules: TrackingRules) -> None:
        self._rules = rules

    def values(self, target: Target, prediction: Prediction) -> Sequence[float]:
        """Return the error; nan for a prediction that is missing."""
        _require_length(target, self._rules)
        if prediction.missing:
            return [np.nan]
        if prediction.reconstruction is None:
            raise StoreError(f"{target.name}: its prediction has no array 'reconstruction' for mse")
        return [squared_error(target.pixels, prediction.reconstruction, self._rules)]


class TrackingScorer(Scorer):
    """The events of tracking."""

    names = ("mota", "motp", "md", "mt", "match", "miss", "ids", "fp")

    def __init__(self, rules: TrackingRules) -> None:
        self._rules = rules

    def sums(self, target: Target, prediction: Prediction) -> FloatArray:
        """Return the counts, in the order of :class:`TrackingCounts`."""
        _require_length(target, self._rules)
        return _vector(score_masks(_overlaps(target, prediction), self._rules))

    def scores(self, sums: FloatArray) -> FloatArray:
        """Return the scores of the counts."""
        rows = sums.reshape(-1, sums.shape[-1]).tolist()
        made = [list(TrackingCounts(*row).scores().values()) for row in rows]
        return np.array(made, np.float64).reshape(*sums.shape[:-1], len(self.names))


class SweepScorer(Scorer):
    """MOTA at several IoU from which on a prediction may be of an object: the paper's figure 2a."""

    names = tuple(f"mota@{threshold}" for threshold in IOU_SWEEP)

    def __init__(self, rules: TrackingRules) -> None:
        self._rules = rules
        self._each = TrackingScorer(rules)

    def sums(self, target: Target, prediction: Prediction) -> FloatArray:
        """Return the counts, threshold by threshold."""
        _require_length(target, self._rules)
        swept = iou_sweep([_overlaps(target, prediction)], self._rules)
        return np.concatenate([_vector(counts) for counts in swept.values()])

    def scores(self, sums: FloatArray) -> FloatArray:
        """Return the MOTA of each threshold."""
        by_threshold = sums.reshape(*sums.shape[:-1], len(self.names), -1)
        return self._each.scores(by_threshold)[..., TrackingScorer.names.index("mota")]


class ClassScorer(Scorer):
    """Mean IoU of shapes and FB-IoU: each object is a query, its partner the answer."""

    names = ("class_miou", "fb_iou", "class_miou_chance", "fb_iou_chance")

    def sums(self, target: Target, prediction: Prediction) -> FloatArray:
        """Return the areas by class, field by field."""
        classes = np.array([SHAPES.index(name) for name in target.classes], np.int64)
        seen = np.intersect1d(target.labels, np.arange(1, len(classes) + 1))
        partner = partners(target.labels, prediction.labels, len(classes))[seen - 1]
        areas = class_areas(
            _masks(target.labels, seen),
            _masks(prediction.labels, partner),
            classes[seen - 1],
            len(SHAPES),
        )
        parts = [getattr(areas, field.name) for field in fields(areas)]
        return np.asarray(np.concatenate(parts), np.float64)

    def scores(self, sums: FloatArray) -> FloatArray:
        """Return the scores of the areas."""
        by_field = sums.reshape(*sums.shape[:-1], len(fields(ClassAreas)), len(SHAPES))
        areas: Any = np.moveaxis(by_field, -2, 0)
        return ClassAreas(*areas).score_array()


def make_scorer(name: str, rules: TrackingRules) -> Scorer:
    """Return the scorer of a group, with the rules that those of clips need."""
    if name == "mot":
        return TrackingScorer(rules)
    if name == "mse":
        return SquaredErrorScorer(rules)
    if name == "sweep":
        return SweepScorer(rules)
    simple: dict[str, type[Scorer]] = {
        "ari": RandScorer,
        "miou": MatchedIouScorer,
        "classes": ClassScorer,
    }
    return simple[name]()


def partners(truth: NDArray[Any], predicted: NDArray[Any], n_objects: int) -> IntArray:
    """Return the predicted segment of each object under the pairing of the greatest sum of IoU.

    The background takes part in the pairing, so the segment that is best for it is no object's.

    Parameters
    ----------
    truth, predicted : ndarray of int
        Labels, of one shape; in ``truth`` 0 is the background, i object i.
    n_objects : int

    Returns
    -------
    ndarray of int64, shape (n_objects,)
        Element i - 1 is the label that object i is paired with, -1 for none.
    """
    pairs = pair_counts(truth[np.newaxis], predicted[np.newaxis])
    table = pairs.counts[0]
    similarity = iou(table, table.sum(axis=1), table.sum(axis=0))
    partner = np.full(n_objects, -1, np.int64)
    for row, column in zip(*linear_sum_assignment(similarity, maximize=True), strict=True):
        name = int(pairs.truth_ids[row])
        if 1 <= name <= n_objects and table[row, column] > 0:
            partner[name - 1] = pairs.predicted_ids[column]
    return partner


def _overlaps(target: Target, prediction: Prediction) -> Overlaps:
    """Return the overlaps of a clip, of masks where they were predicted, else of labels."""
    if prediction.masks is None:
        return label_overlaps(target.labels, prediction.labels)
    truth = np.stack([target.labels == n for n in range(target.labels.max() + 1)], axis=1)
    return mask_overlaps(truth[:, 1:], prediction.masks, truth[:, :1])


def _vector(counts: TrackingCounts) -> FloatArray:
    return np.array([getattr(counts, field.name) for field in fields(counts)], np.float64)


def _masks(labels: NDArray[Any], names: IntArray) -> NDArray[np.bool_]:
    """Return the mask of each label, one behind the other; that of -1 is empty."""
    return np.asarray(labels.astype(np.int64) == names.reshape(-1, *[1] * labels.ndim))


def _require_length(target: Target, rules: TrackingRules) -> None:
    frames = target.shape[0]
    if frames <= rules.start_frame:
        raise SpecError.single(
            f"{target.name} has {frames} frames, and the rules look at frames from "
            f"{rules.start_frame} on",
            hint="choose another --preset",
        )
