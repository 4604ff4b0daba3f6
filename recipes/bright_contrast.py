"""Bright/contrast: brightness and contrast set wrong, in scene-linear light.

Blender's node multiplies and shifts every channel. Negative contrast c draws the image towards
half of full white: out = (1 + c/100) (in + bright/100) - c/200. At the authors' contrasts, from
-100 to -80, a fifth of the image's own contrast is left at most; at -100 the image is one gray.
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

TREE = "ndrenkow/robustclevr TreeModel"

RECIPE = Recipe(
    id="bright_contrast",
    summary="washed out: contrast and brightness taken away",
    stage="image",
    geometry="keeps",
    parameters=(
        Parameter(
            name="bright",
            clean=0.0,
            worst=-20.0,
            low=-100.0,
            high=100.0,
            unit="percent",
            source=f"worst: lower end of {TREE}, 4 u - 20; low and high: range of Blender's "
            "Bright/Contrast node",
            summary="added to every channel, in percent of full white",
        ),
        Parameter(
            name="contrast",
            clean=0.0,
            worst=-100.0,
            low=-100.0,
            high=90.0,
            unit="percent",
            source=f"worst: lower end of {TREE}, 20 u - 100, and of Blender's Bright/Contrast "
            "node; high: chosen, ten times the contrast, as the node divides by zero at 100",
            summary="-100 leaves one gray; above 0 differences grow",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Apply Blender's Bright/Contrast node."""
    node = context.node(
        "CompositorNodeBrightContrast",
        {
            "Image": context.image,
            "Bright": context.number("bright"),
            "Contrast": context.number("contrast"),
        },
    )
    return node.outputs["Image"]


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Do the same with numpy, as Blender's node calculates."""
    bright, contrast = float(params["bright"]) / 100.0, float(params["contrast"]) / 100.0
    if contrast > 0.0:
        slope = 1.0 / (1.0 - contrast)
        offset = slope * (bright - contrast / 2.0)
    else:
        slope = 1.0 + contrast
        offset = slope * bright - contrast / 2.0
    return image * np.float32(slope) + np.float32(offset)
