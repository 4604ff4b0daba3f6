"""Image-stage recipes by their numpy twins, for pictures that no renderer made.

A picture and the steps of an image enter; the picture under these steps leaves, and for steps
that move pixels the map of where each came from, by which labels follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RecipeError
from robustclevr.recipe import LoadedRecipe, parameters_at
from robustclevr.records import Step

_TIE_PX = 1e-3
"""Added to source positions before rounding down, as for the same recipes in Blender."""


def apply_steps(
    image: NDArray[np.float32], steps: Iterable[Step], recipes: Mapping[str, LoadedRecipe]
) -> NDArray[np.float32]:
    """Apply steps to a picture in order.

    Parameters
    ----------
    image : ndarray of float32, shape (H, W, 3)
        Scene-linear.
    steps : iterable of Step
        Those of severity 0 are left out, so that a clean node gives the clean picture bit for bit.
    recipes : mapping of str to LoadedRecipe

    Returns
    -------
    ndarray of float32, shape (H, W, 3)

    Raises
    ------
    RecipeError
        If a recipe has no twin, raises, or gives another shape or numbers that are not finite;
        names its file.
    """
    for step in steps:
        if step.severity > 0:
            image = _applied(image, step, recipes[step.recipe])
    return image


def source_map(
    steps: Iterable[Step], height: int, width: int, recipes: Mapping[str, LoadedRecipe]
) -> NDArray[np.int32] | None:
    """Follow the pixels through the steps that move them.

    The coordinates of the pixels go through the same steps as gray pictures; green is read, so
    that a color fringe is followed in its middle.

    Returns
    -------
    ndarray of int32, shape (height, width), or None
        Flat index ``row * width + column`` of the pixel that is seen, -1 where none is. None if
        no active step moves pixels.
    """
    warps = [
        step
        for step in steps
        if step.severity > 0 and recipes[step.recipe].recipe.geometry == "warps"
    ]
    if not warps:
        return None
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32) + np.float32(0.5)
    column, row, weight = (
        apply_steps(np.repeat(plane[..., np.newaxis], 3, axis=-1), warps, recipes)[..., 1]
        for plane in (columns, rows, np.ones_like(rows))
    )
    seen = weight >= 0.5
    whole = np.where(seen, weight, 1.0)
    left = np.clip(np.floor(column / whole + _TIE_PX), 0, width - 1)
    top = np.clip(np.floor(row / whole + _TIE_PX), 0, height - 1)
    return np.where(seen, top * width + left, -1).astype(np.int32)


def without_twin(ids: Iterable[str], recipes: Mapping[str, LoadedRecipe]) -> Sequence[str]:
    """Return those of some recipes that only Blender can apply.

    A recipe of stage ``encoded`` acts on 8-bit pictures and never needs it.
    """
    chosen = [(recipe_id, recipes[recipe_id]) for recipe_id in ids]
    return [
        recipe_id
        for recipe_id, loaded in chosen
        if loaded.recipe.stage == "scene" or (loaded.recipe.stage == "image" and not loaded.apply)
    ]


def _applied(image: NDArray[np.float32], step: Step, loaded: LoadedRecipe) -> NDArray[np.float32]:
    if loaded.apply is None:
        raise RecipeError(f"{loaded.path}: has no numpy twin 'apply': only Blender can apply it")
    parameters = parameters_at(image.shape[0], step.parameters, loaded)
    try:
        result = np.asarray(loaded.apply(image, parameters, step.seed), dtype=np.float32)
    except Exception as error:
        raise RecipeError(f"{loaded.path}: apply: {type(error).__name__}: {error}") from error
    if result.shape != image.shape or not np.isfinite(result).all():
        raise RecipeError(
            f"{loaded.path}: apply gives {result.shape}, or numbers that are not finite, from "
            f"{image.shape} with {dict(step.parameters)}"
        )
    return result
