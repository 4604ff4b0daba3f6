"""What JPEG leaves of an image: encoded at a quality and decoded again."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_LUMA = (
    (16, 11, 10, 16, 24, 40, 51, 61),
    (12, 12, 14, 19, 26, 58, 60, 55),
    (14, 13, 16, 24, 40, 57, 69, 56),
    (14, 17, 22, 29, 51, 87, 80, 62),
    (18, 22, 37, 56, 68, 109, 103, 77),
    (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101),
    (72, 92, 95, 98, 112, 100, 103, 99),
)
_CHROMA = (
    (17, 18, 24, 47, 99, 99, 99, 99),
    (18, 21, 26, 66, 99, 99, 99, 99),
    (24, 26, 56, 99, 99, 99, 99, 99),
    (47, 66, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
    (99, 99, 99, 99, 99, 99, 99, 99),
)
"""ITU-T T.81 (1992), annex K, tables K.1 and K.2: the steps of quality 50."""

_FULL_RESOLUTION, _HALF_RESOLUTION = 0, 2  # Pillow's numbers for 4:4:4 and 4:2:0


def jpeg_round_trip(image: NDArray[np.uint8], quality: float, *, halve: bool) -> NDArray[np.uint8]:
    """Encode an image as JPEG and decode it.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        sRGB.
    quality : float
        The scale of the Independent JPEG Group, from which the quantization steps follow; need
        not be whole. [1-100]
    halve : bool
        Store color at half the resolution along both axes, as nearly all programs do.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
        New array; the same for the same input and the same version of Pillow.

    Notes
    -----
    libjpeg takes whole qualities only, and rounds steps down to whole numbers from 1 to 255.
    The steps are made here by its own rule, so that whole qualities give its own tables.
    """
    percent = 5000.0 / quality if quality < 50.0 else 200.0 - 2.0 * quality
    tables = [_steps(table, percent) for table in (_LUMA, _CHROMA)]
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).save(
        buffer,
        format="JPEG",
        qtables=tables,
        subsampling=_HALF_RESOLUTION if halve else _FULL_RESOLUTION,
    )
    with Image.open(buffer, formats=("JPEG",)) as picture:
        return np.array(picture)


def _steps(table: tuple[tuple[int, ...], ...], percent: float) -> list[int]:
    steps = np.floor((np.array(table) * percent + 50.0) / 100.0)
    return [int(step) for step in np.clip(steps, 1, 255).ravel()]
