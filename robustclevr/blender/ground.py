"""CLEVR's ground: a floor that sweeps up into a wall behind the objects; no Blender.

``base_scene.blend`` of clevr-dataset-gen holds a subdivided swept profile. Here the profile is
measured from that file as height over distance and interpolated smoothly.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from robustclevr.blender.meshes import Mesh

AWAY = (-0.9032, 0.4292)
"""Horizontal direction in which the ground rises: away from CLEVR's camera. Unit vector, decoded
from ``base_scene.blend`` of clevr-dataset-gen."""

NEAR_EDGE = -9.5
"""Where the ground begins, along :data:`AWAY` from the origin. [m]"""

HALF_WIDTH = 28.0
"""Extent to either side; the file's ground reaches 27 to 30. [m]"""

# Distance along AWAY and height, both in metres, read off base_scene.blend's ground after its
# subdivision.
_PROFILE = np.array(
    [
        (NEAR_EDGE, 0.0),
        (-1.0, 0.0),
        (1.7, 0.011),
        (2.9, 0.019),
        (5.1, 0.048),
        (7.0, 0.10),
        (8.7, 0.18),
        (10.1, 0.31),
        (11.4, 0.50),
        (12.4, 0.76),
        (13.3, 1.11),
        (14.0, 1.58),
        (14.6, 2.17),
        (15.1, 2.92),
        (15.6, 3.85),
        (15.9, 4.99),
        (16.3, 6.36),
        (16.6, 7.99),
        (16.8, 9.92),
        (17.2, 13.4),
        (17.6, 17.8),
        (18.1, 23.2),
    ]
)
_STEPS = 8  # pieces between two rows of the table: no kink wider than 2 degrees in view


def ground_height(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ground's height over the signed distance along :data:`AWAY`.

    Parameters
    ----------
    distance : ndarray of float64
        In [-9.5, 18.1]; clipped to it. [m]

    Returns
    -------
    ndarray of float64
        Height, never falling with distance. [m]
    """
    x, y = _PROFILE.T
    slopes = _monotone_slopes(x, y)
    at = np.clip(distance, x[0], x[-1])
    k = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    width = x[k + 1] - x[k]
    t = (at - x[k]) / width
    # Cubic Hermite basis on [0, 1].
    height: NDArray[np.float64] = (
        y[k] * (1 + 2 * t) * (1 - t) ** 2
        + y[k + 1] * t**2 * (3 - 2 * t)
        + width * (slopes[k] * t * (1 - t) ** 2 - slopes[k + 1] * t**2 * (1 - t))
    )
    return height


def ground_mesh() -> Mesh:
    """Return the ground in world space: an open sheet whose normals point up and to the camera."""
    table = _PROFILE[:, 0]
    inner = [np.linspace(a, b, _STEPS, endpoint=False) for a, b in pairwise(table)]
    distance = np.append(np.concatenate(inner), table[-1])
    height = ground_height(distance)
    rise = np.gradient(height, distance)
    along, across = np.array([*AWAY, 0.0]), np.array([-AWAY[1], AWAY[0], 0.0])
    up = np.array([0.0, 0.0, 1.0])
    middle = distance[:, None] * along + height[:, None] * up
    normal = up - rise[:, None] * along
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    count = len(distance)
    vertices = np.concatenate([middle - HALF_WIDTH * across, middle + HALF_WIDTH * across])
    first = np.arange(count - 1)
    right, left = np.stack([first, first + 1]), np.stack([first, first + 1]) + count
    triangles = np.concatenate(
        [np.stack([right[0], right[1], left[1]], 1), np.stack([right[0], left[1], left[0]], 1)]
    )
    return Mesh(vertices, np.concatenate([normal, normal]), triangles.astype(np.int32))


def _monotone_slopes(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the slopes of Fritsch and Butland (1984), which never overshoot the table."""
    width, rise = np.diff(x), np.diff(y) / np.diff(x)
    slopes = np.zeros_like(y)
    w1, w2 = 2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]
    inner = (rise[:-1] > 0) & (rise[1:] > 0)
    with np.errstate(divide="ignore"):
        mean = (w1 + w2) / (w1 / rise[:-1] + w2 / rise[1:])
    slopes[1:-1] = np.where(inner, mean, 0.0)
    slopes[-1] = rise[-1]
    return slopes
