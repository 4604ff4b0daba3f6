"""Clouds: a gray cloud pattern is added in scene-linear light, a new one for every seed.

The authors add Blender's texture of type CLOUDS, which has no seed (every image got the same
clouds) and left with Blender 5. Here a fractal noise takes its place with the texture's own
numbers: 8 units along each side of the image (size 0.25 over [-1, 1]), three octaves (depth 2),
mean 0.497 and deviation 0.103 (measured on bpy 4.5). So the image also brightens, by half of
``factor``.
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

GRADIENT_DEVIATION = 0.2157
"""Of gradient noise in the plane with gradients of length 1 and Perlin's fade of fifth degree, on
average over a cell: its variance is the mean of sum(weight**2 * distance**2) / 2, 0.04653."""

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


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Add clouds of the same size, mean and deviation with numpy; others than Blender's."""
    rng = np.random.Generator(np.random.Philox(seed))
    octaves = range(int(OCTAVES_ABOVE_THE_FIRST) + 1)
    noise = sum(0.5**k * _gradient_noise(rng, image.shape[:2], 2**k) for k in octaves)
    deviation = GRADIENT_DEVIATION * math.sqrt(sum(0.25**k for k in octaves))
    cloud = np.clip(MEAN + DEVIATION / deviation * noise, 0.0, 1.0)
    return image + (np.float32(params["factor"]) * cloud.astype(np.float32))[..., np.newaxis]


def _gradient_noise(
    rng: np.random.Generator, size: tuple[int, ...], frequency: int
) -> NDArray[np.float64]:
    """Return Perlin's noise over ``UNITS_A_SIDE * frequency`` cells along each side."""
    cells = int(UNITS_A_SIDE * frequency)
    angle = 2.0 * np.pi * rng.random((cells + 1, cells + 1))
    y, x = np.meshgrid(*(np.arange(n) * cells / n for n in size), indexing="ij")
    row, column = y.astype(np.int64), x.astype(np.int64)
    y, x = y - row, x - column
    fade_y, fade_x = (t**3 * (t * (6.0 * t - 15.0) + 10.0) for t in (y, x))
    total = np.zeros(size)
    for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
        corner = angle[row + down, column + right]
        slope = np.cos(corner) * (x - right) + np.sin(corner) * (y - down)
        weight_y = fade_y if down else 1.0 - fade_y
        weight_x = fade_x if right else 1.0 - fade_x
        total += weight_y * weight_x * slope
    return total
