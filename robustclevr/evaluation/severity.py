"""Scores against severity: binned, smoothed, and as one number.

The images of one node enter, each with the severity of that node; curves leave. Severity is
continuous, so that a curve has to be estimated: bins of equal width show the data as they are,
a Gaussian kernel shows the trend (the RobustCLEVR paper, figure 4, draws mIoU so). In both the
sums of a scorer are added, not its scores, so that each image counts for what it holds.

The area under the curve is the mean height of the occupied bins. Unlike the mean over images it
does not depend on how often each severity was drawn, so that two DAGs can be compared.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from robustclevr.evaluation.bootstrap import Statistic, bootstrap_rng, interval, resampled
from robustclevr.evaluation.scorers import Scorer
from robustclevr.metrics.overlap import FloatArray, IntArray

BANDWIDTH = 0.1
"""Standard deviation of the kernel, in severity. Chosen: the width of a bin of ten."""

_REACH = 2.0 + 1e-9
"""Bandwidths from the nearest image up to which a curve is given. Chosen: 95 % of the kernel lie
within two; beyond it says nothing of the severity that it is drawn at."""

GRID = np.linspace(0.0, 1.0, 51)
"""Severities at which the smooth curve is given."""

_ROUNDING = 1e-9
"""A severity so little below an edge is on it: many parameters are drawn from few values."""

_RESAMPLES = 200  # chosen: ends of intervals of a curve are drawn, not quoted


@dataclass(frozen=True)
class Curve:
    """Scores of one scorer against severity.

    Attributes
    ----------
    names : tuple of str
        S scores.
    edges : ndarray of float64, shape (B + 1,)
        Of the bins; the last one holds severity 1 too.
    count : ndarray of int64, shape (B,)
        Images a bin.
    mean : ndarray of float64, shape (B, S)
        Score of a bin; nan for one without a score.
    interval : ndarray of float64, shape (2, B, S)
        nan for a bin of one image too.
    smooth : ndarray of float64, shape (51, S)
        At :data:`GRID`; nan beyond the severities that occur, and farther than two bandwidths from
        every image that has the score.
    area, area_interval : ndarray of float64, shapes (S,) and (2, S)
        Mean of the occupied bins.
    """

    names: tuple[str, ...]
    edges: FloatArray
    count: IntArray
    mean: FloatArray
    interval: FloatArray
    smooth: FloatArray
    area: FloatArray
    area_interval: FloatArray

    @property
    def covered(self) -> float:
        """Share of the bins that are occupied: of [0, 1] the area is about."""
        return float(np.mean(self.count > 0))


def bin_edges(bins: int) -> FloatArray:
    """Return the edges of bins of equal width on [0, 1]."""
    return np.arange(bins + 1) / bins


def bin_numbers(severity: FloatArray, edges: FloatArray) -> IntArray:
    """Return the bin of each severity; one on an edge lies in the bin above, 1 in the last."""
    numbers = np.searchsorted(edges - _ROUNDING, severity, side="right") - 1
    return np.clip(numbers, 0, len(edges) - 2).astype(np.int64)


def severity_curve(
    scorer: Scorer, sums: FloatArray, severity: FloatArray, *, bins: int, seed: int
) -> Curve:
    """Return the curve of a node's images.

    Parameters
    ----------
    scorer : Scorer
    sums : ndarray of float64, shape (N, K)
    severity : ndarray of float64, shape (N,)
        In [0, 1].
    bins : int
    seed : int
        Of the intervals.
    """
    return weighted_curve(
        scorer.names, lambda weights: scorer.scores(weights @ sums), severity, bins=bins, seed=seed
    )


def weighted_curve(
    names: tuple[str, ...],
    statistic: Statistic,
    severity: FloatArray,
    *,
    bins: int,
    seed: int,
    resamples: int = _RESAMPLES,
) -> Curve:
    """Return the curve of scores that are known as a function of how much each image counts.

    Parameters
    ----------
    names : tuple of str
        S scores.
    statistic : callable
        From weights of images, shape (B, N), to scores, shape (B, S).
    severity : ndarray of float64, shape (N,)
        In [0, 1].
    bins, seed : int, int
    resamples : int
        Of the intervals.
    """
    edges = bin_edges(bins)
    members = (bin_numbers(severity, edges) == np.arange(bins)[:, np.newaxis]).astype(float)
    binned = _in_bins(statistic, members)
    drawn = resampled(binned, len(severity), resamples, rng=bootstrap_rng(seed))
    mean = binned(np.ones((1, len(severity))))[0]
    return Curve(
        names=names,
        edges=edges,
        count=members.sum(axis=1).astype(np.int64),
        mean=mean,
        interval=_of_several(interval(drawn), members.sum(axis=1)),
        smooth=_smooth(statistic, severity),
        area=_mean_of_occupied(mean[np.newaxis])[0],
        area_interval=interval(_mean_of_occupied(drawn)),
    )


def _in_bins(statistic: Statistic, members: FloatArray) -> Statistic:
    """Return the function from weights (B, N) to the scores of each bin (B, bins, S)."""

    def binned(weights: FloatArray) -> FloatArray:
        return np.stack([statistic(weights * of_bin) for of_bin in members], axis=1)

    return binned


def _smooth(statistic: Statistic, severity: FloatArray) -> FloatArray:
    distance = (GRID[:, np.newaxis] - severity) / BANDWIDTH
    # The nearest image has weight 1, so that none is lost to underflow far from all others.
    distance = distance**2 - (distance**2).min(axis=1, keepdims=True)
    curve = statistic(np.exp(-0.5 * distance))
    inside = (severity.min() <= GRID) & (severity.max() >= GRID)
    curve[~inside] = np.nan
    # Per score: an image near by that has no such score itself says nothing of it either.
    near = np.abs(GRID[:, np.newaxis] - severity) <= _REACH * BANDWIDTH
    curve[np.isnan(statistic(near.astype(float)))] = np.nan
    return curve


def _of_several(ends: FloatArray, count: FloatArray) -> FloatArray:
    """Leave out the intervals of bins of one image: resampled, it is always the same."""
    return np.where((count > 1)[:, np.newaxis], ends, np.nan)


def _mean_of_occupied(values: FloatArray) -> FloatArray:
    """Average over bins, axis 1; nan where none is occupied."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Mean of empty slice", RuntimeWarning)
        return np.asarray(np.nanmean(values, axis=1))
