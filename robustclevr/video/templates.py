"""The four templates of Sprites-MOT, and their stamps.

Templates are 21x21 pixels, resized bilinearly as OpenCV resizes bytes, with weights of 11 bits:
soft edges come about by the resizing alone, since objects stand at whole pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from robustclevr.records import Sprite
from robustclevr.video.sprites_mot import CANVAS_PX, TEMPLATE_PX, to_canvas
from robustclevr.video.stamps import Poses, Stamps

_WEIGHT_BITS = 11  # INTER_RESIZE_COEF_BITS
_HIDDEN_BITS = 4  # OpenCV drops these between its two passes


def template(shape: str) -> NDArray[np.uint8]:
    """Return a template, 0 or 255, shape (21, 21)."""
    row, column = np.mgrid[:TEMPLATE_PX, :TEMPLATE_PX]
    middle, radius = (TEMPLATE_PX - 1) / 2, TEMPLATE_PX / 2
    if shape == "disc":
        holds = (row - middle) ** 2 + (column - middle) ** 2 <= radius**2
    elif shape == "diamond":
        holds = np.abs(row - middle) + np.abs(column - middle) <= radius
    elif shape == "triangle":
        from_side = np.minimum(column, TEMPLATE_PX - 1 - column) + 1
        holds = TEMPLATE_PX - row <= 2 * from_side
    else:
        holds = np.ones_like(row, dtype=np.bool_)
    return np.where(holds, 255, 0).astype(np.uint8)


@lru_cache(maxsize=1024)
def resized(shape: str, height: int, width: int) -> NDArray[np.uint8]:
    """Return a template resized bilinearly, shape (height, width)."""
    source = template(shape).astype(np.int64)
    rows, row_weights = _taps(height)
    columns, column_weights = _taps(width)
    across = (source[:, columns] * column_weights).sum(axis=-1) >> _HIDDEN_BITS
    parts = (across[rows] * row_weights[:, :, np.newaxis]) >> 16
    made: NDArray[np.uint8] = ((parts.sum(axis=1) + 2) >> 2).astype(np.uint8)
    return made


def _taps(length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each new pixel, the two old ones it lies between and their weights."""
    place = (np.arange(length) + 0.5) * (TEMPLATE_PX / length) - 0.5
    first = np.floor(place).astype(np.int64)
    part = place - first
    part[first < 0] = 0.0
    part[first >= TEMPLATE_PX - 1] = 0.0
    first = np.clip(first, 0, TEMPLATE_PX - 1)
    second = np.minimum(first + 1, TEMPLATE_PX - 1)
    one = 2**_WEIGHT_BITS
    weights = np.rint(np.stack([1.0 - part, part], axis=1) * one).astype(np.int64)
    return np.stack([first, second], axis=1), weights


def template_stamps(
    sprites: Sequence[Sprite], poses: Poses, side: int, *, odd_pixels: bool
) -> Stamps:
    """Return the windows of all objects in the stored picture.

    Parameters
    ----------
    sprites : sequence of Sprite
    poses : Poses
    side : int
        128, or 64: every second pixel of the canvas is kept. [px]
    odd_pixels : bool
        Keep the odd ones and not the even ones.
    """
    keep = CANVAS_PX // side
    first = 1 if odd_pixels and keep > 1 else 0
    kept: list[NDArray[np.uint8]] = []
    corners: list[tuple[int, int]] = []
    for index, (x, y) in zip(poses.sprite.tolist(), poses.center.tolist(), strict=True):
        height, width = sprites[index].size_px or (0, 0)
        left = round(to_canvas(x, side) - width / 2)
        top = round(to_canvas(y, side) - height / 2)
        alpha = resized(sprites[index].shape, height, width)
        # The first canvas pixel of the box that is kept, counted from its corner.
        skip_x, skip_y = (first - left) % keep, (first - top) % keep
        kept.append(alpha[skip_y::keep, skip_x::keep])
        corners.append(((left + skip_x - first) // keep, (top + skip_y - first) // keep))
    size = max((max(alpha.shape) for alpha in kept), default=0)
    windows = np.zeros((len(kept), size, size))
    for window, alpha in zip(windows, kept, strict=True):
        window[: alpha.shape[0], : alpha.shape[1]] = alpha / 255.0
    table = np.array(corners, dtype=np.int64).reshape(-1, 2)
    return Stamps(windows, table[:, 0], table[:, 1])
