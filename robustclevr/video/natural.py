"""Procedural textures with the statistics of natural pictures.

Three things that every photograph has: occluding objects of all sizes (dead leaves with a
cubic law of radii), a power spectrum that falls as 1/f^2, and channels that vary mostly
together. The color axes are those of Ruderman, Cronin & Chiao (1998): light against dark, blue
against yellow, red against green, which are uncorrelated in natural pictures.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_LEAVES = 256
_LEAST_RADIUS_PX = 3.0  # chosen: below it the lens of a camera leaves little
_AXES = np.array(
    [
        [1 / math.sqrt(3), 1 / math.sqrt(3), 1 / math.sqrt(3)],
        [1 / math.sqrt(6), 1 / math.sqrt(6), -2 / math.sqrt(6)],
        [1 / math.sqrt(2), -1 / math.sqrt(2), 0.0],
    ]
)
_SPREAD = np.array([58.0, 19.0, 9.0])
"""Standard deviation along each axis. [sRGB levels] Chosen: light and dark hold nine tenths of
the variance, blue and yellow most of the rest, as in natural pictures."""

_MEAN_LEVELS = (80.0, 170.0)  # chosen: neither black nor white as a whole
_TINT = 0.9  # chosen: hue of a whole texture, in standard deviations of the chromatic axes
_GRAIN = 0.45  # chosen: share of the standard deviation that the inside of leaves has


def natural_texture(seed: int, side: int) -> NDArray[np.uint8]:
    """Return a procedural texture.

    Parameters
    ----------
    seed : int
        >= 0; the texture depends on it and the side alone.
    side : int
        [px]

    Returns
    -------
    ndarray of uint8, shape (side, side, 3)
        sRGB.
    """
    rng = np.random.Generator(np.random.Philox(key=seed))
    leaf = _dead_leaves(rng, side + 2)  # a pixel on each side, which the blur takes
    levels = _blurred(rng.standard_normal((_LEAVES + 1, 3))[leaf])
    grain = _pink_noise(rng, side)
    field = levels * math.sqrt(1.0 - _GRAIN**2) + _GRAIN * grain
    mean = rng.uniform(*_MEAN_LEVELS) + _tint(rng)
    color = np.zeros((side, side, 3)) + mean
    for axis, spread in enumerate(_SPREAD):
        color += (spread * field[..., axis])[..., np.newaxis] * _AXES[axis]
    levels8: NDArray[np.uint8] = np.clip(np.rint(color), 0, 255).astype(np.uint8)
    return levels8


def _tint(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the offset of a whole texture's color, shape (3,)."""
    along = _TINT * _SPREAD[1:] * rng.standard_normal(2)
    tint: NDArray[np.float64] = (along[:, np.newaxis] * _AXES[1:]).sum(axis=0)
    return tint


def _dead_leaves(rng: np.random.Generator, side: int) -> NDArray[np.int64]:
    """Return which of the leaves is seen at each pixel, the last number where none lies.

    Radii have a density of r^-3 from :data:`_LEAST_RADIUS_PX` to the side, which makes the
    picture look alike at all scales.
    """
    least, most = _LEAST_RADIUS_PX, max(side, 2 * _LEAST_RADIUS_PX)
    u = rng.random((_LEAVES, 3))
    radius = 1.0 / np.sqrt(least**-2 + (most**-2 - least**-2) * u[:, 0])
    # Centres may lie outside, so that leaves are cut by the border like everywhere.
    center = (u[:, 1:] * (side + 2 * radius[:, np.newaxis])) - radius[:, np.newaxis]
    along = np.arange(side) + 0.5
    across = (along - center[:, :1]) ** 2
    down = (along - center[:, 1:]) ** 2
    covers = across[:, np.newaxis, :] + down[:, :, np.newaxis] < (radius**2)[:, None, None]
    seen: NDArray[np.int64] = np.where(covers.any(axis=0), covers.argmax(axis=0), _LEAVES)
    return seen


def _blurred(field: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weigh neighbors 1, 2, 1 along both axes, as a lens and a sensor's mosaic blur a picture."""
    rows = (field[:-2] + 2.0 * field[1:-1] + field[2:]) / 4.0
    blurred: NDArray[np.float64] = (rows[:, :-2] + 2.0 * rows[:, 1:-1] + rows[:, 2:]) / 4.0
    return blurred


def _pink_noise(rng: np.random.Generator, side: int) -> NDArray[np.float64]:
    """Return three fields of unit variance whose power falls as 1/f^2, shape (side, side, 3)."""
    white = rng.standard_normal((side, side, 3))
    spectrum = np.fft.rfft2(white, axes=(0, 1)) * _pink_filter(side)[..., np.newaxis]
    pink = np.fft.irfft2(spectrum, s=(side, side), axes=(0, 1))
    scaled: NDArray[np.float64] = pink / np.sqrt((pink * pink).mean(axis=(0, 1)))
    return scaled


@lru_cache(maxsize=16)
def _pink_filter(side: int) -> NDArray[np.float64]:
    frequency = np.hypot(np.fft.fftfreq(side)[:, np.newaxis], np.fft.rfftfreq(side))
    frequency[0, 0] = np.inf  # no mean
    return 1.0 / frequency
