"""dSprites rasters, own or from the original file, moved by interpolation.

This is how soft edges come about when the sprites of the dataset itself are put at places
between pixels. A raster is placed by its own centroid, so that the centroid of the alpha is
the recorded place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from robustclevr.records import Sprite
from robustclevr.video.shapes import ORIENTATIONS, SCALES, SHAPES
from robustclevr.video.stamps import Poses, Stamps, hard_stamps

Key = tuple[int, int, int]
"""Indices of shape, scale and orientation, as dSprites counts them."""

_RASTER_CACHE = 2048  # more than dSprites' 720 sprites


@dataclass(frozen=True)
class Raster:
    """One binary sprite.

    Attributes
    ----------
    pixels : ndarray of float64, shape (P, P)
        0 or 1, with an empty border.
    centroid : pair of float
        (x, y) in the raster. [px]
    """

    pixels: NDArray[np.float64]
    centroid: tuple[float, float]


def raster_of(pixels: NDArray[np.float64]) -> Raster:
    """Return a raster with its centroid."""
    total = pixels.sum()
    along = np.arange(len(pixels)) + 0.5
    x = float((pixels.sum(axis=0) * along).sum() / total)
    y = float((pixels.sum(axis=1) * along).sum() / total)
    return Raster(pixels, (x, y))


@lru_cache(maxsize=_RASTER_CACHE)
def own_raster(shape: str, scale: float, angle: float) -> Raster:
    """Return the closed form of a shape as dSprites would rasterize it at its canvas's centre.

    Parameters
    ----------
    shape : str
    scale : float
        Times the unit, as in :class:`~robustclevr.video.stamps.Poses`.
    angle : float
        [rad]
    """
    sprite = Sprite(shape, (scale,), (angle,), (), ((0.0, 0.0),), (0,))
    zero = np.zeros(1, np.int64)
    alone = Poses(zero, zero, zero, np.zeros((1, 2)), np.array([scale]), np.array([angle]))
    return raster_of(np.pad(hard_stamps([sprite], alone).alpha[0], 1))


def _nearest(part: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    return [(part < 0.5).astype(np.float64), (part >= 0.5).astype(np.float64)]


def _linear(part: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    return [1.0 - part, part]


def _cubic(part: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    rest = 1.0 - part
    inner = (4.0 - 6.0 * part**2 + 3.0 * part**3) / 6.0
    outer = (4.0 - 6.0 * rest**2 + 3.0 * rest**3) / 6.0
    return [rest**3 / 6.0, inner, outer, part**3 / 6.0]


WEIGHTS: Mapping[str, Callable[[NDArray[np.float64]], list[NDArray[np.float64]]]] = (
    MappingProxyType({"hard": _nearest, "coverage": _linear, "bilinear": _linear, "cubic": _cubic})
)
"""By the word after ``edges:``: from parts of a pixel, in [0, 1), to the weights of the pixels
that go into one. Coverage of a raster's square pixels is the bilinear shift; cubic is the
interpolating B-spline of scipy.ndimage.shift, clipped to [0, 1]."""

_PAD = 4  # chosen: a B-spline's waves beyond an edge have died down to 0.005 after four pixels


def raster_key(shape: str, scale: float, angle: float) -> Key:
    """Return dSprites' indices of a sprite; its last orientation repeats the first."""
    turns = round(angle / ORIENTATIONS[1])
    nearest = min(range(len(SCALES)), key=lambda k: abs(SCALES[k] - scale))
    return SHAPES.index(shape), nearest, turns % (len(ORIENTATIONS) - 1)


def shifted_stamps(
    sprites: Sequence[Sprite], poses: Poses, edges: str, rasters: Mapping[Key, Raster] | None
) -> Stamps:
    """Return windows with each sprite's raster moved to its place.

    Parameters
    ----------
    sprites : sequence of Sprite
    poses : Poses
    edges : str
        A key of :data:`SHIFTS`.
    rasters : mapping of Key to Raster, or None
        Those of :func:`~robustclevr.video.dsprites.load_rasters`; None for :func:`own_raster`.
    """
    found = [
        own_raster(sprites[i].shape, scale, angle)
        if rasters is None
        else rasters[raster_key(sprites[i].shape, scale, angle)]
        for i, scale, angle in zip(
            poses.sprite.tolist(), poses.scale.tolist(), poses.angle.tolist(), strict=True
        )
    ]
    side = max((len(raster.pixels) for raster in found), default=0) + 2 * _PAD
    sources = np.zeros((len(found), side, side))
    for source, raster in zip(sources, found, strict=True):
        inner = slice(_PAD, _PAD + len(raster.pixels))
        source[inner, inner] = raster.pixels
    if edges == "cubic":
        for axis in (1, 2):
            sources = ndimage.spline_filter1d(sources, order=3, axis=axis, mode="mirror")
    centroid = np.array([raster.centroid for raster in found]).reshape(-1, 2) + _PAD
    offset = poses.center - centroid
    whole = np.floor(offset)
    part = offset - whole
    corner = whole.astype(np.int64)
    moved = _interpolate(sources, WEIGHTS[edges](part[:, 1]), axis=1)
    moved = _interpolate(moved, WEIGHTS[edges](part[:, 0]), axis=2)
    return Stamps(np.clip(moved, 0.0, 1.0), corner[:, 0], corner[:, 1])


def _interpolate(
    sources: NDArray[np.float64], weights: list[NDArray[np.float64]], *, axis: int
) -> NDArray[np.float64]:
    """Return each source moved forward by less than a pixel along an axis."""
    first = 1 - len(weights) // 2  # four taps begin a pixel behind the source
    moved = np.zeros_like(sources)
    for tap, weight in enumerate(weights):
        moved += weight[:, np.newaxis, np.newaxis] * np.roll(sources, first + tap, axis=axis)
    return moved
