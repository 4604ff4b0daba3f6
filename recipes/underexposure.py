"""Underexposure: too little light, and so the noise of few photons and of the sensor's amplifier.

The light that falls on the sensor is cut by ``stops`` (each halves it). Photons arrive at random,
with a variance of their number, and reading adds a noise of its own; ``gain`` makes up for a
share of the lost stops, and amplifies the noise with the picture. What counts as clean is a well
exposed picture, noise included; so what is added here is the noise that it lacks:
variance = (L / photons) (2**-stops - 4**-stops) + (read_noise / photons)**2 (1 - 4**-stops)
before the gain, for the linear light L. It vanishes with ``stops``. The law is Gaussian, which
above some ten photons is close to Poisson's; below zero nothing is clipped but by the final image.

An image-stage recipe: the sensor sees the finished image, so no other render is needed.
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
    id="underexposure",
    summary="too little light: darker, with the grain of photons and sensor",
    stage="image",
    geometry="keeps",
    parameters=(
        Parameter(
            name="stops",
            clean=0.0,
            worst=5.0,
            low=0.0,
            high=10.0,
            unit="stop",
            source="worst: chosen, 1/32 of the light; high: chosen, 1/1024",
            summary="each halves the light",
        ),
        Parameter(
            name="gain",
            role="nuisance",
            clean=0.5,
            low=0.0,
            high=1.0,
            source="clean: chosen, dark and grainy at once; low and high: none and all",
            summary="share of the lost stops that amplification brings back",
        ),
        Parameter(
            name="photons",
            role="nuisance",
            clean=2000.0,
            low=10.0,
            high=100000.0,
            unit="electron",
            source="clean: chosen, a pixel of a small sensor at a high ISO number; range: chosen",
            summary="that full white gives in a pixel of the well exposed picture",
        ),
        Parameter(
            name="read_noise",
            role="nuisance",
            clean=3.0,
            low=0.0,
            high=100.0,
            unit="electron",
            source="clean: chosen, usual for CMOS sensors; high: chosen",
            summary="standard deviation of what reading adds",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Darken, and add noise to each channel."""
    light = 2.0 ** -context.number("stops")
    gain = 2.0 ** (context.number("stops") * context.number("gain"))
    photons = context.number("photons")
    per_light = (light - light**2) / photons
    fixed = (1.0 - light**2) * (context.number("read_noise") / photons) ** 2
    channels = []
    normals = _normals(context)
    for channel, normal in zip(context.channels(context.image)[:3], normals, strict=True):
        positive = context.math("MAXIMUM", channel, 0.0)
        variance = context.math("ADD", context.math("MULTIPLY", positive, per_light), fixed)
        noise = context.math("MULTIPLY", context.math("SQRT", variance), normal)
        dark = context.math("MULTIPLY", channel, light)
        channels.append(context.math("MULTIPLY", context.math("ADD", dark, noise), gain))
    return context.combine(*channels)


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Darken and add noise of the same law with numpy; other numbers than Blender's."""
    stops, photons = float(params["stops"]), float(params["photons"])
    light, gain = 2.0**-stops, 2.0 ** (stops * float(params["gain"]))
    fixed = (1.0 - light**2) * (float(params["read_noise"]) / photons) ** 2
    variance = np.maximum(image, 0.0) * ((light - light**2) / photons) + fixed
    rng = np.random.Generator(np.random.Philox(seed))
    noise = np.sqrt(variance) * rng.standard_normal(image.shape)
    return (gain * (light * image + noise)).astype(np.float32)


def _normals(context: CompositorContext) -> list[Socket]:
    """Return three independent standard normal numbers a pixel (Box and Muller, 1958)."""
    first = context.white_noise()
    second = context.white_noise(layer=1)
    lengths, turns = (first[0], second[0]), (first[1], second[1])
    normals = []
    for uniform, turn in zip(lengths, turns, strict=True):
        # 1 - u lies in (0, 1], where the logarithm is finite.
        log = context.math("LOGARITHM", context.math("SUBTRACT", 1.0, uniform), math.e)
        length = context.math("SQRT", context.math("MULTIPLY", log, -2.0))
        angle = context.math("MULTIPLY", turn, 2.0 * math.pi)
        normals += [
            context.math("MULTIPLY", length, context.math(wave, angle))
            for wave in ("COSINE", "SINE")
        ]
    return normals[:3]
