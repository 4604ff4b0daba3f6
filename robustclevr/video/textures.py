"""Where textures come from: crops of a folder's pictures, or procedural ones.

A folder is only listed; a picture is opened when a clip has drawn it. One that cannot be used is
left out for that clip, named in its record, and another is drawn in its place.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from robustclevr.errors import SamplingError, SpecError
from robustclevr.records import Texture
from robustclevr.video.natural import natural_texture
from robustclevr.video.shapes import reach

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".ppm")

MOST_ZOOM = 4.0
"""Chosen: pictures are used pixel by pixel where they are large enough, and smaller ones, such as
CIFAR's, enlarged; beyond four times a crop is one smooth blur."""

_DRAWS_PER_TEXTURE = 32  # chosen: with half of all pictures broken, one in 10^9 textures fails
_TEXTURE_SEEDS = 2**63
_MOST_PIXELS = 2**26  # of a picture: 200 MB decoded


@dataclass(frozen=True)
class Chosen:
    """Textures, and the pictures that were drawn for them and left out."""

    textures: tuple[Texture, ...]
    left_out: tuple[str, ...]


def crop_side(shape: str, unit: float) -> int:
    """Return the side of a crop that covers a sprite at scale 1, however it is turned. [px]."""
    return 2 * math.ceil(reach(shape) * unit) + 3


@lru_cache(maxsize=4)
def list_pictures(folder: str) -> tuple[str, ...]:
    """Return the pictures below a folder, sorted, with ``/`` between the parts of a path.

    Raises
    ------
    SpecError
        If it is no folder, or holds no file with one of :data:`SUFFIXES`.
    """
    if not Path(folder).is_dir():
        raise SpecError.single(
            f"{folder} is not a folder",
            path="video.textures",
            hint="give a folder of pictures, or leave it out: procedural textures need none",
        )
    names = sorted(
        Path(parent, name).relative_to(folder).as_posix()
        for parent, _, files in os.walk(folder)  # asks for no file's type: ImageNet has a million
        for name in files
        if name.lower().endswith(SUFFIXES)
    )
    if not names:
        raise SpecError.single(
            f"no picture in or below {folder}",
            path="video.textures",
            hint=f"put pictures there ({', '.join(SUFFIXES)}), or leave it out: procedural "
            "textures need none",
        )
    return tuple(names)


def choose_textures(folder: str | None, sides: Sequence[int], rng: np.random.Generator) -> Chosen:
    """Choose one texture for each side.

    Parameters
    ----------
    folder : str or None
        None for procedural textures.
    sides : sequence of int
        Side of the square that each texture must fill. [px]
    rng : numpy.random.Generator

    Returns
    -------
    Chosen

    Raises
    ------
    SpecError
        If the folder has no pictures.
    SamplingError
        If too many of those drawn are broken or too small; names them.
    """
    if folder is None:
        seeds = rng.integers(_TEXTURE_SEEDS, size=len(sides)).tolist()
        return Chosen(tuple(Texture(None, seed, 1.0, 0, 0) for seed in seeds), ())
    names = list_pictures(folder)
    left_out: dict[str, str] = {}
    textures = tuple(_choose(folder, names, side, rng, left_out) for side in sides)
    return Chosen(textures, tuple(f"{name}: {why}" for name, why in left_out.items()))


def _choose(
    folder: str,
    names: Sequence[str],
    side: int,
    rng: np.random.Generator,
    left_out: dict[str, str],
) -> Texture:
    for _ in range(_DRAWS_PER_TEXTURE):
        name = names[int(rng.integers(len(names)))]
        u_top, u_left = rng.random(2).tolist()
        try:
            height, width, _ = _open(folder, name).shape
        except _UnusableError as error:
            left_out[name] = str(error)
            continue
        if min(height, width) * MOST_ZOOM < side:
            least = math.ceil(side / MOST_ZOOM)
            left_out[name] = f"{width}x{height} px, needs at least {least}x{least}"
            continue
        zoom = max(1.0, side / min(height, width))
        top, left = (
            int(u * (_enlarged(length, zoom) - side + 1))
            for u, length in ((u_top, height), (u_left, width))
        )
        texture = Texture(name, 0, zoom, top, left)
        _crop(texture, folder, side)  # kept until the clip is rendered, unlike the whole picture
        return texture
    listing = "\n".join(f"  {name}: {why}" for name, why in left_out.items())
    raise SamplingError(
        f"none of {_DRAWS_PER_TEXTURE} pictures drawn from {folder} can be used:\n{listing}\n"
        "remove or replace them, or leave video.textures out: procedural textures need no folder"
    )


def _enlarged(length: int, zoom: float) -> int:
    return max(length, math.ceil(length * zoom))


class _UnusableError(Exception):
    """A picture cannot be decoded."""


@lru_cache(maxsize=1)
def _open(folder: str, name: str) -> NDArray[np.uint8]:
    """Decode one picture as sRGB, shape (H, W, 3)."""
    path = Path(folder, name)
    try:
        with Image.open(path) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise _UnusableError(f"{picture.width}x{picture.height} px, too large")
            return np.asarray(picture.convert("RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        # The reason goes into the clip's record, which must not tell where the folder stands.
        reason = str(error).replace(str(path), name)
        raise _UnusableError(f"cannot be decoded ({reason})") from None


def texture_pixels(texture: Texture, folder: str | None, side: int) -> NDArray[np.uint8]:
    """Return the square that a texture fills.

    Parameters
    ----------
    texture : Texture
    folder : str or None
        The folder it was chosen from.
    side : int
        As it was chosen for. [px]

    Returns
    -------
    ndarray of uint8, shape (side, side, 3)
        sRGB.

    Raises
    ------
    SamplingError
        If the picture is no longer what it was when the clip was drawn.
    """
    if texture.picture is None:
        return natural_texture(texture.seed, side)
    if folder is None:
        raise SamplingError(f"the clip needs the picture {texture.picture}: give video.textures")
    return _crop(texture, folder, side)


@lru_cache(maxsize=64)  # more than the textures of a clip
def _crop(texture: Texture, folder: str, side: int) -> NDArray[np.uint8]:
    try:
        pixels = _open(folder, str(texture.picture))
    except _UnusableError as error:
        raise SamplingError(f"{folder}/{texture.picture}: {error}") from None
    if texture.zoom > 1.0:
        height, width = (_enlarged(length, texture.zoom) for length in pixels.shape[:2])
        resized = Image.fromarray(pixels).resize((width, height), Image.Resampling.BILINEAR)
        pixels = np.asarray(resized)
    # A copy, for a view would keep the whole picture in memory.
    crop = pixels[texture.top : texture.top + side, texture.left : texture.left + side].copy()
    if crop.shape != (side, side, 3):
        raise SamplingError(
            f"{folder}/{texture.picture} has changed since the clip was drawn: its crop is "
            f"{crop.shape[1]}x{crop.shape[0]} px and must be {side}x{side}"
        )
    crop.flags.writeable = False
    return crop
