"""Adjusted Rand index, precision and recall: pixels that belong together should stay together.

Label maps enter, scores leave. Of the pairs of pixels, p are of one segment in the truth, q in
the prediction, s in both, and M = m (m - 1) is the number of all. For a prediction whose pixels
were shuffled (the generalized hypergeometric law), s is p q / M on average, and so

    ARP = (s - p q / M) / (q - p q / M), lower where a prediction joins objects,
    ARR = (s - p q / M) / (p - p q / M), lower where it splits them,
    ARI = (s - p q / M) / ((p + q) / 2 - p q / M), their harmonic mean.

These are definition 3 of [1]_ and its equation 21. (Printed there, the expectation, equation 12,
has a product where [2]_ has the sum of the two sums of squares; and sections 2 and 3 exchange
truth and prediction against appendix A and the text, which are followed here.) All is counted in
integers and divided once.

Where the divisor is 0, no pair of pixels is wrong, and the score is 1: so it is for ARP if
the truth is one segment or no two pixels are together in the prediction; for ARR with truth and
prediction exchanged; for ARI if both maps are one segment, or both are single pixels. A map
without pixels, such as the foreground of an empty scene, has no score: nan.

References
----------
.. [1] R. S. Zimmermann et al., "Sensitivity of slot-based object-centric models to their number
   of slots", 2023, appendix A.
.. [2] L. Hubert, P. Arabie, "Comparing partitions", Journal of Classification 2, 1985,
   doi:10.1007/BF01908075.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.metrics.overlap import FloatArray, IntArray, pair_counts


@dataclass(frozen=True)
class RandScores:
    """Scores of a batch of maps.

    Attributes
    ----------
    ari, arp, arr : ndarray of float64, shape (B,)
        At most 1; 0 is chance.
    """

    ari: FloatArray
    arp: FloatArray
    arr: FloatArray


def rand_scores(
    truth: NDArray[Any], predicted: NDArray[Any], *, foreground: bool = False
) -> RandScores:
    """Return ARI, ARP and ARR of each map.

    Parameters
    ----------
    truth, predicted : ndarray of int, shape (B, ...)
        Labels >= 0. What follows the first axis is one map: an image, or all frames of a clip.
    foreground : bool
        Look only at pixels of true objects, those whose true label is not 0: FG-ARI, FG-ARP,
        FG-ARR. What is predicted there, label 0 included, are segments like others.

    Returns
    -------
    RandScores

    Raises
    ------
    ValueError
        If shapes differ, or labels are not integers >= 0.

    Examples
    --------
    >>> truth = np.array([[1, 1, 2, 2]])
    >>> split = rand_scores(truth, np.array([[1, 1, 2, 3]]))
    >>> float(split.arp[0]), round(float(split.arr[0]), 3)
    (1.0, 0.4)
    """
    pairs = pair_counts(truth, predicted)
    counts = pairs.counts[:, pairs.truth_ids != 0] if foreground else pairs.counts
    scores = np.array([_scores(table) for table in counts]).reshape(-1, 3)
    return RandScores(*np.ascontiguousarray(scores.T))


def _scores(table: IntArray) -> tuple[float, float, float]:
    """Return ARI, ARP and ARR of one table of counts, shape (I, J)."""
    pixels = int(table.sum())
    if pixels == 0:
        return (math.nan, math.nan, math.nan)
    both = _squares(table) - pixels
    truth = _squares(table.sum(axis=1)) - pixels
    predicted = _squares(table.sum(axis=0)) - pixels
    every = pixels * (pixels - 1)
    # All times M, so that Python's unbounded integers hold them exactly.
    gain = both * every - truth * predicted
    precision = predicted * (every - truth)
    recall = truth * (every - predicted)
    return (
        _quotient(2 * gain, precision + recall),
        _quotient(gain, precision),
        _quotient(gain, recall),
    )


def _squares(counts: IntArray) -> int:
    return int(np.sum(counts**2))


def _quotient(gain: int, ideal: int) -> float:
    return gain / ideal if ideal else 1.0
