"""Average precision and recall of detections, in the definitions of COCO.

Boxes with scores beside true boxes enter, image by image; precision and recall leave, by IoU
threshold, recall, class, range of areas and number of detections. Each rule is that of COCO's
public evaluator (pycocotools ``COCOeval``): detections choose in the order of their scores the
true box that they overlap most; true boxes outside the range of areas and crowds are matched
last, and what matches them counts neither way; precision is made monotone and read at 101
recalls. Beside its twelve numbers stand recall at IoU 0.5 with one detection and F1 of [1]_.

References
----------
.. [1] J. Feinglass, Y. Yang, "Towards addressing the misalignment of object proposal evaluation
   for vision-language tasks via semantic grounding", WACV 2024.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import suggest
from robustclevr.metrics.boxes import box_areas, box_iou
from robustclevr.metrics.matching import Match, match_detections
from robustclevr.metrics.overlap import FloatArray, IntArray

IOU_THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0.0, 1.0, 101)
AREAS = {
    "all": (0.0, 1e10),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e10),
}
"""Ranges of areas, both ends included. [px^2]"""
MAX_DETECTIONS = (1, 10, 100)
"""Detections of one class that an image may have; those of the highest scores stay."""

_EPSILON = float(np.spacing(1))  # COCO adds it to the divisor of precision


@dataclass(frozen=True)
class ImageBoxes:
    """True and detected boxes of one image; a box is (left, top, width, height) in pixels.

    Attributes
    ----------
    truth : ndarray of float, shape (G, 4)
    truth_classes : ndarray of int, shape (G,)
    detected : ndarray of float, shape (D, 4)
    detected_classes : ndarray of int, shape (D,)
    scores : ndarray of float, shape (D,)
        Higher is surer. Equal scores keep their order.
    crowd : ndarray of bool, shape (G,), optional
        Boxes around many objects, which no detection has to find. None: no box.
    areas : ndarray of float, shape (G,), optional
        Of the true objects, such as pixels of masks. None: of their boxes. [px^2]

    Raises
    ------
    ValueError
        If a shape does not fit.
    """

    truth: NDArray[Any]
    truth_classes: NDArray[Any]
    detected: NDArray[Any]
    detected_classes: NDArray[Any]
    scores: NDArray[Any]
    crowd: NDArray[np.bool_] | None = field(default=None)
    areas: NDArray[Any] | None = field(default=None)

    def __post_init__(self) -> None:
        n_truth, n_detected = len(self.truth), len(self.detected)
        expected = {
            "truth": (n_truth, 4),
            "truth_classes": (n_truth,),
            "detected": (n_detected, 4),
            "detected_classes": (n_detected,),
            "scores": (n_detected,),
            "crowd": (n_truth,),
            "areas": (n_truth,),
        }
        for name, shape in expected.items():
            value = getattr(self, name)
            if value is not None and value.shape != shape:
                raise ValueError(f"{name} has shape {value.shape}, not {shape}")


@dataclass(frozen=True)
class DetectionCurves:
    """Precision and recall over a set of images.

    Attributes
    ----------
    classes : ndarray of int64, shape (K,)
    precision : ndarray of float64, shape (T, R, K, A, M)
        By IoU threshold, recall, class, range of areas (as in ``AREAS``) and number of
        detections (as in ``MAX_DETECTIONS``); nan for a class without a true box.
    recall : ndarray of float64, shape (T, K, A, M)
        The highest that is reached.
    """

    classes: IntArray
    precision: FloatArray
    recall: FloatArray

    def average_precision(
        self, *, iou: float | None = None, area: str = "all", detections: int = 100
    ) -> float:
        """Return the mean precision over recalls, classes and IoU thresholds, or at one.

        Parameters
        ----------
        iou : float, optional
            One of ``IOU_THRESHOLDS``.
        area : str
            One of ``AREAS``.
        detections : int
            One of ``MAX_DETECTIONS``.

        Returns
        -------
        float
            In [0, 1]; nan without a true box.

        Raises
        ------
        ValueError
            If a choice is none of those.
        """
        return _mean(self.precision[_chosen(iou), ..., _area(area), _limit(detections)])

    def average_recall(
        self, *, iou: float | None = None, area: str = "all", detections: int = 100
    ) -> float:
        """Return the mean recall over classes and IoU thresholds, or at one; as above."""
        return _mean(self.recall[_chosen(iou), ..., _area(area), _limit(detections)])

    def scores(self) -> dict[str, float]:
        """Return COCO's twelve numbers, and those of [1]_ of the module.

        Returns
        -------
        dict of str to float
            ``ap``, ``ap50``, ``ap75``, by area ``ap_small`` and so on; ``ar1``, ``ar10``,
            ``ar100``, ``ar_small`` and so on; ``ar1_50``, recall at IoU 0.5 with one detection
            of a class an image; ``f1_50``, the harmonic mean of ``ap50`` and ``ar1_50``.
        """
        by_area = ("small", "medium", "large")
        values = {
            "ap": self.average_precision(),
            "ap50": self.average_precision(iou=0.5),
            "ap75": self.average_precision(iou=0.75),
            **{f"ap_{area}": self.average_precision(area=area) for area in by_area},
            **{f"ar{limit}": self.average_recall(detections=limit) for limit in MAX_DETECTIONS},
            **{f"ar_{area}": self.average_recall(area=area) for area in by_area},
            "ar1_50": self.average_recall(iou=0.5, detections=1),
        }
        values["f1_50"] = harmonic_mean(values["ap50"], values["ar1_50"])
        return values


def harmonic_mean(a: float, b: float) -> float:
    """Return 2 a b / (a + b) of two numbers >= 0; 0 if both are 0."""
    return 2.0 * a * b / (a + b) if a + b != 0.0 else 0.0


def detection_curves(images: Sequence[ImageBoxes]) -> DetectionCurves:
    """Return precision and recall of detections over a set of images.

    Parameters
    ----------
    images : sequence of ImageBoxes
        In a fixed order: it decides between detections of equal score.

    Returns
    -------
    DetectionCurves
        Of the classes of true boxes and detections, ascending.
    """
    return match_images(images).curves(np.ones(len(images)))


@dataclass(frozen=True)
class _Pool:
    """All detections of one class, range of areas and number of detections, the surest first.

    Attributes
    ----------
    right, wrong : ndarray of bool, shape (T, D)
        Whether a detection counts, as which; neither if it matches what is ignored.
    image : ndarray of int64, shape (D,)
        Which image it is in.
    to_find : ndarray of float64, shape (N,)
        True boxes of each image.
    """

    right: NDArray[np.bool_]
    wrong: NDArray[np.bool_]
    image: IntArray
    to_find: FloatArray


@dataclass(frozen=True)
class MatchedImages:
    """A set of images whose detections are matched, to be counted with any weights.

    Attributes
    ----------
    classes : ndarray of int64, shape (K,)
    pools : mapping of (int, int, int) to object
        By number of class, range of areas and number of detections.
    """

    classes: IntArray
    pools: Mapping[tuple[int, int, int], _Pool]

    def curves(self, weights: FloatArray) -> DetectionCurves:
        """Return precision and recall of a set in which images count as often as they weigh.

        Parameters
        ----------
        weights : ndarray of float64, shape (N,)
            At least 0. Whole numbers are repetitions, as when a set is resampled; only between
            equal scores in one image may the order then be another than in a repeated set.

        Returns
        -------
        DetectionCurves
        """
        shape = (len(IOU_THRESHOLDS), len(self.classes), len(AREAS), len(MAX_DETECTIONS))
        precision = np.full((shape[0], len(RECALLS), *shape[1:]), np.nan)
        recall = np.full(shape, np.nan)
        for (k, a, m), pool in self.pools.items():
            curve = _curve(pool, weights)
            if curve is not None:
                precision[:, :, k, a, m], recall[:, k, a, m] = curve
        return DetectionCurves(self.classes, precision, recall)


def match_images(images: Sequence[ImageBoxes]) -> MatchedImages:
    """Match the detections of each image; what is counted then is matched only once.

    Parameters
    ----------
    images : sequence of ImageBoxes
        In a fixed order: it decides between detections of equal score.
    """
    classes = _classes(images)
    pools = {}
    for k, name in enumerate(classes):
        for a, area in enumerate(AREAS.values()):
            matches = [_match(image, int(name), area) for image in images]
            for m, limit in enumerate(MAX_DETECTIONS):
                pools[k, a, m] = _pooled([match.first(limit) for match in matches])
    return MatchedImages(classes, pools)


def _classes(images: Sequence[ImageBoxes]) -> IntArray:
    parts = [part for image in images for part in (image.truth_classes, image.detected_classes)]
    return np.unique(np.concatenate(parts)).astype(np.int64) if parts else np.zeros(0, np.int64)


def _match(image: ImageBoxes, name: int, area: tuple[float, float]) -> Match:
    """Match the detections of one class in one image."""
    mine, found = image.truth_classes == name, image.detected_classes == name
    crowd = np.zeros(len(mine), np.bool_) if image.crowd is None else image.crowd
    areas = box_areas(image.truth) if image.areas is None else image.areas
    ignored = crowd | (areas < area[0]) | (areas > area[1])
    detected = image.detected[found]
    sizes = box_areas(detected)
    return match_detections(
        box_iou(detected, image.truth[mine], crowd[mine]),
        scores=image.scores[found],
        crowd=crowd[mine],
        ignored=ignored[mine],
        outside=(sizes < area[0]) | (sizes > area[1]),
        thresholds=IOU_THRESHOLDS,
        limit=MAX_DETECTIONS[-1],
    )


def _pooled(matches: Sequence[Match]) -> _Pool:
    order = np.argsort(-np.concatenate([match.scores for match in matches]), kind="stable")
    matched = np.concatenate([match.matched for match in matches], axis=1)[:, order]
    counts = ~np.concatenate([match.ignored for match in matches], axis=1)[:, order]
    image = np.repeat(np.arange(len(matches)), [len(match.scores) for match in matches])
    to_find = np.array([match.to_find for match in matches], np.float64)
    return _Pool(matched & counts, ~matched & counts, image[order], to_find)


def _curve(pool: _Pool, weights: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return precision at the recalls, shape (T, R), and the highest recall, shape (T,).

    None without a box to find.
    """
    to_find = float(pool.to_find @ weights)
    if to_find == 0:
        return None
    there = weights[pool.image] > 0
    weight = weights[pool.image[there]]
    right = np.cumsum(pool.right[:, there] * weight, axis=1)
    wrong = np.cumsum(pool.wrong[:, there] * weight, axis=1)
    recall = right / to_find
    precision = right / (right + wrong + _EPSILON)
    # The best precision that a recall as high or higher has.
    best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    best = np.pad(best, ((0, 0), (0, 1)))  # recalls beyond the last have none
    at_recalls = np.stack(
        [row[np.searchsorted(reached, RECALLS)] for row, reached in zip(best, recall, strict=True)]
    )
    return at_recalls, recall[:, -1] if recall.shape[1] else np.zeros(len(recall))


def _chosen(iou: float | None) -> NDArray[np.bool_]:
    if iou is None:
        return np.ones(len(IOU_THRESHOLDS), np.bool_)
    chosen = np.isclose(IOU_THRESHOLDS, iou, rtol=0.0, atol=1e-9)
    if not chosen.any():
        raise ValueError(f"IoU {iou} is none of {IOU_THRESHOLDS.round(2).tolist()}")
    return np.asarray(chosen)


def _area(name: str) -> int:
    if name not in AREAS:
        raise ValueError(f"no range of areas '{name}'; {suggest(name, AREAS)}")
    return list(AREAS).index(name)


def _limit(detections: int) -> int:
    if detections not in MAX_DETECTIONS:
        raise ValueError(f"{detections} detections are none of {MAX_DETECTIONS}")
    return MAX_DETECTIONS.index(detections)


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan
