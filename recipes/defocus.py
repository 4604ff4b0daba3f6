"""Defocus: Blender's Defocus node with a round aperture, the same blur at every depth.

The authors put a constant on the node's Z socket and leave its z-buffer off, so ``z`` is the
radius of the disk in pixels and Blender does not read ``f_stop`` at all; it is kept because
their models draw it. The node leaves the image as it is below z = 1, and at 1 a disk is three
pixels wide; so below 1 the image is blended with that disk's, and blur begins without a jump.
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

SMALLEST_PX = 1.0
"""Below this radius Blender's node does nothing (measured on bpy 4.5)."""

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
    radius = context.number("z")
    drawn = max(radius, SMALLEST_PX)
    node = context.node(
        "CompositorNodeDefocus",
        {"Image": context.image, "Z": drawn},
        use_zbuffer=False,
        z_scale=1.0,
        bokeh="CIRCLE",
        # The node searches this far around each pixel and sharpens its disk to it: the radius
        # itself is 4 times faster than 64 and lets the blur grow evenly between whole radii.
        blur_max=drawn,
        f_stop=context.number("f_stop"),
    )
    return context.mix("MIX", min(radius / SMALLEST_PX, 1.0), context.image, node.outputs["Image"])


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Do the same with numpy; the image's border is extended outwards, as by the node."""
    from scipy import ndimage

    radius = float(params["z"])
    disk = _disk(max(radius, SMALLEST_PX))
    blurred = ndimage.correlate(image, disk[..., np.newaxis], mode="nearest")
    return image + np.float32(min(radius / SMALLEST_PX, 1.0)) * (blurred - image)


def _disk(radius: float) -> NDArray[np.float64]:
    """Return the weights of Blender's node, which sum to 1.

    It draws a disk with a soft edge at the next whole radius and shrinks that by interpolation.
    """
    from scipy import ndimage

    whole, reach = math.ceil(radius), math.floor(radius)
    rows, columns = np.mgrid[-whole : whole + 1, -whole : whole + 1]
    drawn = np.clip(whole + 0.5 - np.hypot(rows, columns), 0.0, 1.0)
    places = np.arange(-reach, reach + 1) * (2 * whole + 1) / (2.0 * radius + 1.0) + whole + 1
    grid = np.stack(np.meshgrid(places, places, indexing="ij"))
    disk = ndimage.map_coordinates(np.pad(drawn, 1), grid, order=1)
    disk[reach, reach] = 1.0
    return disk / disk.sum()
