"""Glare: star-shaped streaks around everything brighter than white.

``mix`` has the meaning of the option that Blender's Glare node had up to 4.3, which the authors
set: -1 is the image, 0 the image with all of the glare on it, 1 the glare alone. Between these
the recipe is linear. The old node was not: from -1 to 0 it also brightened the whole image, by
up to an eighth, so that more glare could mean less change (its value at the three named points
is the same).

The authors use the simple star, four diagonal rays, and also draw an ``angle_offset``; Blender
turns streaks only, so their angle had no effect and has none here: it acts on
``kind: streaks``. Length and fade of the rays are Blender's, in pixels, whatever the image's
height.
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

FADE = 0.9  # default of Blender's node, as in the authors' code
THRESHOLD = 1.0  # white
REDUCTION = 2  # the node's medium quality works on an image of half the size
MOST_ITERATIONS = 5  # of Blender's node, which dims streaks of fewer

RECIPE = Recipe(
    id="glare",
    summary="star-shaped streaks around highlights",
    stage="image",
    geometry="keeps",
    parameters=(
        Parameter(
            name="mix",
            clean=-1.0,
            worst=0.5,
            low=-1.0,
            high=1.0,
            source="worst: upper end of ndrenkow/robustclevr TreeModel, u - 0.5; low and high: "
            "range of the option in Blender up to 4.3",
            summary="-1 image, 0 image and glare, 1 glare alone",
        ),
        Parameter(
            name="angle_offset",
            role="nuisance",
            clean=0.0,
            unit="rad",
            source="ndrenkow/robustclevr TreeModel: 2 pi u; without bounds, as whole turns change "
            "nothing",
            summary="turns streaks; the simple star stands still",
        ),
        Parameter(
            name="kind",
            role="nuisance",
            clean="simple_star",
            choices=("simple_star", "streaks"),
            source="ndrenkow/robustclevr TreeModel: SIMPLE_STAR",
            summary="four diagonal rays, or any number of streaks at any angle",
        ),
        Parameter(
            name="streaks",
            role="nuisance",
            clean=4,
            low=1,
            high=16,
            source="default and range of Blender's Glare node",
            summary="number of streaks; the simple star always has four rays",
        ),
        Parameter(
            name="iterations",
            role="nuisance",
            clean=3,
            low=2,
            high=5,
            source="default of ndrenkow/robustclevr's glare; range of Blender's Glare node",
            summary="more make the rays longer",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Blend the image and its glare."""
    mix = context.number("mix")
    kind = str(context.parameters["kind"]).upper()
    glare = context.node(
        "CompositorNodeGlare",
        {
            "Image": context.image,
            "Highlights Threshold": THRESHOLD,
            "Highlights Smoothness": 0.0,  # a sharp threshold is what Blender had up to 4.3
            "Clamp Highlights": False,
            "Strength": 1.0,
            "Saturation": 1.0,
            "Iterations": int(context.parameters["iterations"]),
            "Fade": FADE,
            "Color Modulation": 0.0,  # the authors' value
            "Diagonal Star": True,
            "Streaks": int(context.parameters["streaks"]),
            "Streaks Angle": context.number("angle_offset") % math.tau,
        },
        glare_type=kind,
        quality="MEDIUM",  # default, as in the authors' code
    ).outputs["Glare"]
    image = context.mix("MIX", max(mix, 0.0), context.image, (0.0, 0.0, 0.0, 1.0))
    return context.mix("ADD", min(1.0 + mix, 1.0), image, glare)


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Do the same with numpy."""
    height, width = image.shape[:2]
    small = _resized(image, max(height // REDUCTION, 1), max(width // REDUCTION, 1))
    bright, iterations = _highlights(small), int(params["iterations"])
    if params["kind"] == "simple_star":
        up = bright[::-1]  # Blender walks each diagonal from its lower end
        star = _rays(up, iterations) + _rays(up[:, ::-1], iterations)[:, ::-1]
        glare = star[::-1]
    else:
        count, start = int(params["streaks"]), float(params["angle_offset"]) % math.tau
        angles = start + math.tau / count * np.arange(count)
        glare = sum((_streak(bright, iterations, angle) for angle in angles), np.zeros_like(bright))
        glare /= MOST_ITERATIONS + 1 - iterations
    mix = float(params["mix"])
    mixed = (1.0 - max(mix, 0.0)) * image + min(1.0 + mix, 1.0) * _resized(glare, height, width)
    return mixed.astype(np.float32)


def _resized(image: NDArray[np.floating], height: int, width: int) -> NDArray[np.float64]:
    """Return the image at the centres of other pixels; its border goes on outwards."""
    rows = (np.arange(height) + 0.5) * (image.shape[0] / height) - 0.5
    columns = (np.arange(width) + 0.5) * (image.shape[1] / width) - 0.5
    return _at(image, *np.meshgrid(rows, columns, indexing="ij"), mode="nearest")


def _at(
    image: NDArray[np.floating],
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    mode: str = "grid-constant",
) -> NDArray[np.float64]:
    from scipy import ndimage

    planes = [
        ndimage.map_coordinates(plane, [rows, columns], np.float64, order=1, mode=mode)
        for plane in np.moveaxis(image, -1, 0)
    ]
    return np.stack(planes, axis=-1)


def _highlights(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much each pixel is too bright, in its own hue and saturation."""
    positive = np.maximum(image, 0.0)
    value = positive.max(axis=-1, keepdims=True)
    return positive * (np.maximum(value - THRESHOLD, 0.0) / np.maximum(value, THRESHOLD))


def _rays(image: NDArray[np.float64], iterations: int) -> NDArray[np.float64]:
    """Smear light along the diagonals that go right and down, there and back."""
    height, width = image.shape[:2]
    rows, columns = np.mgrid[:height, :width]
    line, place = columns - rows + height - 1, np.minimum(rows, columns)
    length = min(height, width)
    # Along the first axis one moves on a diagonal; beyond its ends, and the image's, it is dark.
    light = np.zeros((length + 2 * MOST_ITERATIONS, height + width - 1, 3))
    exists = np.zeros((*light.shape[:2], 1))
    cells = (place + MOST_ITERATIONS, line)
    light[cells], exists[cells] = image, FADE
    kept = 1.0 - exists
    half = exists / 2.0
    there = range(MOST_ITERATIONS, MOST_ITERATIONS + length)
    for reach in range(1, iterations):
        for step in (*there, *reversed(there)):
            both = light[step - reach] + light[step + reach]
            light[step] = kept[step] * light[step] + half[step] * both
    return light[cells]


def _streak(image: NDArray[np.float64], iterations: int, angle: float) -> NDArray[np.float64]:
    """Smear light against one direction, each time four times as far."""
    rows, columns = np.mgrid[: image.shape[0], : image.shape[1]].astype(np.float64)
    for iteration in range(iterations):
        reach = 4.0**iteration
        total = image.copy()
        for times in (1, 2, 3):
            away = times * reach
            place = (rows - away * np.sin(angle), columns + away * np.cos(angle))
            total += FADE**away * _at(image, *place)
        image = total / 2.0
    return image
