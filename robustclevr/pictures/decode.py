"""Bytes of a picture or mask to arrays, whatever Pillow can read.

Gray pictures become three equal channels, palettes and CMYK become RGB, transparent pixels are
laid over white, of several frames the first counts. Pixels stay where they are stored: an
orientation that a camera wrote beside them is not applied, as masks do not know it either.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from robustclevr.errors import StoreError

MAX_OBJECTS = 255
"""Labels are 8-bit, and 0 is the background."""

_SIXTEEN_BITS = ("I;16", "I;16B", "I;16L", "I;16N", "I")
"""Pillow's modes of 16-bit gray; ``I`` is what it makes of some 16-bit PNG files."""

_WHITE = 255
_TRANSPARENT = ("RGBA", "LA", "PA", "La", "RGBa")


@dataclass(frozen=True)
class Picture:
    """A decoded picture.

    Attributes
    ----------
    encoded : ndarray of uint8 or uint16, shape (H, W, 3)
        sRGB; uint16 where the file has 16 bits a channel.
    mode : str
        Pillow's word for what the file holds, such as ``RGB`` or ``I;16``.
    """

    encoded: NDArray[np.uint8] | NDArray[np.uint16]
    mode: str


@dataclass(frozen=True)
class Mask:
    """A decoded mask.

    Attributes
    ----------
    labels : ndarray of uint8, shape (H, W)
        0 background, i = object i.
    values : tuple of int or str
        What object i is called in the file: element i - 1. A number; or, of a colored mask, the
        color as ``#rrggbb``.
    """

    labels: NDArray[np.uint8]
    values: tuple[int | str, ...]


def decode_picture(data: bytes) -> Picture:
    """Decode a picture.

    Raises
    ------
    StoreError
        If it is broken, of no format that Pillow reads, or holds floating-point numbers.
    """
    with _opened(data) as image:
        mode = image.mode
        if mode in _SIXTEEN_BITS:
            gray = np.asarray(image).astype(np.int64)
            if gray.min() < 0 or gray.max() >= 2**16:
                raise StoreError("has gray levels beyond 16 bits")
            return Picture(np.repeat(gray.astype(np.uint16)[..., None], 3, axis=-1), mode)
        if mode == "F":
            raise StoreError("holds floating-point numbers; convert it to 8 or 16 bits")
        if mode in _TRANSPARENT or "transparency" in image.info:
            return Picture(_over_white(image.convert("RGBA")), mode)
        return Picture(np.array(image.convert("RGB")), mode)


def decode_mask(data: bytes) -> Mask:
    """Decode a mask: gray levels, palette indices or colors, of which 0 or black is background.

    Returns
    -------
    Mask
        Objects in rising order of their values.

    Raises
    ------
    StoreError
        If it is broken or has more than :data:`MAX_OBJECTS` objects.
    """
    with _opened(data) as image:
        if image.mode in ("L", "P", "1", *_SIXTEEN_BITS):
            values = np.asarray(image).astype(np.int64)
            return _numbered(values, colored=False)
        colors = np.asarray(image.convert("RGB")).astype(np.int64)
    return _numbered(colors @ np.array([1 << 16, 1 << 8, 1]), colored=True)


def _numbered(values: NDArray[np.int64], *, colored: bool) -> Mask:
    present, indices = np.unique(values, return_inverse=True)
    objects = present[present != 0]
    if len(objects) > MAX_OBJECTS:
        raise StoreError(f"has {len(objects)} objects, at most {MAX_OBJECTS} are possible")
    numbers = np.zeros(len(present), np.uint8)
    numbers[present != 0] = np.arange(1, len(objects) + 1)
    names = tuple(f"#{value:06x}" if colored else int(value) for value in objects.tolist())
    return Mask(numbers[indices].reshape(values.shape), names)


def _over_white(image: Image.Image) -> NDArray[np.uint8]:
    pixels = np.asarray(image).astype(np.int64)
    alpha = pixels[..., 3:]
    # Rounded to the nearest; opaque pixels keep their bytes.
    laid = (pixels[..., :3] * alpha + _WHITE * (255 - alpha) + 127) // 255
    return np.asarray(laid, np.uint8)


def _opened(data: bytes) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a decompression bomb, damaged metadata
            image = Image.open(io.BytesIO(data))
            image.load()
    except UnidentifiedImageError as error:
        raise StoreError("is no picture of a known format") from error
    except (OSError, SyntaxError, ValueError, Warning, Image.DecompressionBombError) as error:
        raise StoreError(f"is no readable picture: {error}") from error
    return image
