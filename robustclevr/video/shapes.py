"""The three dSprites shapes in closed form, about their area centroids.

Lengths are pixels of dSprites' 64x64 canvas at scale 1; x points right, y down. The forms were
fitted to the rasters of dSprites (Matthey et al., 2017, Apache-2.0), which are binary: a pixel
is on if its centre lies inside. Without rotation all three have dSprites' areas at all six scales;
over the dataset's sample frames 0.2 pixels differ on average and 4 at most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

SHAPES = ("square", "ellipse", "heart")
"""In dSprites' order of its latent ``shape``."""

SCALES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""dSprites' six scales."""

ORIENTATIONS = tuple(math.tau * step / 39 for step in range(40))
"""dSprites' 40 orientations; it counts the full turn too, so the first equals the last. [rad]"""

SQUARE_SIDE_PX = 19.2
"""Three tenths of the canvas."""

ELLIPSE_SEMI_AXES_PX = (12.76, 7.22)
"""Along x and along y."""

HEART_HALF_WIDTH_PX = 9.6
_HEART_HARMONICS = (13.0, -5.0, -2.0, -1.0)  # of cos t, cos 2t, cos 3t, cos 4t
_HEART_HEIGHT_PX = 0.6618  # this and the lift: the best of a grid over 190 hearts of dSprites
_HEART_LIFT_PX = 1.4325
_EXACT_POINTS = 64  # the trapezoidal rule is exact for the heart's trigonometric polynomials


def _heart_point(t: float) -> tuple[float, float]:
    """Return a point of the heart's outline about the anchor that dSprites turns it around."""
    waves = (factor * math.cos((k + 1) * t) for k, factor in enumerate(_HEART_HARMONICS))
    up = _HEART_HEIGHT_PX * math.fsum(waves) + _HEART_LIFT_PX
    return HEART_HALF_WIDTH_PX * math.sin(t) ** 3, -up


def _heart_moments() -> tuple[float, float]:
    """Return the heart's area and the y of its centroid, from integrals around its outline."""
    step = math.tau / _EXACT_POINTS
    area = moment = 0.0
    for k in range(_EXACT_POINTS):
        t = k * step
        _, y = _heart_point(t)
        dx = 3 * HEART_HALF_WIDTH_PX * math.sin(t) ** 2 * math.cos(t)
        area -= y * dx * step
        moment -= 0.5 * y * y * dx * step
    return abs(area), moment / area


_HEART_AREA, HEART_CENTROID_Y_PX = _heart_moments()
"""The heart's centroid lies above (y < 0) the anchor that dSprites places and turns it by."""

AREAS_PX: Mapping[str, float] = MappingProxyType(
    {
        "square": SQUARE_SIDE_PX**2,
        "ellipse": math.pi * ELLIPSE_SEMI_AXES_PX[0] * ELLIPSE_SEMI_AXES_PX[1],
        "heart": _HEART_AREA,
    }
)
"""Area at scale 1. [px^2]"""


def _outline_point(shape: str, part: float) -> tuple[float, float]:
    """Return the point at ``part`` in [0, 1) of the way around, clockwise on the screen."""
    if shape == "square":
        side, along = divmod(4 * part, 1.0)
        half = SQUARE_SIDE_PX / 2
        x, y = -half + SQUARE_SIDE_PX * along, -half
        for _ in range(int(side)):
            x, y = -y, x
        return x, y
    t = math.tau * part
    if shape == "ellipse":
        return ELLIPSE_SEMI_AXES_PX[0] * math.cos(t), ELLIPSE_SEMI_AXES_PX[1] * math.sin(t)
    x, y = _heart_point(t)
    return x, y - HEART_CENTROID_Y_PX


@lru_cache(maxsize=64)
def outline(shape: str, edges: int) -> NDArray[np.float64]:
    """Return a polygon for a shape at scale 1 and orientation 0.

    Parameters
    ----------
    shape : str
        One of :data:`SHAPES`.
    edges : int
        A multiple of 4, so that the square keeps its corners.

    Returns
    -------
    ndarray of float64, shape (edges + 1, 2)
        Points (x, y) about the centroid; the last repeats the first. Clockwise on the screen,
        with exactly the area of the shape. Read-only. [px]
    """
    points = np.array([_outline_point(shape, k / edges) for k in range(edges)])
    points = np.concatenate([points, points[:1]])
    x, y = points[:, 0], points[:, 1]
    area = 0.5 * math.fsum((x[:-1] * y[1:] - x[1:] * y[:-1]).tolist())
    points *= math.sqrt(AREAS_PX[shape] / area)
    points.flags.writeable = False
    return points


@lru_cache(maxsize=8)
def reach(shape: str) -> float:
    """Return the largest distance of a shape's outline from its centroid at scale 1, in pixels."""
    return max(math.hypot(*_outline_point(shape, k / 512)) for k in range(512))


def inside(shape: str, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which points lie in a shape at scale 1 and orientation 0.

    Parameters
    ----------
    shape : str
        One of :data:`SHAPES`.
    x, y : ndarray of float64
        About the centroid, of one shape. [px]

    Returns
    -------
    ndarray of bool
    """
    found: NDArray[np.bool_]
    if shape == "square":
        found = np.maximum(np.abs(x), np.abs(y)) < SQUARE_SIDE_PX / 2
    elif shape == "ellipse":
        a, b = ELLIPSE_SEMI_AXES_PX
        found = (x / a) ** 2 + (y / b) ** 2 < 1.0
    else:
        found = _in_heart(x, -(y + HEART_CENTROID_Y_PX))
    return found


def _in_heart(x: NDArray[np.float64], up: NDArray[np.float64]) -> NDArray[np.bool_]:
    """At each x the outline passes twice, at the two signs of cos t; between them is inside."""
    sine = np.cbrt(np.minimum(np.abs(x) / HEART_HALF_WIDTH_PX, 1.0))
    cosine = np.sqrt(1.0 - sine * sine)
    within: NDArray[np.bool_] = (
        (np.abs(x) < HEART_HALF_WIDTH_PX)
        & (up < _heart_height(cosine))
        & (up > _heart_height(-cosine))
    )
    return within


def _heart_height(c: NDArray[np.float64]) -> NDArray[np.float64]:
    square = c * c
    multiples = (c, 2 * square - 1, (4 * square - 3) * c, 8 * square * (square - 1) + 1)
    height = np.full_like(c, _HEART_LIFT_PX)
    for factor, multiple in zip(_HEART_HARMONICS, multiples, strict=True):
        np.add(height, (_HEART_HEIGHT_PX * factor) * multiple, out=height)
    return height
