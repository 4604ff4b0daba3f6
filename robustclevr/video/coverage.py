"""Exact soft edges: which part of each pixel a polygon covers.

Each edge is cut where it crosses pixel borders. A piece within one pixel covers, to its right,
a trapezoid of that pixel and a full strip of every later pixel of the row, with a sign from its
direction; a running sum along the rows adds up all pieces. Nothing is sampled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ROUNDOFF = 1e-9  # coverage nearer to 0 or 1 than this is 0 or 1


def coverage(outlines: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the covered part of each pixel of a square window, for many polygons at once.

    Parameters
    ----------
    outlines : ndarray of float64, shape (S, E + 1, 2)
        Closed polygons (x, y), clockwise on a screen whose y points down, each in its own
        window. No edge may reach a whole pixel along x or y, and all points lie inside
        the window. [px]
    size : int
        Side of the windows. [px]

    Returns
    -------
    ndarray of float64, shape (S, size, size)
        In [0, 1]; exactly 0 outside and exactly 1 inside.
    """
    stride = size + 1  # a column more, for what the last pixel passes on to its right
    x, y = outlines[..., 0], outlines[..., 1]
    window = np.arange(len(outlines))[:, np.newaxis] * (size * stride)
    x0, y0 = x[:, :-1], y[:, :-1]
    dx, dy = x[:, 1:] - x0, y[:, 1:] - y0
    at_x, at_y = _crossing(x, dx), _crossing(y, dy)
    first, last = np.minimum(at_x, at_y), np.maximum(at_x, at_y)
    cells: list[NDArray[np.int64]] = []
    here: list[NDArray[np.float64]] = []
    beyond: list[NDArray[np.float64]] = []
    for start, stop in ((None, first), (first, last), (last, None)):
        part = _length(start, stop)
        middle = _middle(start, stop)
        column_x, row_y = x0 + middle * dx, y0 + middle * dy
        column = column_x.astype(np.int64)
        height = part * dy
        passed_on = height * (column_x - column)
        cells.append(row_y.astype(np.int64) * stride + column + window)
        here.append(height - passed_on)
        beyond.append(passed_on)
    cell = np.concatenate(cells, axis=None)
    length = len(outlines) * size * stride
    total = np.zeros(length + 1)
    total[:-1] += np.bincount(cell, np.concatenate(here, axis=None), length)
    total[1:] += np.bincount(cell, np.concatenate(beyond, axis=None), length)
    # Clockwise on the screen: the right-hand border runs down, so the sum is negative inside.
    # Each row sums to nothing, hence one sum over all rows serves as one for each.
    np.cumsum(total, out=total)
    alpha = -total[:-1].reshape(-1, size, stride)[:, :, :size]
    alpha[alpha < _ROUNDOFF] = 0.0
    alpha[alpha > 1.0 - _ROUNDOFF] = 1.0
    return alpha


def _crossing(points: NDArray[np.float64], step: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where along each edge it crosses a pixel border, in [0, 1]; 0 if nowhere."""
    pixel = np.floor(points)
    before, after = pixel[:, :-1], pixel[:, 1:]
    stays = before == after
    away = np.maximum(before, after) - points[:, :-1]
    away[stays] = 0.0
    where: NDArray[np.float64] = away / (step + stays)  # a step may be 0 where it stays
    return where


def _length(
    start: NDArray[np.float64] | None, stop: NDArray[np.float64] | None
) -> NDArray[np.float64] | float:
    if start is None:
        return 1.0 if stop is None else stop
    return (1.0 if stop is None else stop) - start


def _middle(
    start: NDArray[np.float64] | None, stop: NDArray[np.float64] | None
) -> NDArray[np.float64] | float:
    return 0.5 * ((0.0 if start is None else start) + (1.0 if stop is None else stop))
