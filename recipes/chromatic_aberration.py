"""Chromatic aberration: red and blue are imaged a little larger and smaller than green.

Lateral aberration alone: red grows and blue shrinks around the image's middle, by ``shift`` at
the corners, and edges there get red and blue fringes. Green stays, and labels with it. Blender's
Lens Distortion node would bend green too (by 2 pixels at dispersion 0.5, measured on bpy 4.5), so
the channels are scaled apart. Where shrunk blue no longer reaches the border, blue stays as it was.
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
    id="chromatic_aberration",
    summary="color fringes that grow from the middle to the corners",
    stage="image",
    geometry="keeps",
    parameters=(
        Parameter(
            name="shift",
            clean=0.0,
            worst=6.0,
            low=0.0,
            high=40.0,
            unit="px",
            source="worst: chosen, 3 % of the distance from middle to corner, several times what "
            "photographers correct; high: chosen, a fifth of that distance",
            summary="how far red and blue each part from green in the corners",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Scale red up and blue down."""
    part = context.number("shift") / (0.5 * math.hypot(context.height, context.width))
    _, green, blue, _ = context.channels(context.image)
    # A scaled image has a size of its own; what is added to the image's pixels comes back to them.
    still = context.math("MULTIPLY", green, 0.0)
    grown, _, _, _ = context.channels(_scaled(context, 1.0 + part))
    red = context.math("ADD", still, grown)
    _, _, shrunk, covered = context.channels(_scaled(context, 1.0 - part))
    bare = context.math("SUBTRACT", 1.0, context.math("ADD", still, covered))
    rest = context.math("MULTIPLY", bare, blue)
    return context.combine(red, green, context.math("ADD", rest, shrunk))


def _scaled(context: CompositorContext, scale: float) -> Socket:
    opaque = context.with_alpha(context.image, 1.0)
    node = context.node(
        "CompositorNodeTransform",
        {"Image": opaque, "X": 0.0, "Y": 0.0, "Angle": 0.0, "Scale": scale},
        filter_type="BILINEAR",
    )
    return node.outputs["Image"]


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Do the same with numpy."""
    part = float(params["shift"]) / (0.5 * math.hypot(*image.shape[:2]))
    result = image.copy()
    result[..., 0], _ = _resampled(image[..., 0], 1.0 + part)
    shrunk, covered = _resampled(image[..., 2], 1.0 - part)
    result[..., 2] += shrunk - covered * image[..., 2]
    return result


def _resampled(
    channel: NDArray[np.float32], scale: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return a channel scaled around its middle, and how much of each pixel it covers."""
    from scipy import ndimage

    shift = 0.5 * (1.0 - 1.0 / scale) * (np.array(channel.shape) - 1)
    scaled, covered = (
        ndimage.affine_transform(
            values, np.full(2, 1.0 / scale), shift, order=1, mode="grid-constant"
        )
        for values in (channel, np.ones_like(channel))
    )
    return scaled, covered
