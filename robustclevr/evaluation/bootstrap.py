"""Intervals of scores by resampling samples with replacement.

A sample is drawn with all of its images, since they show one scene. Every interval of the same
number of samples rests on the same draws, so differences of two models are paired.

References
----------
.. [1] B. Efron, R. J. Tibshirani, "An introduction to the bootstrap", 1993, section 13.3: the
   percentile interval.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np

from robustclevr.metrics.overlap import FloatArray
from robustclevr.seeds import stream

COVERAGE = 0.95
_BLOCK = 4_000_000  # weights drawn at once: 32 MB

Statistic = Callable[[FloatArray], FloatArray]
"""From weights of samples, shape (B, U), to values, shape (B, ...)."""


def resampled(
    statistic: Statistic, samples: int, resamples: int, *, rng: np.random.Generator
) -> FloatArray:
    """Return a statistic of resampled sets.

    Parameters
    ----------
    statistic : callable
        From how often each sample was drawn, shape (B, U), to values, shape (B, ...).
    samples : int
        U.
    resamples : int
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    ndarray of float64, shape (resamples, ...)
    """
    blocks = [statistic(block) for block in _weights(samples, resamples, rng)]
    return np.concatenate(blocks)


def interval(values: FloatArray) -> FloatArray:
    """Return the ends of the interval that holds :data:`COVERAGE` of resampled values.

    Parameters
    ----------
    values : ndarray of float64, shape (B, ...)
        nan where a resample has no score; it is left out.

    Returns
    -------
    ndarray of float64, shape (2, ...)
        nan where no resample has a score.
    """
    tail = 50.0 * (1.0 - COVERAGE)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        return np.asarray(np.nanpercentile(values, [tail, 100.0 - tail], axis=0))


def bootstrap_rng(seed: int) -> np.random.Generator:
    """Return the random numbers of all intervals of a dataset with this root seed."""
    return stream(seed, "", "evaluation.bootstrap", 0)


def _weights(samples: int, resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    size = max(1, min(resamples, _BLOCK // max(samples, 1)))
    for start in range(0, resamples, size):
        count = min(size, resamples - start)
        drawn = rng.integers(samples, size=(count, samples))
        flat = (drawn + np.arange(count)[:, np.newaxis] * samples).reshape(-1)
        yield np.bincount(flat, minlength=count * samples).reshape(count, samples).astype(float)
