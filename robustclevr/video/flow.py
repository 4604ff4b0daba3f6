"""Optical flow from the known motion, exact at every pixel."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robustclevr.records import Sprite


def optical_flow(
    masks: NDArray[np.uint8], sprites: Sequence[Sprite], background_step: tuple[int, int]
) -> NDArray[np.float16]:
    """Return where the point seen at each pixel's centre goes until the next frame.

    Parameters
    ----------
    masks : ndarray of uint8, shape (T, H, W)
        0 background, i = sprite i - 1.
    sprites : sequence of Sprite
    background_step : pair of int
        (x, y) a frame. [px]

    Returns
    -------
    ndarray of float16, shape (T - 1, H, W, 2)
        (x, y); a sprite turns and grows about its place. NaN for a sprite that does not exist
        in the next frame. What hides the point there is not asked. [px]
    """
    frames, height, width = masks.shape
    flow = np.empty((max(frames - 1, 0), height, width, 2))
    flow[:] = background_step
    for t in range(len(flow)):
        for index, sprite in enumerate(sprites):
            rows, columns = np.nonzero(masks[t] == index + 1)
            if rows.size:
                points = np.stack([columns + 0.5, rows + 0.5], axis=1)
                flow[t, rows, columns] = _moved(points, sprite, t) - points
    return flow.astype(np.float16)


def _moved(points: NDArray[np.float64], sprite: Sprite, t: int) -> NDArray[np.float64]:
    """Return where points of a sprite in frame t are in frame t + 1."""
    here, there = sprite.position[t], sprite.position[t + 1]
    if here is None or there is None:
        return np.full_like(points, np.nan)
    angle = sprite.orientation[t + 1] - sprite.orientation[t]
    growth = sprite.scale[t + 1] / sprite.scale[t]
    cosine, sine = growth * math.cos(angle), growth * math.sin(angle)
    # Rows times this matrix: counter-clockwise on a screen whose y points down.
    turn = np.array([[cosine, -sine], [sine, cosine]])
    x, y = (points - here).T
    moved: NDArray[np.float64] = np.stack(
        [x * turn[0, 0] + y * turn[1, 0], x * turn[0, 1] + y * turn[1, 1]], axis=1
    )
    moved += np.array(there)
    return moved
