"""Class mIoU and FB-IoU over a set of masks, beside what a random predictor would get.

Pairs of binary masks, each of one class, enter; counts leave, which add up over a set and turn
into scores. Foreground alone rewards predicting too much of it: mIoU of a random predictor rises
with every pixel more. FB-IoU does not, and the chance values show by how much either is above
a predictor that is blind and as generous. Equations 1 to 8 of [1]_.

References
----------
.. [1] J. Herzog, "Adapt before comparison: a new perspective on cross-domain few-shot
   segmentation", CVPR 2024, supplementary material, section 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.metrics.overlap import FloatArray, IntArray

SCORES = ("miou", "fb_iou", "miou_chance", "fb_iou_chance")


@dataclass(frozen=True)
class ClassAreas:
    """Pixels by class, summed over queries; those of further queries are added with ``+``.

    Attributes
    ----------
    shared : ndarray of int64, shape (C,)
        True and predicted.
    truth : ndarray of int64, shape (C,)
        True.
    predicted : ndarray of int64, shape (C,)
        Predicted.
    pixels : ndarray of int64, shape (C,)
        All.
    """

    shared: IntArray
    truth: IntArray
    predicted: IntArray
    pixels: IntArray

    def __add__(self, other: ClassAreas) -> ClassAreas:
        return ClassAreas(
            *(getattr(self, field.name) + getattr(other, field.name) for field in fields(self))
        )

    def class_iou(self) -> FloatArray:
        """Return IoU_c (equation 2), shape (C,); nan for a class neither true nor predicted."""
        return _quotients(self.shared, self.truth + self.predicted - self.shared)

    def scores(self) -> dict[str, float]:
        """Return the scores of the set.

        Returns
        -------
        dict of str to float
            ``miou``: mean of IoU_c over classes that occur (equation 3). ``fb_iou``: mean of
            foreground and background IoU (equations 4 to 7). ``miou_chance``,
            ``fb_iou_chance``: the same with areas that a predictor gets on average which
            marks, class by class, as many pixels as this one, but at random (equation 8).
            nan where there is nothing to divide by: no foreground or no background at all.
        """
        return dict(zip(SCORES, self.score_array().tolist(), strict=True))

    def score_array(self) -> FloatArray:
        """Return the scores of many sets, in the order of :data:`SCORES`.

        Returns
        -------
        ndarray of float64, shape (..., 4)
            For areas of shape (..., C).
        """
        shared = self.shared.astype(np.float64)
        by_chance = _quotients(self.truth * self.predicted.astype(np.float64), self.pixels)
        scores = (
            self._miou(shared),
            self._fb_iou(shared),
            self._miou(by_chance),
            self._fb_iou(np.nan_to_num(by_chance)),
        )
        return np.stack(scores, axis=-1)

    def _miou(self, shared: FloatArray) -> FloatArray:
        values = _quotients(shared, self.truth + self.predicted - shared)
        occurring = ~np.isnan(values)
        total = np.where(occurring, values, 0.0).sum(axis=-1)
        return _quotients(total, occurring.sum(axis=-1))

    def _fb_iou(self, shared: FloatArray) -> FloatArray:
        either = self.truth + self.predicted - shared
        # What is neither, over what is not both.
        neither, not_both = self.pixels - either, self.pixels - shared
        foreground = _quotients(shared.sum(axis=-1), either.sum(axis=-1))
        background = _quotients(neither.sum(axis=-1), not_both.sum(axis=-1))
        return np.asarray((foreground + background) / 2)


def class_areas(
    truth: NDArray[np.bool_],
    predicted: NDArray[np.bool_],
    classes: NDArray[Any],
    n_classes: int,
) -> ClassAreas:
    """Count the areas of queries, each a true and a predicted mask of one class.

    Parameters
    ----------
    truth, predicted : ndarray of bool, shape (Q, ...)
        What follows the first axis is one query.
    classes : ndarray of int, shape (Q,)
        Class of each query, in [0, ``n_classes``).
    n_classes : int

    Returns
    -------
    ClassAreas

    Raises
    ------
    ValueError
        If shapes do not fit or a class is out of range.
    """
    if truth.shape != predicted.shape or truth.shape[:1] != classes.shape:
        raise ValueError(
            f"true masks {truth.shape}, predicted {predicted.shape}, classes {classes.shape}"
        )
    if classes.size and not (classes.min() >= 0 and classes.max() < n_classes):
        raise ValueError(
            f"classes from {classes.min()} to {classes.max()} where there are {n_classes}"
        )
    size = math.prod(truth.shape[1:])
    areas = (
        (truth & predicted).reshape(-1, size).sum(axis=1),
        truth.reshape(-1, size).sum(axis=1),
        predicted.reshape(-1, size).sum(axis=1),
        np.full(len(truth), size),
    )
    return ClassAreas(*(_by_class(area, classes, n_classes) for area in areas))


def expected_iou(predicted_ratio: float, truth_ratio: float) -> float:
    """Return the IoU of a class for a random predictor (equation 8).

    Parameters
    ----------
    predicted_ratio : float
        Share of pixels that it marks, each at random, in [0, 1].
    truth_ratio : float
        Share of pixels of the class, in [0, 1].

    Returns
    -------
    float
        Ratio of the expected areas: the limit for many pixels. nan if both ratios are 0.
    """
    both = predicted_ratio * truth_ratio
    either = predicted_ratio + truth_ratio - both
    return both / either if either else math.nan


def expected_fb_iou(predicted_ratio: float, truth_ratio: float) -> float:
    """Return FB-IoU for a random predictor: equations 7 and 8; parameters as there."""
    foreground = expected_iou(predicted_ratio, truth_ratio)
    return (foreground + expected_iou(1.0 - predicted_ratio, 1.0 - truth_ratio)) / 2.0


def _by_class(areas: IntArray, classes: NDArray[Any], n_classes: int) -> IntArray:
    total = np.zeros(n_classes, np.int64)
    np.add.at(total, classes, areas)
    return total


def _quotients(parts: Any, wholes: Any) -> FloatArray:
    """Divide; nan where the whole is 0."""
    parts, wholes = np.asarray(parts, np.float64), np.asarray(wholes, np.float64)
    return np.divide(parts, wholes, out=np.full(parts.shape, np.nan), where=wholes != 0)
