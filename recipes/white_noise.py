"""White noise: gray grain is added in scene-linear light, a new number at every pixel.

The authors add Blender's texture of type NOISE. It is gray, and no uniform noise: with the
default depth of 2 a value is the product of three digits drawn from 0..3, over 27, so 58 % of
the pixels stay clean and 1.6 % get the full ``factor`` (mean 1/8, deviation 0.21). That texture
has no seed and left with Blender 5; here the digits come from a white noise with a seed, and
the distribution is the same (measured on bpy 4.5 against the texture itself).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robustclevr.recipe import Parameter, Recipe
from robustclevr.records import Value

if TYPE_CHECKING:
    from robustclevr.blender.context import CompositorContext, Socket

DIGITS = 4
"""Values of one digit: Blender's NOISE texture draws two bits for each."""

RECIPE = Recipe(
    id="white_noise",
    summary="bright gray grain, independent from pixel to pixel",
    stage="image",
    geometry="keeps",
    parameters=(
        Parameter(
            name="factor",
            clean=0.0,
            worst=0.25,
            low=0.0,
            high=2.0,
            source="worst: upper end of ndrenkow/robustclevr TreeModel, 0.25 u; high: chosen, "
            "8 standard deviations of TreeModelV2's HalfNormal(0.25)",
            summary="largest value that is added",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Add ``factor`` times the product of three random digits."""
    grain: Socket = (DIGITS - 1.0) ** -3
    for uniform in context.white_noise():
        digit = context.math("FLOOR", context.math("MULTIPLY", uniform, float(DIGITS)))
        grain = context.math("MULTIPLY", digit, grain)
    gray = context.combine(grain, grain, grain)
    return context.mix("ADD", context.number("factor"), context.image, gray)


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Add grain of the same distribution with numpy; other numbers than Blender's."""
    rng = np.random.Generator(np.random.Philox(seed))
    digits = rng.integers(DIGITS, size=(3, *image.shape[:2])).astype(np.float32)
    grain = digits.prod(axis=0) * np.float32(params["factor"]) * np.float32((DIGITS - 1.0) ** -3)
    return image + grain[..., np.newaxis]
