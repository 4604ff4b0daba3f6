"""Images that Blender holds: float files read as they are, and arrays, for as long as needed.

Blender keeps every datablock until it is told not to, so each image is removed after use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RenderError


def read_exr(exr: Path) -> NDArray[np.float32]:
    """Read an RGBA float image without any color conversion.

    Returns
    -------
    ndarray of float32, shape (H, W, 4)
        Row 0 on top.

    Raises
    ------
    RenderError
        If the file is missing or not an image.
    """
    with held([load_image(exr)]) as (loaded,):
        image: Any = loaded
        width, height = image.size
        pixels = np.empty(height * width * image.channels, np.float32)
        image.pixels.foreach_get(pixels)
    return np.ascontiguousarray(pixels.reshape(height, width, -1)[::-1])


def write_exr(pixels: NDArray[np.float32], exr: Path) -> Path:
    """Write opaque scene-linear pixels, shape (H, W, 3), row 0 on top, as an uncompressed file."""
    with held([new_image(opaque(pixels))]) as (made,):
        image: Any = made
        image.file_format = "OPEN_EXR"
        image.save(filepath=str(exr))
    return exr


@contextmanager
def held(images: Iterable[bpy.types.Image]) -> Iterator[list[bpy.types.Image]]:
    """Remove the images again: Blender keeps every datablock until it is told not to."""
    present: list[bpy.types.Image] = []
    try:
        for image in images:
            present.append(image)  # noqa: PERF402 - what exists when a later one fails goes too
        yield present
    finally:
        for image in present:
            bpy.data.images.remove(image)


def load_image(exr: Path) -> bpy.types.Image:
    """Return an image whose numbers are those of the file.

    Raises
    ------
    RenderError
        If the file is missing or not an image.
    """
    try:
        image: Any = bpy.data.images.load(str(exr), check_existing=False)
    except RuntimeError as error:
        raise RenderError(f"{exr}: cannot be read as an image: {error}") from error
    image.colorspace_settings.name = "Non-Color"
    return image  # type: ignore[no-any-return]


def new_image(rgba: NDArray[np.float32]) -> bpy.types.Image:
    """Return an image of these numbers, shape (H, W, 4), row 0 on top, that no file holds."""
    height, width = rgba.shape[:2]
    image: Any = bpy.data.images.new(
        "pixels", width, height, alpha=True, float_buffer=True, is_data=True
    )
    image.pixels.foreach_set(rgba[::-1].ravel())
    return image  # type: ignore[no-any-return]


def opaque(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return colors, shape (H, W, 3), with an alpha of 1: shape (H, W, 4)."""
    rgba = np.ones((*pixels.shape[:2], 4), np.float32)
    rgba[..., :3] = pixels
    return rgba


def gray_image(values: NDArray[np.float32]) -> bpy.types.Image:
    """Return an opaque gray image of finite values, shape (H, W), row 0 on top."""
    return new_image(opaque(np.repeat(values[..., None], 3, axis=2)))


def coordinate_images(height: int, width: int) -> Iterator[bpy.types.Image]:
    """Yield the column and the row of each pixel's middle, counted from the top left, and 1."""
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32) + np.float32(0.5)
    for values in (columns, rows, np.ones((height, width), np.float32)):
        yield gray_image(values)
