"""Image-stage recipes on a picture that no scene was rendered for.

Enters: a ``.npy`` file of scene-linear pixels and the images to make of it. Leaves: ``.npy``
files, as for a rendered sample. Nothing is rendered.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.blender.compositor import Compositor
from robustclevr.errors import RenderError
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import ImagePlan, from_json

Reply = dict[str, Any]


def composite_picture(
    pixels: Path,
    images: Sequence[Mapping[str, Any]],
    scratch: Path,
    recipes: Mapping[str, LoadedRecipe],
    *,
    follow: bool,
) -> Reply:
    """Apply the steps of each image to one picture.

    Parameters
    ----------
    pixels : Path
        ``.npy`` file, float32 (H, W, 3), scene-linear, row 0 on top.
    images : sequence of mapping
        Each an ``ImagePlan`` as JSON.
    scratch : Path
        Existing folder for the results.
    recipes : mapping of str to LoadedRecipe
    follow : bool
        Whether to follow the pixels that move, by which labels move along.

    Returns
    -------
    dict
        ``images``: per image ``variant`` and the file names ``pixels`` and ``source``, as in the
        reply to a render; ``seconds`` of the compositor.

    Raises
    ------
    RecipeError
        If a recipe raises or breaks its contract.
    RenderError
        If the pixels are not such an array.
    """
    start = time.perf_counter()
    picture = np.load(pixels, allow_pickle=False)
    if picture.dtype != np.float32 or picture.ndim != 3 or picture.shape[2] != 3:
        raise RenderError(f"{pixels.name} is {picture.dtype}{picture.shape}, no float32 (H, W, 3)")
    size = (picture.shape[0], picture.shape[1])
    compositor = Compositor(recipes, scratch)
    try:
        exr = compositor.hold(picture)
        made = [
            _composite(
                compositor,
                exr,
                from_json(ImagePlan, image),
                size,
                scratch / str(number),
                follow=follow,
            )
            for number, image in enumerate(images)
        ]
    finally:
        compositor.clear()
    return {"images": made, "seconds": time.perf_counter() - start}


def _composite(
    compositor: Compositor,
    exr: Path,
    image: ImagePlan,
    size: tuple[int, int],
    target: Path,
    *,
    follow: bool,
) -> Reply:
    pixels = compositor.read_pixels(compositor.apply(exr, image.steps, *size))[..., :3]
    source = compositor.source_map(image.steps, *size) if follow else None
    return {
        "variant": image.variant,
        "pixels": _save(target.with_suffix(".npy"), np.ascontiguousarray(pixels)),
        "source": None if source is None else _save(target.with_suffix(".source.npy"), source),
    }


def _save(path: Path, array: NDArray[Any]) -> str:
    np.save(path, array, allow_pickle=False)
    return path.name
