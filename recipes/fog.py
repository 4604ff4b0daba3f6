"""Fog: the further away, the more of the light is scattered out of the way and white put in.

Koschmieder's law for a homogeneous fog: of the light of a point at distance d, exp(-density d)
arrives, and what is missing is replaced by the fog's own ``light``. The distance comes from the
depth pass, which has one value a pixel; at an object's outline, where the image blends two
distances, the fog takes the one in the pixel's middle. Where recipes before it moved pixels, the
distances moved with them; what came in from outside the image lies deep in the fog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

if TYPE_CHECKING:
    from robustclevr.blender.context import CompositorContext, Socket

RECIPE = Recipe(
    id="fog",
    summary="homogeneous fog, denser to look through the further away things are",
    stage="image",
    geometry="keeps",
    needs=("depth",),
    parameters=(
        Parameter(
            name="density",
            clean=0.0,
            worst=0.08,
            low=0.0,
            high=5.0,
            unit="1/m",
            source="worst: chosen, four tenths of the light arrive from 12 m, the middle of "
            "CLEVR's scenes; high: chosen, nothing is seen any more",
            summary="extinction coefficient of the fog",
        ),
        Parameter(
            name="light",
            role="nuisance",
            clean=0.4,
            low=0.0,
            high=10.0,
            source="chosen: brighter than CLEVR's ground, about 0.25 in scene-linear light, as fog "
            "under a bright sky is",
            summary="scene-linear brightness of the fog itself",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Blend image and fog by what arrives from each pixel's distance."""
    depth = context.channels(context.passes["depth"])[0]
    exponent = context.math("MULTIPLY", depth, -context.number("density"))
    missing = context.math("SUBTRACT", 1.0, context.math("EXPONENT", exponent))
    light = context.number("light")
    return context.mix("MIX", missing, context.image, (light, light, light, 1.0))
