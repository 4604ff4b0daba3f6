"""Clouds: a gray cloud pattern is added in scene-linear light, a new one for every seed.

The authors add Blender's texture of type CLOUDS, which has no seed (every image got the same
clouds) and left with Blender 5. Here a fractal noise takes its place with the texture's own
numbers: 8 units along each side of the image (size 0.25 over [-1, 1]), three octaves (depth 2),
mean 0.497 and deviation 0.103 (measured on bpy 4.5). So the image also brightens, by half of
``factor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

if TYPE_CHECKING:
    from robustclevr.blender.context import CompositorContext, Socket

UNITS_A_SIDE = 8.0
OCTAVES_ABOVE_THE_FIRST = 2.0
MEAN, DEVIATION = 0.497, 0.103
"""Of the authors' texture; see above."""

NOISE_MEAN, NOISE_DEVIATION = 0.499, 0.082
"""Of Blender's normalized fBM noise with these octaves (measured on bpy 4.5, 40 seeds)."""

SLICES, SHIFT = 65536, 32.0
"""A seed is a slice of the three-dimensional noise and a shift within it. Blender's noise repeats
after 100,000 units, so 65,536 slices and 256 shifts keep all 2**24 seeds apart; a shift is far
wider than the image, and small enough for float32 to place the pixels."""

RECIPE = Recipe(
    id="clouds",
    summary="haze in soft patches over the whole image",
    stage="image",
    geometry="keeps",
    parameters=(
        Parameter(
            name="factor",
            clean=0.0,
            worst=0.3,
            low=0.0,
            high=2.0,
            source="worst: upper end of ndrenkow/robustclevr TreeModel, 0.3 u; high: chosen, "
            "beyond 6 standard deviations of TreeModelV2's HalfNormal(0.3)",
            summary="weight of the clouds, which lie between 0 and 1",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Add ``factor`` times the clouds of the seed."""
    shift, piece = divmod(context.seed, SLICES)
    place = context.node("ShaderNodeVectorMath", operation="MULTIPLY_ADD")
    context.feed(place.inputs[0], context.pixel_coordinates())
    place.inputs[1].default_value = (
        UNITS_A_SIDE / context.width,
        UNITS_A_SIDE / context.height,
        0.0,
    )
    place.inputs[2].default_value = (shift * SHIFT, 0.0, float(piece))
    noise = context.node(
        "ShaderNodeTexNoise",
        {
            "Vector": place.outputs[0],
            "Scale": 1.0,
            "Detail": OCTAVES_ABOVE_THE_FIRST,
            "Roughness": 0.5,
            "Lacunarity": 2.0,
            "Distortion": 0.0,
        },
        noise_dimensions="3D",
        noise_type="FBM",
        normalize=True,
    ).outputs["Fac"]
    stretch = DEVIATION / NOISE_DEVIATION
    centered = context.math("SUBTRACT", noise, NOISE_MEAN - MEAN / stretch)
    cloud = context.math("MULTIPLY", centered, stretch, clamp=True)
    gray = context.combine(cloud, cloud, cloud)
    return context.mix("ADD", context.number("factor"), context.image, gray)
