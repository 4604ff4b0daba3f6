"""Which detection finds which true box of one image and class: COCO's greedy matching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.metrics.overlap import FloatArray

_BoolArray = NDArray[np.bool_]

_FULL_OVERLAP = 1.0 - 1e-10  # COCO's highest threshold, so that an IoU of 1 always reaches it


@dataclass(frozen=True)
class Match:
    """Detections of one class in one image, the highest score first.

    Attributes
    ----------
    scores : ndarray of float64, shape (D,)
    matched : ndarray of bool, shape (T, D)
        Whether a detection found a true box, by IoU threshold.
    ignored : ndarray of bool, shape (T, D)
        Whether it counts neither as right nor as wrong.
    to_find : int
        True boxes that count.
    """

    scores: FloatArray
    matched: _BoolArray
    ignored: _BoolArray
    to_find: int

    def first(self, limit: int) -> Match:
        """Return the ``limit`` detections of the highest scores."""
        return Match(
            self.scores[:limit], self.matched[:, :limit], self.ignored[:, :limit], self.to_find
        )


def match_detections(
    overlap: FloatArray,
    *,
    scores: NDArray[Any],
    crowd: _BoolArray,
    ignored: _BoolArray,
    outside: _BoolArray,
    thresholds: FloatArray,
    limit: int,
) -> Match:
    """Let each detection, the surest first, take the free true box that it overlaps most.

    Parameters
    ----------
    overlap : ndarray of float64, shape (D, G)
        IoU of detections and true boxes.
    scores : ndarray of float, shape (D,)
    crowd : ndarray of bool, shape (G,)
        Boxes that any number of detections may take.
    ignored : ndarray of bool, shape (G,)
        Boxes that no detection has to find; taken only where no other is near enough.
    outside : ndarray of bool, shape (D,)
        Detections that count only if they find a box.
    thresholds : ndarray of float64, shape (T,)
        IoU from which on a box is found.
    limit : int
        Detections that may choose.

    Returns
    -------
    Match
    """
    order = np.argsort(-np.asarray(scores, np.float64), kind="stable")[:limit]
    last = np.argsort(ignored, kind="stable")  # boxes that count come first
    table = overlap[order][:, last].tolist()
    rules = (crowd[last].tolist(), ignored[last].tolist())
    taken = np.array(
        [_greedy(table, *rules, min(float(t), _FULL_OVERLAP)) for t in thresholds], np.int64
    ).reshape(len(thresholds), len(order))
    matched = taken >= 0
    of_ignored = np.append(ignored[last], False)[taken]  # -1, no box, finds the appended False
    return Match(
        np.asarray(scores, np.float64)[order],
        matched,
        of_ignored | (~matched & outside[order]),
        int(np.count_nonzero(~ignored)),
    )


def _greedy(
    table: list[list[float]], crowd: list[bool], ignored: list[bool], threshold: float
) -> list[int]:
    """Return the box that each detection takes, -1 for none."""
    free = [True] * len(crowd)
    chosen = []
    for row in table:
        best, best_overlap = -1, threshold
        for index, value in enumerate(row):
            if best >= 0 and ignored[index] and not ignored[best]:
                break
            # Of boxes that overlap alike, the last one.
            if value >= best_overlap and (free[index] or crowd[index]):
                best, best_overlap = index, value
        if best >= 0:
            free[best] = False
        chosen.append(best)
    return chosen
