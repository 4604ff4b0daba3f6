"""Piecewise linear maps of [0, 1] for long columns, in a fraction of the time of ``np.interp``.

``np.interp`` searches for the segment of every element. Here [0, 1] is cut into buckets so narrow
that none holds two knots; the bucket of an element leaves two segments to choose from.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustclevr.scm.elementary import FloatArray

_FEW = 1024  # elements below which a search is faster; measured
_MOST_BUCKETS = 2**16

Knots = tuple[float, ...]


class _Lines(NamedTuple):
    """The segments, one after the other; a last one, which is flat, begins at 1."""

    start: FloatArray
    offset: FloatArray
    slope: FloatArray


class _Buckets(NamedTuple):
    """Of bucket b: the knot in it or behind it, and the segments before (2 b) and behind (2 b + 1).

    A last bucket holds 1 alone.
    """

    size: int
    knot: FloatArray
    offset: FloatArray
    slope: FloatArray


def interpolate(x: FloatArray, knots: Knots, values: Knots) -> FloatArray:
    """Return the values at ``x`` of the polyline through some points.

    Parameters
    ----------
    x : ndarray of float64
        In [0, 1], or NaN.
    knots : tuple of float
        Increasing, from 0 to 1.
    values : tuple of float
        As many, never falling, from 0 to at most 1.

    Returns
    -------
    ndarray of float64
        Of the shape of ``x``. An element depends on its own ``x`` alone, to the last bit; at 0
        and at 1 it is the first and the last value itself.
    """
    table = _buckets(knots, values) if x.size >= _FEW else None
    if table is None:
        lines = _lines(knots, values)
        segment = np.searchsorted(lines.start, x, side="right") - 1
        result = lines.slope[segment] * x
        return np.asarray(np.minimum(result + lines.offset[segment], values[-1]))
    # A power of two times x is exact, and so is its floor. NaN ends in some bucket and stays NaN.
    place = (x * table.size).astype(np.intp)
    column = table.knot.take(place, mode="clip")
    place *= 2
    place += x >= column
    result = table.slope.take(place, mode="clip", out=column) * x
    result += table.offset.take(place, mode="clip", out=column)
    return np.asarray(np.minimum(result, values[-1], out=result))


@lru_cache(maxsize=256)
def _lines(knots: Knots, values: Knots) -> _Lines:
    start, value = np.array(knots), np.array(values)
    slope = np.append(np.diff(value) / np.diff(start), 0.0)
    return _Lines(start, value - slope * start, slope)


@lru_cache(maxsize=256)
def _buckets(knots: Knots, values: Knots) -> _Buckets | None:
    """Return the table of a polyline, or None if its knots lie too close to each other."""
    lines, count = _lines(knots, values), 1
    while len(np.unique(np.floor(lines.start * count))) < len(knots):
        count *= 2
        if count > _MOST_BUCKETS:
            return None
    before = np.searchsorted(lines.start, np.arange(count + 1) / count, side="right") - 1
    both: NDArray[np.intp] = np.column_stack([before, before + 1]).ravel().clip(max=len(knots) - 1)
    knot = np.append(lines.start, np.inf)[before + 1]
    return _Buckets(count, knot, lines.offset[both], lines.slope[both])
