"""Mean IoU of segments, each true one paired with at most one predicted.

Label maps enter, scores leave. The pairing maximizes the sum of IoU (Hungarian matching), as in
the benchmarks of object-centric models on CLEVRTex and RobustCLEVR. They differ in what the sum
is divided by: the true segments, or also the predicted ones that are too many; both are here.

References
----------
.. [1] L. Karazija et al., "ClevrTex: a texture-rich benchmark for unsupervised multi-object
   segmentation", NeurIPS datasets and benchmarks, 2021, and its public evaluator
   (karazijal/clevrtex, ``ool/clevrtex_eval.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from robustclevr.metrics.overlap import FloatArray, IntArray, iou, pair_counts


@dataclass(frozen=True)
class MatchedIou:
    """Scores of a batch of maps.

    Attributes
    ----------
    mean : ndarray of float64, shape (B,)
        Sum of IoU over the number of true segments; a true segment without a partner adds 0.
        In [0, 1]; nan without true segments. [1]_ calls it mIoU_gt.
    mean_of_pairs : ndarray of float64, shape (B,)
        Sum of IoU over the number of true or predicted segments, whichever are more: a segment
        too many lowers it. nan without either. [1]_ calls it mIoU.
    """

    mean: FloatArray
    mean_of_pairs: FloatArray


def matched_iou(
    truth: NDArray[Any], predicted: NDArray[Any], *, foreground: bool = False
) -> MatchedIou:
    """Return the mean IoU of each map under the best pairing of segments.

    Parameters
    ----------
    truth, predicted : ndarray of int, shape (B, ...)
        Labels >= 0; 0 is a segment like others, the background. What follows the first axis is
        one map.
    foreground : bool
        Pair all segments, but average over the true objects alone, without the background and
        the segment paired with it.

    Returns
    -------
    MatchedIou

    Raises
    ------
    ValueError
        If shapes differ, or labels are not integers >= 0.

    Examples
    --------
    >>> truth = np.array([[0, 0, 1, 1]])
    >>> float(matched_iou(truth, np.array([[3, 3, 3, 3]])).mean[0])
    0.25
    """
    pairs = pair_counts(truth, predicted)
    skipped = pairs.truth_ids == 0 if foreground else np.zeros(pairs.truth_ids.size, np.bool_)
    scores = np.array([_means(table, skipped) for table in pairs.counts]).reshape(-1, 2)
    return MatchedIou(*np.ascontiguousarray(scores.T))


def _means(table: IntArray, skipped: NDArray[np.bool_]) -> tuple[float, float]:
    """Return both means of one table of counts, shape (I, J)."""
    truth_pixels, predicted_pixels = table.sum(axis=1), table.sum(axis=0)
    there = truth_pixels > 0
    similarity = iou(table, truth_pixels, predicted_pixels)[there][:, predicted_pixels > 0]
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    counted = ~skipped[there]
    total = math.fsum(similarity[rows, columns][counted[rows]])
    n_truth, n_predicted = similarity.shape
    n_skipped = n_truth - int(counted.sum())
    return (
        _quotient(total, n_truth - n_skipped),
        _quotient(total, max(n_truth, n_predicted) - n_skipped),
    )


def _quotient(total: float, count: int) -> float:
    return total / count if count > 0 else math.nan
