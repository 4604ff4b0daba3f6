"""Gaussian blur: Blender's Blur node with its Gaussian filter, the same in all directions.

``size`` is the node's kernel radius; the standard deviation is about a third of it. The authors
rounded it down to an integer, which their distributions give anyway; fractions work. Their
smallest size, 1, already blurs: the clean value of today's node is 0. The image's border is
extended outwards, so a constant image stays constant.
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
    id="gaussian_blur",
    summary="soft focus, the same in all directions",
    stage="image",
    geometry="keeps",
    parameters=(
        Parameter(
            name="size",
            clean=0.0,
            worst=11.0,
            low=0.0,
            high=64.0,
            unit="px",
            source="worst: largest size of ndrenkow/robustclevr TreeModel, 1 + Categorical(11); "
            "high: chosen, a quarter of the image's height",
            summary="kernel radius, about three standard deviations",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Blur with equal radii along both axes."""
    size = context.number("size")
    inputs = {"Image": context.image, "Size": (size, size), "Extend Bounds": False}
    return context.node("CompositorNodeBlur", inputs, filter_type="GAUSS").outputs["Image"]


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Do the same with numpy: Blender's Gaussian is sampled up to three standard deviations."""
    from scipy import ndimage

    radius = float(params["size"])
    offsets = np.arange(-math.ceil(radius), math.ceil(radius) + 1)
    weights = np.exp(-4.5 * (offsets / radius) ** 2) if radius > 0.0 else np.ones(1)
    weights /= weights.sum()
    for axis in (0, 1):
        image = ndimage.correlate1d(image, weights, axis=axis, mode="nearest")
    return image
