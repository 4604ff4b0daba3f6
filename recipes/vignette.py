"""Vignette: a lens that lets less light through the further it is from the image's middle.

Natural vignetting follows the fourth power of the cosine of the angle to the optical axis, which
is 1 / (1 + tan(angle)**2)**2. Here the tangent is proportional to the distance from the middle,
as in any camera without distortion, and so chosen that the corners lose ``loss`` of their light.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

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
    square_at_corner = 1.0 / math.sqrt(1.0 - context.number("loss")) - 1.0
    scale = math.sqrt(square_at_corner) / (0.5 * math.hypot(height, width))
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
