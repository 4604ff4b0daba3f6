"""Defocus: Blender's Defocus node with a round aperture, the same blur at every depth.

The authors put a constant on the node's Z socket and leave its z-buffer off, so ``z`` is the
radius of the disk in pixels and Blender does not read ``f_stop`` at all; it is kept because
their models draw it. Below z = 1 the node leaves the image as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

if TYPE_CHECKING:
    from robustclevr.blender.context import CompositorContext, Socket

RECIPE = Recipe(
    id="defocus",
    summary="a lens out of focus: every point becomes a disk",
    stage="image",
    geometry="keeps",
    parameters=(
        Parameter(
            name="z",
            clean=0.0,
            worst=10.0,
            low=0.0,
            high=16.0,
            unit="px",
            source="worst: largest z of ndrenkow/robustclevr TreeModel, 1 + Categorical(10); "
            "high: default blur_max of Blender's Defocus node, in force in the authors' code",
            summary="radius of the disk",
        ),
        Parameter(
            name="f_stop",
            role="nuisance",
            clean=128.0,
            low=0.0,
            high=128.0,
            source="default and range of Blender's Defocus node",
            summary="as the authors draw it; without a z-buffer Blender does not read it",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Replace every pixel by a disk of radius ``z``."""
    node = context.node(
        "CompositorNodeDefocus",
        {"Image": context.image, "Z": context.number("z")},
        use_zbuffer=False,
        z_scale=1.0,
        bokeh="CIRCLE",
        # The node searches this far around each pixel and sharpens its disk to it: the radius
        # itself is 4 times faster than 64 and lets the blur grow evenly between whole radii.
        blur_max=context.number("z"),
        f_stop=context.number("f_stop"),
    )
    return node.outputs["Image"]
