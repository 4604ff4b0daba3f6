"""Scene-linear light to 8-bit sRGB and back, without a renderer's view transform.

Curve: IEC 61966-2-1. A byte is ``floor(255 * curve(clip(x, 0, 1)) + 0.5)``, that is rounding
half up. The way there is a table of the float32 numbers at which that formula, evaluated in
float64, steps from one byte to the next; so it is exact, and fast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RenderError

_LINEAR_END = 0.0031308  # IEC 61966-2-1: below it the curve is a straight line
_LINEAR_SLOPE = 12.92
_OFFSET = 0.055
_EXPONENT = 2.4

# A float32's upper 16 bits name a bin of relative width 2**-7. Bytes lie at least 0.9 % apart,
# farther than any bin is wide, so each bin holds at most one step.
_BIN_SHIFT = 16


def srgb_curve(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sRGB encoding of scene-linear values, both in [0, 1]."""
    straight = linear * _LINEAR_SLOPE
    bent = (1.0 + _OFFSET) * np.maximum(linear, _LINEAR_END) ** (1.0 / _EXPONENT) - _OFFSET
    return np.where(linear <= _LINEAR_END, straight, bent)


def linear_to_srgb8(pixels: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return scene-linear Rec.709 pixels as 8-bit sRGB.

    Parameters
    ----------
    pixels : ndarray of float32, shape (..., 3)
        Unclipped; what lies outside [0, 1], infinities included, is clipped.

    Returns
    -------
    ndarray of uint8, shape (..., 3)
        New array.

    Raises
    ------
    RenderError
        If a pixel is NaN; says how many and where the first is.
    """
    if np.isnan(pixels).any():
        raise RenderError(_nan_message(pixels))
    # Clipping may keep a negative zero, whose bits lie outside the table; adding 0 mends that.
    clipped = np.clip(pixels, 0.0, 1.0).astype(np.float32, copy=False) + np.float32(0)
    bins = clipped.view(np.uint32) >> _BIN_SHIFT
    encoded: NDArray[np.uint8] = _FIRST_BYTE[bins]
    encoded += clipped >= _NEXT_STEP[bins]
    return encoded


def srgb8_to_linear(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the scene-linear value of each byte, of the same shape, in [0, 1]."""
    return _LINEAR_OF_BYTE[image]


def srgb_to_linear(encoded: NDArray[np.uint8] | NDArray[np.uint16]) -> NDArray[np.float32]:
    """Return the scene-linear value of 8-bit or 16-bit sRGB, of the same shape, in [0, 1]."""
    if encoded.dtype == np.uint8:
        return srgb8_to_linear(encoded.astype(np.uint8, copy=False))
    largest = float(np.iinfo(np.uint16).max)
    return _inverse_curve(encoded / largest).astype(np.float32)


def _nan_message(pixels: NDArray[np.float32]) -> str:
    places = np.argwhere(np.isnan(pixels).any(axis=-1))
    first = ", ".join(str(int(k)) for k in places[0])
    return (
        f"{len(places)} of {pixels[..., 0].size} pixels are not a number, the first at "
        f"({first}) (row, column); a recipe or a material divides by zero"
    )


def _byte_of(linear: NDArray[np.float32]) -> NDArray[np.int64]:
    values = srgb_curve(linear.astype(np.float64))
    rounded: NDArray[np.int64] = np.floor(255.0 * values + 0.5).astype(np.int64)
    return rounded


def _inverse_curve(encoded: NDArray[np.float64]) -> NDArray[np.float64]:
    straight = encoded / _LINEAR_SLOPE
    bent = ((encoded + _OFFSET) / (1.0 + _OFFSET)) ** _EXPONENT
    return np.where(encoded <= _LINEAR_END * _LINEAR_SLOPE, straight, bent)


def _steps() -> NDArray[np.float32]:
    """Return the least float32 that encodes to each of the bytes 1 to 255."""
    byte = np.arange(1, 256)
    step = _inverse_curve((byte - 0.5) / 255.0).astype(np.float32)
    # Rounding the inverse may be off by one float32 either way; ask the curve itself.
    step = np.nextafter(np.nextafter(step, np.float32(0)), np.float32(0))
    while (low := _byte_of(step) < byte).any():
        step = np.where(low, np.nextafter(step, np.float32(1)), step)
    return step


def _tables() -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return, per bin of floats in [0, 1], the byte of its least float and the step inside it."""
    steps = _steps()
    starts = np.arange((int(np.float32(1).view(np.uint32)) >> _BIN_SHIFT) + 1, dtype=np.uint32)
    lowest = (starts << _BIN_SHIFT).view(np.float32)
    first = np.searchsorted(steps, lowest, side="right").astype(np.uint8)
    following = np.append(steps, np.float32(np.inf))[first]
    return first, following


_FIRST_BYTE, _NEXT_STEP = _tables()
_LINEAR_OF_BYTE = _inverse_curve(np.arange(256) / 255.0).astype(np.float32)
