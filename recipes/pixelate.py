"""Pixelate: the image in square blocks, each of one color.

The authors shrink the image by ``scale`` and enlarge it again, without averaging: a block shows
the pixel in its middle, as here. A block is 1 / ``scale`` pixels wide whatever the image's
height. Blocks start in the lower left corner; the last ones may be cut. Labels become blocks too:
each pixel shows one pixel of the image before, so its label is that pixel's.
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

TIE_PX = 1e-3
"""Added to the middle of a block: one that lies between two pixels shows the upper right one
everywhere. Far above the error of a position in float32."""

RECIPE = Recipe(
    id="pixelate",
    summary="square blocks of one color each",
    stage="image",
    geometry="warps",
    parameters=(
        Parameter(
            name="scale",
            clean=1.0,
            worst=0.2,
            low=0.02,
            high=1.0,
            source="worst: ndrenkow/robustclevr pixelate, downscale 0.2 and upscale 5; low: "
            "chosen, blocks of 50 pixels",
            summary="a block is 1 / scale pixels wide",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Show every pixel of a block as the one in its middle."""
    block = 1.0 / context.number("scale")
    pixel = (1.0 / context.width, 1.0 / context.height, 1.0)
    middle = tuple(0.5 * size for size in pixel)
    # Pixels to blocks, by their middles; the middle of the block; its place in [0, 1].
    place = _vector(context, "MULTIPLY_ADD", context.pixel_coordinates(), 1 / block, 0.5 / block)
    place = _vector(context, "FLOOR", place)
    place = _vector(context, "MULTIPLY_ADD", place, block, 0.5 * block + TIE_PX)
    place = _vector(context, "MULTIPLY", place, pixel)
    # The middle of a block that is cut may lie outside; 1 in the third place is Map UV's alpha.
    place = _vector(context, "MINIMUM", place, (1.0 - middle[0], 1.0 - middle[1], 1.0))
    place = _vector(context, "MAXIMUM", place, (0.0, 0.0, 1.0))
    inputs = {"Image": context.image, "UV": place}
    return context.node("CompositorNodeMapUV", inputs, filter_type="NEAREST").outputs["Image"]


def _vector(
    context: CompositorContext, operation: str, vector: Socket, *others: float | tuple[float, ...]
) -> Socket:
    node = context.node("ShaderNodeVectorMath", operation=operation)
    context.feed(node.inputs[0], vector)
    for socket, value in zip(node.inputs[1:], others, strict=False):
        socket.default_value = value if isinstance(value, tuple) else (value, value, value)
    return node.outputs[0]


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Do the same with numpy."""
    block = 1.0 / float(params["scale"])
    rows, columns = (_middles(length, block) for length in image.shape[:2])
    upwards = len(rows) - 1 - rows[::-1]  # blocks start at the bottom
    return image[upwards][:, columns]


def _middles(length: int, block: float) -> NDArray[np.int64]:
    """Return, for each pixel, that in the middle of its block."""
    number = np.floor((np.arange(length) + 0.5) / block)
    place = np.minimum((number + 0.5) * block + TIE_PX, length - 0.5)
    return place.astype(np.int64)
