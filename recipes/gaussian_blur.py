"""Gaussian blur: Blender's Blur node with its Gaussian filter, the same in all directions.

``size`` is the node's kernel radius; the standard deviation is about a third of it. The authors
rounded it down to an integer, which their distributions give anyway; fractions work. Their
smallest size, 1, already blurs: the clean value of today's node is 0. The image's border is
extended outwards, so a constant image stays constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

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
