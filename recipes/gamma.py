"""Gamma: every channel is raised to a power, in scene-linear light, before any clipping.

Above 1 everything darker than full white darkens. Zero and negative values stay as they are.

Severity 0.01 is an exponent of 1.01. That changes no 8-bit sRGB value by more than one level:
the slope of 255 x**(gamma / 2.4) in gamma is at most 255 / e = 94, reached at ln(x) = -2.4. The
authors' largest exponent, 3, would be too large a unit for that.
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
    id="gamma",
    summary="darker midtones, as a wrong exposure or display",
    stage="image",
    geometry="keeps",
    parameters=(
        Parameter(
            name="gamma",
            clean=1.0,
            worst=2.0,
            low=0.1,
            high=10.0,
            source="worst: upper end of ndrenkow/robustclevr ChainModel, 1 + u (TreeModel goes on "
            "to 3, which is severity 1 too); low and high: chosen so that highlights 1000 times "
            "white stay finite in float32",
            summary="exponent",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Raise red, green and blue to the power ``gamma``."""
    return context.gamma(context.image, context.number("gamma"))


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Do the same with numpy."""
    raised = np.power(np.maximum(image, 0.0), np.float32(params["gamma"]))
    return np.where(image > 0.0, raised, image)
