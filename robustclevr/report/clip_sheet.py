"""Clips as pictures: a sheet of frames, and an animation of several clips side by side."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from robustclevr.report.contact_sheet import contact_sheet

_SHOWN_PX = 128  # chosen: a 64x64 frame is doubled, a large one stays as it is
_MOST_COLUMNS = 10
_GAP_PX = 4
_PAPER = 255
FRAME_MS = 100
"""Time of a frame in an animation: that of the released example clips. [ms]"""

Video = NDArray[np.uint8]


def clip_sheet(clips: Sequence[Video], names: Sequence[str]) -> NDArray[np.uint8]:
    """Arrange frames in a grid: one row a clip, one column a frame.

    Parameters
    ----------
    clips : sequence of ndarray of uint8, shape (T, H, W, 3)
        sRGB, all of one shape.
    names : sequence of str

    Returns
    -------
    ndarray of uint8, shape (H', W', 3)
        Of longer clips ten frames are shown, evenly spread.

    Raises
    ------
    ValueError
        If there is no clip, or not one name for each.
    """
    if not clips:
        raise ValueError("a sheet needs at least one clip")
    frames = len(clips[0])
    shown = np.unique(np.linspace(0, frames - 1, min(frames, _MOST_COLUMNS)).round().astype(int))
    return contact_sheet(
        [[_enlarged(clip[t]) for t in shown] for clip in clips],
        column_titles=[f"frame {t}" for t in shown.tolist()],
        row_titles=names,
    )


def clip_animation(clips: Sequence[Video]) -> bytes:
    """Return a GIF in which clips run side by side, in a grid about as wide as high.

    Parameters
    ----------
    clips : sequence of ndarray of uint8, shape (T, H, W, 3)
        sRGB, all of one shape.

    Raises
    ------
    ValueError
        If there is no clip.
    """
    if not clips:
        raise ValueError("an animation needs at least one clip")
    pictures = [Image.fromarray(_tiled([clip[t] for clip in clips])) for t in range(len(clips[0]))]
    # One palette for all frames: colors of their own would flicker.
    strip = Image.fromarray(np.concatenate([np.asarray(picture) for picture in pictures]))
    palette = strip.quantize(256, dither=Image.Dither.NONE)
    indexed = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    buffer = io.BytesIO()
    indexed[0].save(
        buffer, "GIF", save_all=True, append_images=indexed[1:], duration=FRAME_MS, loop=0
    )
    return buffer.getvalue()


def _enlarged(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    factor = max(1, _SHOWN_PX // max(frame.shape[:2]))
    return frame.repeat(factor, axis=0).repeat(factor, axis=1)


def _tiled(frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    tiles = [_enlarged(frame) for frame in frames]
    height, width = tiles[0].shape[:2]
    columns = math.ceil(math.sqrt(len(tiles)))
    rows = math.ceil(len(tiles) / columns)
    shape = (rows * (height + _GAP_PX) - _GAP_PX, columns * (width + _GAP_PX) - _GAP_PX, 3)
    sheet = np.full(shape, _PAPER, np.uint8)
    for number, tile in enumerate(tiles):
        row, column = divmod(number, columns)
        top, left = row * (height + _GAP_PX), column * (width + _GAP_PX)
        sheet[top : top + height, left : left + width] = tile
    return sheet
