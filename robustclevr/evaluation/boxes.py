"""True and detected boxes of images, and the scores of a set of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robustclevr.imaging import boxes_and_fractions
from robustclevr.metrics import ImageBoxes, detection_curves, important, object_importance
from robustclevr.metrics.overlap import FloatArray
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


def detection_scores(rows: Sequence[BoxRow]) -> dict[str, float]:
    """Return the scores of a set of images by :data:`DETECTION_NAMES`."""
    return detection_curves([row.image() for row in rows]).scores()


def importance_scores(rows: Sequence[BoxRow], threshold: float) -> dict[str, float]:
    """Return the scores on the objects of a set that are more important than a threshold.

    Images whose captions name no object are left out. ``important_objects`` is the share of
    objects that are kept in the others.
    """
    aligned = [row for row in rows if not np.isnan(_importance(row)).any()]
    scores = detection_curves([row.image(threshold) for row in aligned]).scores()
    kept = sum(int(important(_importance(row), threshold).sum()) for row in aligned)
    total = sum(len(row.classes) for row in aligned)
    named = {f"important_{name}": value for name, value in scores.items()}
    return {**named, "important_objects": kept / total if total else float("nan")}


def _importance(row: BoxRow) -> FloatArray:
    return np.full(len(row.classes), np.nan) if row.importance is None else row.importance
