"""Recipes that act on the finished 8-bit image, after all others: what a file format does to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RecipeError
from robustclevr.imaging.jpeg import jpeg_round_trip

if TYPE_CHECKING:
    from robustclevr.recipe import LoadedRecipe
    from robustclevr.records import Step, Value

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class EncodedContext:
    """One application of a recipe of stage ``encoded``; ``build(context)`` returns the new image.

    Attributes
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        sRGB; read-only.
    parameters : mapping of str to Value
        All parameters of the recipe, clamped; those in pixels are scaled from 240 rows to
        :attr:`height`.
    seed : int
        In [0, 2**24).
    height, width : int
        Size of the image. [px]
    """

    image: Image
    parameters: Mapping[str, Value]
    seed: int
    height: int
    width: int

    def number(self, name: str) -> float:
        """Return a parameter as a float."""
        return float(self.parameters[name])

    def jpeg(self, quality: float, *, halve: bool) -> Image:
        """Return what JPEG leaves of the image; see :func:`jpeg_round_trip`."""
        return jpeg_round_trip(self.image, quality, halve=halve)


def apply_encoded(
    image: Image, steps: Sequence[Step], recipes: Mapping[str, LoadedRecipe]
) -> Image:
    """Apply steps of stage ``encoded`` in order; those of severity 0 are left out.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
        sRGB.
    steps : sequence of Step
    recipes : mapping of str to LoadedRecipe
        By id; every step's recipe must be among them.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
        The image itself if no step is active.

    Raises
    ------
    RecipeError
        If a recipe raises or returns something else than such an image; names file and line.
    """
    for step in steps:
        if step.severity > 0:
            image = _apply(image, step, recipes[step.recipe])
    return image


def _apply(image: Image, step: Step, loaded: LoadedRecipe) -> Image:
    from robustclevr.recipe import call_build, first_line, parameters_at

    height, width = image.shape[:2]
    given = image.view()
    given.flags.writeable = False
    parameters = parameters_at(height, step.parameters, loaded)
    result = call_build(loaded, EncodedContext(given, parameters, step.seed, height, width))
    if not (
        isinstance(result, np.ndarray) and result.dtype == np.uint8 and result.shape == image.shape
    ):
        found = f"{result.dtype} {result.shape}" if isinstance(result, np.ndarray) else repr(result)
        raise RecipeError(
            f"{loaded.path}:{first_line(loaded)}: build(context) returned {found}; it must return "
            f"an image like context.image, uint8 {image.shape}"
        )
    return result
