"""Displace: the whole image is shifted to the upper right; pixels move, and labels with them.

The authors use Blender's Displace node and leave its vector socket alone, which then holds
(1, 1): every pixel moves by the same ``scale`` along both axes, and what comes in from outside is
black. So their "displacement" is a shift, and it is one here. The node itself interpolates
differently in Blender 4.5 and 5 (by up to 0.28 px, measured); here the image is looked up at the
four nearest pixels and blended, which is the same in both and exact for labels.

Severity 0.01 is a quarter of a pixel at 240 rows, which changes 8-bit values by less than one
level on average. The authors' largest shift, 100 pixels, would be too large a unit for that.
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

RECIPE = Recipe(
    id="displace",
    summary="the whole image shifted to the upper right, black where nothing is left",
    stage="image",
    geometry="warps",
    parameters=(
        Parameter(
            name="scale",
            clean=0.0,
            worst=25.0,
            low=0.0,
            high=240.0,
            unit="px",
            source="worst: chosen, a quarter of the upper end of ndrenkow/robustclevr TreeModel, "
            "100 u; high: chosen, the image's height, where nothing is left of it",
            summary="shift along each axis",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Blend the image shifted by the whole pixels on either side of ``scale``."""
    whole, fraction = divmod(context.number("scale"), 1.0)
    image = _shifted(context, whole, whole)
    if fraction == 0.0:
        return image
    beside = context.mix("MIX", fraction, image, _shifted(context, whole + 1.0, whole))
    above, corner = (_shifted(context, whole + right, whole + 1.0) for right in (0.0, 1.0))
    above = context.mix("MIX", fraction, above, corner)
    return context.mix("MIX", fraction, beside, above)


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Shift with numpy, as the nodes do."""
    scale = float(params["scale"])
    whole, part = int(scale // 1.0), scale % 1.0
    shifted = np.zeros_like(image)
    for right, across in ((0, 1.0 - part), (1, part)):
        for up, along in ((0, 1.0 - part), (1, part)):
            moved = _moved(image, whole + right, whole + up)
            shifted += np.float32(across * along) * moved
    return shifted


def _moved(image: NDArray[np.float32], right: int, up: int) -> NDArray[np.float32]:
    """Return the image moved by whole pixels; black comes in."""
    height, width = image.shape[:2]
    moved = np.zeros_like(image)
    rows, columns = max(height - up, 0), max(width - right, 0)
    moved[:rows, width - columns :] = image[height - rows :, :columns]
    return moved


def _shifted(context: CompositorContext, right: float, up: float) -> Socket:
    """Return the image moved by whole pixels; black comes in."""
    source = _vector(context, "SUBTRACT", context.pixel_coordinates(), (right, up, 0.0))
    # Map UV rounds towards zero and would show pixel 0 in place of pixel -1 too: twice -1 is
    # outside for it.
    source = _vector(context, "MINIMUM", source, _vector(context, "ADD", source, source))
    pixel = 1.0 / context.width, 1.0 / context.height
    place = context.node("ShaderNodeVectorMath", operation="MULTIPLY_ADD")
    context.feed(place.inputs[0], source)
    place.inputs[1].default_value = (*pixel, 0.0)
    # The middle of the pixel to look at; 1 in the third place is Map UV's own alpha.
    place.inputs[2].default_value = (0.5 * pixel[0], 0.5 * pixel[1], 1.0)
    inputs = {"Image": context.image, "UV": place.outputs[0]}
    return context.node("CompositorNodeMapUV", inputs, filter_type="NEAREST").outputs["Image"]


def _vector(context: CompositorContext, operation: str, a: Socket, b: Socket) -> Socket:
    node = context.node("ShaderNodeVectorMath", operation=operation)
    context.feed(node.inputs[0], a)
    context.feed(node.inputs[1], b)
    return node.outputs[0]
