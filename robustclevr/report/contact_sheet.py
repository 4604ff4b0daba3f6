"""A picture grid: one row a sample, one column a variant, titles around it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

# Chosen by eye: titles stay readable when a sheet of nine columns is shown at half its size.
_GAP_PX = 4
_FONT_PX = 15
_TITLE_PX = 26
_BACKGROUND = (255, 255, 255)
_INK = (32, 32, 32)


def contact_sheet(
    rows: Sequence[Sequence[NDArray[np.uint8]]],
    *,
    column_titles: Sequence[str],
    row_titles: Sequence[str],
) -> NDArray[np.uint8]:
    """Arrange images of one size in a grid.

    Parameters
    ----------
    rows : sequence of sequences of ndarray of uint8, shape (H, W, 3)
        sRGB; every row as long as ``column_titles``.
    column_titles, row_titles : sequence of str

    Returns
    -------
    ndarray of uint8, shape (H', W', 3)
        sRGB.

    Raises
    ------
    ValueError
        If there is no image, or rows, titles and image sizes do not fit together.
    """
    if not rows or not rows[0]:
        raise ValueError("a contact sheet needs at least one image")
    if len(rows) != len(row_titles) or any(len(row) != len(column_titles) for row in rows):
        raise ValueError("a contact sheet needs one title for each row and each column")
    height, width = rows[0][0].shape[:2]
    font = ImageFont.load_default(_FONT_PX)
    left = _GAP_PX + max(round(font.getlength(title)) for title in row_titles) + 2 * _GAP_PX
    sheet = Image.new(
        "RGB",
        (
            left + len(column_titles) * (width + _GAP_PX),
            _TITLE_PX + len(rows) * (height + _GAP_PX),
        ),
        _BACKGROUND,
    )
    pen = ImageDraw.Draw(sheet)
    for column, title in enumerate(column_titles):
        centre = left + column * (width + _GAP_PX) + width / 2
        pen.text((centre, _TITLE_PX / 2), title, fill=_INK, font=font, anchor="mm")
    for number, (row, title) in enumerate(zip(rows, row_titles, strict=True)):
        top = _TITLE_PX + number * (height + _GAP_PX)
        pen.text((_GAP_PX, top + height / 2), title, fill=_INK, font=font, anchor="lm")
        for column, image in enumerate(row):
            if image.shape != (height, width, 3):
                raise ValueError(f"image {image.shape} in a sheet of images {(height, width, 3)}")
            sheet.paste(Image.fromarray(image), (left + column * (width + _GAP_PX), top))
    return np.asarray(sheet)
