"""True and detected boxes of images, and the scores of a set of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robustclevr.imaging import boxes_and_fractions
from robustclevr.metrics import (
    ImageBoxes,
    MatchedImages,
    important,
    match_images,
    object_importance,
)
from robustclevr.metrics.overlap import FloatArray, IntArray
from robustclevr.predictions import CATEGORIES, Detections, Target, no_detections

DETECTION_NAMES = (
    "ap",
    "ap50",
    "ap75",
    "ap_small",
    "ap_medium",
    "ap_large",
    "ar1",
    "ar10",
    "ar100",
    "ar_small",
    "ar_medium",
    "ar_large",
    "ar1_50",
    "f1_50",
)
IMPORTANCE_NAMES = (*(f"important_{name}" for name in DETECTION_NAMES), "important_objects")

_UNIT = 2.0**-20
"""Weights are multiples of it, so that sums are exact and full recall is 1 in any order."""


@dataclass(frozen=True)
class BoxRow:
    """True boxes of one image, and what was detected.

    Attributes
    ----------
    classes : tuple of str
        Shape of each visible object.
    truth : ndarray of float64, shape (N, 4)
        (left, top, width, height) of what is visible. [px]
    areas : ndarray of float64, shape (N,)
        Visible pixels.
    detections : Detections
    importance : ndarray of float64, shape (N,), or None
        Of each object; all nan if no caption names one.
    """

    classes: tuple[str, ...]
    truth: FloatArray
    areas: FloatArray
    detections: Detections
    importance: FloatArray | None = None

    @classmethod
    def of(
        cls,
        target: Target,
        detections: Detections | None,
        typicality: Mapping[str, float] | None,
    ) -> BoxRow:
        """Return the boxes of a target.

        Parameters
        ----------
        target : Target
            An image.
        detections : Detections or None
            None for no detection.
        typicality : mapping of str to float, or None
            Of each class in the captions of the image, for importance.
        """
        seen = [
            (name, footprint)
            for name, footprint in zip(
                target.classes,
                boxes_and_fractions(target.labels, len(target.classes)),
                strict=True,
            )
            if footprint.box is not None
        ]
        classes = tuple(name for name, _ in seen)
        corners = np.array([item.box for _, item in seen], np.float64).reshape(-1, 4)
        truth = np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1)
        areas = np.array([item.visible_pixels for _, item in seen], np.float64)
        importance = None
        if typicality is not None:
            importance = object_importance(classes, areas, truth, typicality)
        return cls(classes, truth, areas, detections or no_detections(), importance)

    def image(self, threshold: float | None = None) -> ImageBoxes:
        """Return what detection is scored on; with a threshold the more important objects only."""
        kept = np.ones(len(self.classes), np.bool_)
        if threshold is not None and self.importance is not None:
            kept = important(self.importance, threshold)
        names = np.array([CATEGORIES[name] for name in self.classes], np.int64)
        return ImageBoxes(
            truth=self.truth[kept],
            truth_classes=names[kept],
            detected=self.detections.boxes,
            detected_classes=self.detections.classes,
            scores=self.detections.scores,
            areas=self.areas[kept],
        )


@dataclass(frozen=True)
class BoxScorer:
    """Scores of a set of images as a function of how much each counts.

    Attributes
    ----------
    names : tuple of str
        S scores.
    matched : MatchedImages
        Of the images that are scored.
    scored : ndarray of int64
        Which of the N images these are.
    kept, total : ndarray of float64, or None
        Of these, how many objects are important, and how many there are.
    """

    names: tuple[str, ...]
    matched: MatchedImages
    scored: IntArray
    kept: FloatArray | None = None
    total: FloatArray | None = None

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return scores of weighted sets: weights (B, N) to (B, S); nan where there is none."""
        return np.array([self._scores(row) for row in np.round(weights / _UNIT) * _UNIT])

    def _scores(self, weights: FloatArray) -> list[float]:
        weights = weights[self.scored]
        values = list(self.matched.curves(weights).scores().values())
        if self.kept is not None and self.total is not None:
            total = float(self.total @ weights)
            values.append(float(self.kept @ weights) / total if total else math.nan)
        return values


def detection_scorer(rows: Sequence[BoxRow]) -> BoxScorer:
    """Return the scorer of a set of images, by :data:`DETECTION_NAMES`."""
    matched = match_images([row.image() for row in rows])
    return BoxScorer(DETECTION_NAMES, matched, np.arange(len(rows)))


def importance_scorer(rows: Sequence[BoxRow], threshold: float) -> BoxScorer:
    """Return the scorer on the objects that are more important than a threshold.

    Images whose captions name no object are left out. ``important_objects`` is the share of
    objects that are kept in the others.
    """
    scored = [i for i, row in enumerate(rows) if not np.isnan(_importance(row)).any()]
    aligned = [rows[i] for i in scored]
    kept = [int(important(_importance(row), threshold).sum()) for row in aligned]
    return BoxScorer(
        IMPORTANCE_NAMES,
        match_images([row.image(threshold) for row in aligned]),
        np.array(scored, np.int64),
        np.array(kept, np.float64),
        np.array([len(row.classes) for row in aligned], np.float64),
    )


def detection_scores(rows: Sequence[BoxRow]) -> dict[str, float]:
    """Return the scores of a set of images by :data:`DETECTION_NAMES`."""
    return _of_all(detection_scorer(rows), len(rows))


def importance_scores(rows: Sequence[BoxRow], threshold: float) -> dict[str, float]:
    """Return the scores of a set by :data:`IMPORTANCE_NAMES`; see :func:`importance_scorer`."""
    return _of_all(importance_scorer(rows, threshold), len(rows))


def _of_all(scorer: BoxScorer, count: int) -> dict[str, float]:
    return dict(zip(scorer.names, scorer.scores(np.ones((1, count)))[0].tolist(), strict=True))


def _importance(row: BoxRow) -> FloatArray:
    return np.full(len(row.classes), np.nan) if row.importance is None else row.importance
