"""Vignette: a lens that lets less light through the further it is from the image's middle.

Natural vignetting follows the fourth power of the cosine of the angle to the optical axis, which
is 1 / (1 + tan(angle)**2)**2. Here the tangent is proportional to the distance from the middle,
as in any camera without distortion, and so chosen that the corners lose ``loss`` of their light.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robustclevr.recipe import Parameter, Recipe
from robustclevr.records import Value

if TYPE_CHECKING:
    from robustclevr.blender.context import CompositorContext, Socket

RECIPE = Recipe(
    id="vignette",
    summary="darker towards the corners, as a lens that is too narrow",
    stage="image",
    geometry="keeps",
    parameters=(
        Parameter(
            name="loss",
            clean=0.0,
            worst=0.95,
            low=0.0,
            high=0.99,
            source="worst: chosen, a lens of 62 degrees from axis to corner; high: chosen, all but "
            "a hundredth of the light",
            summary="part of the light that is missing in the corners",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Multiply by the fourth power of the cosine."""
    height, width = context.height, context.width
    scale = _tangent_of_a_pixel(context.number("loss"), height, width)
    # Coordinates of the pixels, from the middle of the image, in tangents of the angle.
    place = context.node("ShaderNodeVectorMath", operation="MULTIPLY_ADD")
    context.feed(place.inputs[0], context.pixel_coordinates())
    place.inputs[1].default_value = (scale, scale, 0.0)
    place.inputs[2].default_value = (scale * 0.5 * (1 - width), scale * 0.5 * (1 - height), 0.0)
    square = context.node("ShaderNodeVectorMath", operation="DOT_PRODUCT")
    context.feed(square.inputs[0], place.outputs[0])
    context.feed(square.inputs[1], place.outputs[0])
    secant = context.math("ADD", square.outputs["Value"], 1.0)
    light = context.math("POWER", secant, -2.0)
    return context.mix("MULTIPLY", 1.0, context.image, context.combine(light, light, light))


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Do the same with numpy."""
    height, width = image.shape[:2]
    scale = _tangent_of_a_pixel(float(params["loss"]), height, width)
    rows, columns = np.mgrid[0:height, 0:width] - 0.5 * np.reshape(
        (height - 1, width - 1), (2, 1, 1)
    )
    light = (1.0 + scale**2 * (rows**2 + columns**2)) ** -2.0
    return image * light[..., np.newaxis].astype(np.float32)


def _tangent_of_a_pixel(loss: float, height: int, width: int) -> float:
    square_at_corner = 1.0 / math.sqrt(1.0 - loss) - 1.0
    return math.sqrt(square_at_corner) / (0.5 * math.hypot(height, width))
