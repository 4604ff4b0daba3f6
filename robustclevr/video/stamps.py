"""Sprites as small windows of alpha, one for each sprite in each frame.

All windows of a clip are made at once, rearmost sprites first. At an alpha of 1 a pixel shows the
sprite alone, at 0 nothing of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robustclevr.records import Sprite
from robustclevr.video.coverage import coverage
from robustclevr.video.shapes import inside, outline, reach

CANVAS_PX = 64
"""Side of dSprites' canvas, for which its shapes are given."""

_EDGES = 96
"""Edges of an outline where a pixel of the picture is one of dSprites' canvas, more in
proportion where it is smaller: none is longer than 0.84 px along x or y, and the arcs they stand
for bulge by at most 0.007 px (chosen: about one level of 8 bits)."""

_SLACK = 1.01  # an outline of equal area reaches a little further than the shape


@dataclass(frozen=True)
class Poses:
    """Where and how S sprites stand, one entry for each sprite in each frame where it exists.

    Sorted by rank in depth, rearmost first; those of one rank stand in different frames.

    Attributes
    ----------
    sprite, frame, rank : ndarray of int64, shape (S,)
        Index of the sprite, of the frame, and rank.
    center : ndarray of float64, shape (S, 2)
        (x, y). [px]
    scale : ndarray of float64, shape (S,)
        Times the unit: pixels of the picture for one of dSprites' canvas at scale 1.
    angle : ndarray of float64, shape (S,)
        Counter-clockwise on the screen. [rad]
    """

    sprite: NDArray[np.int64]
    frame: NDArray[np.int64]
    rank: NDArray[np.int64]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    angle: NDArray[np.float64]


@dataclass(frozen=True)
class Stamps:
    """Windows of alpha on a larger picture.

    Attributes
    ----------
    alpha : ndarray of float64, shape (S, P, P)
        In [0, 1].
    left, top : ndarray of int64, shape (S,)
        Corner of each window; may lie outside the picture. [px]
    """

    alpha: NDArray[np.float64]
    left: NDArray[np.int64]
    top: NDArray[np.int64]


def poses(sprites: Sequence[Sprite], unit: float) -> Poses:
    """Return the poses of all sprites in all frames where they exist.

    Parameters
    ----------
    sprites : sequence of Sprite
    unit : float
        Pixels of the picture for one of dSprites' canvas.
    """
    rows = [
        (sprite.order[t], i, t, *place, sprite.scale[t], sprite.orientation[t])
        for i, sprite in enumerate(sprites)
        for t, place in enumerate(sprite.position)
        if place is not None
    ]
    rows.sort()
    table = np.array(rows, dtype=np.float64).reshape(-1, 7)
    rank, sprite, frame = table[:, :3].T.astype(np.int64)
    return Poses(sprite, frame, rank, table[:, 3:5], table[:, 5] * unit, table[:, 6])


def soft_stamps(sprites: Sequence[Sprite], poses: Poses, unit: float) -> Stamps:
    """Return windows in which each pixel's alpha is the part of it that the shape covers.

    Parameters
    ----------
    sprites : sequence of Sprite
    poses : Poses
    unit : float
        As for :func:`poses`.
    """
    size, left, top, local = _windows(sprites, poses)
    edges = 4 * math.ceil(_EDGES * unit / 4)
    shapes = np.array([outline(sprite.shape, edges) for sprite in sprites])
    points = shapes.reshape(-1, edges + 1, 2)[poses.sprite]
    cosine, sine = _turn(poses)
    x, y = points[..., 0], points[..., 1]
    turned = np.empty_like(points)
    turned[..., 0] = cosine * x + sine * y + local[:, :1]
    turned[..., 1] = cosine * y - sine * x + local[:, 1:]
    return Stamps(coverage(turned, size), left, top)


def hard_stamps(sprites: Sequence[Sprite], poses: Poses) -> Stamps:
    """Return windows in which a pixel's alpha is 1 if its centre lies in the shape, else 0."""
    size, left, top, local = _windows(sprites, poses)
    cosine, sine = _turn(poses)
    centre = np.arange(size) + 0.5
    shrink = (1.0 / poses.scale**2)[:, np.newaxis, np.newaxis]
    x = centre - local[:, :1, np.newaxis]
    y = centre[:, np.newaxis] - local[:, 1:, np.newaxis]
    cosine, sine = cosine[:, :, np.newaxis] * shrink, sine[:, :, np.newaxis] * shrink
    alpha = np.zeros((len(local), size, size))
    for shape in {sprite.shape for sprite in sprites}:
        these = np.array([sprite.shape == shape for sprite in sprites])[poses.sprite]
        across = cosine[these] * x[these] - sine[these] * y[these]
        down = sine[these] * x[these] + cosine[these] * y[these]
        alpha[these] = inside(shape, across, down)
    return Stamps(alpha, left, top)


def _windows(
    sprites: Sequence[Sprite], poses: Poses
) -> tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the side of windows that hold every sprite, their corners, and centres in them."""
    widest = max((reach(sprite.shape) for sprite in sprites), default=0.0)
    half = math.ceil(widest * max(poses.scale, default=0.0) * _SLACK)
    corner = np.floor(poses.center).astype(np.int64) - half
    return 2 * half + 1, corner[:, 0], corner[:, 1], poses.center - corner


def _turn(poses: Poses) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return scale times cosine and sine of each angle, shape (S, 1).

    ``math`` and not numpy, whose results depend on the processor.
    """
    angles = poses.angle.tolist()
    cosine = np.array([math.cos(angle) for angle in angles]) * poses.scale
    sine = np.array([math.sin(angle) for angle in angles]) * poses.scale
    return cosine[:, np.newaxis], sine[:, np.newaxis]
