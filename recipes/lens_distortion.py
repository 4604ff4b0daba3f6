"""Lens distortion: barrel distortion and color fringes; pixels move, and labels with them.

With ``fit`` the image is enlarged until no border is in view (the paper's tree); without it the
corners turn black, or cyan where red alone already lies outside, and labels are background where
green does.
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
    id="lens_distortion",
    summary="a wide lens: bent lines, color fringes towards the edges",
    stage="image",
    geometry="warps",
    parameters=(
        Parameter(
            name="distort",
            clean=0.0,
            worst=0.1,
            low=0.0,
            high=1.0,
            source="worst: upper end of ndrenkow/robustclevr TreeModel, 0.1 u; high: limit of "
            "Blender's Lens Distortion node",
            summary="strength of the barrel distortion",
        ),
        Parameter(
            name="dispersion",
            clean=0.0,
            worst=0.5,
            low=0.0,
            high=1.0,
            source="worst: upper end of ndrenkow/robustclevr TreeModel, 0.5 u; high: limit of "
            "Blender's Lens Distortion node",
            summary="how far red and blue part from green",
        ),
        Parameter(
            name="fit",
            role="nuisance",
            clean=False,
            source="default of ndrenkow/robustclevr's lensdist; its TreeModel sets True",
            summary="scale so that no black border shows",
        ),
    ),
)


def build(context: CompositorContext) -> Socket:
    """Distort around the image's center."""
    node = context.node(
        "CompositorNodeLensdist",
        {
            "Image": context.image,
            "Distortion": context.number("distort"),
            "Dispersion": context.number("dispersion"),
            "Jitter": False,  # its pattern has no seed, and is never neutral
            "Fit": bool(context.parameters["fit"]),
        },
        distortion_type="RADIAL",
    )
    return node.outputs["Image"]


def apply(
    image: NDArray[np.float32], params: Mapping[str, Value], seed: int
) -> NDArray[np.float32]:
    """Do the same with numpy, as Blender's node calculates.

    Red, green and blue each have a strength. A channel is gathered along the way from its own
    place towards its neighbor's, with weights that fall along it.
    """
    height, width = image.shape[:2]
    strength, outside, x, y = _geometry(params, height, width)
    result = np.zeros((height, width, 3))
    weight = np.zeros((height, width, 3))
    for one, other in ((0, 1), (1, 2)):
        ends = [_place(strength[channel], x, y) for channel in (one, other)]
        gap = np.hypot(*(a - b for a, b in zip(*ends, strict=True)))
        steps = (gap + 1.0).astype(np.int64)
        for step in range(int(steps.max())):
            share = np.where(step < steps, (step + 0.5) / steps, 0.0)
            column, row = _place(strength[one] + share * (strength[other] - strength[one]), x, y)
            taken = (step < steps).astype(np.float64)
            for channel, part in ((one, taken * (1.0 - share)), (other, taken * share)):
                result[..., channel] += part * _bilinear(image[..., channel], column, row)
                weight[..., channel] += part
    result /= weight
    result[outside] = 0.0
    return result.astype(np.float32)


def _geometry(
    params: Mapping[str, Value], height: int, width: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Return the channels' strengths, where one of them sees nothing, and places from -1 to 1."""
    distort, fringe = float(params["distort"]), float(params["dispersion"]) / 4.0
    strength = np.clip([distort + fringe, distort, distort - fringe], -0.999, 1.0)
    most = float(strength.max())
    scale = 1.0 / (1.0 + 2.0 * most) if params["fit"] and most > 0.0 else 1.0 / (1.0 + most)
    x = scale * ((np.arange(width) + 0.5) / (width / 2) - 1.0)
    y = scale * ((np.arange(height) + 0.5) / (height / 2) - 1.0)
    across, down = np.meshgrid(x, y)
    distance = across**2 + down**2
    outside = (4.0 * strength[:, np.newaxis, np.newaxis] * distance > 1.0).any(axis=0)
    return 4.0 * strength, outside, across, down


def _place(
    strength: NDArray[np.float64], x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return column and row that are seen at a place; pixel centers at +0.5."""
    height, width = x.shape
    shrink = 1.0 / (1.0 + np.sqrt(np.maximum(0.0, 1.0 - strength * (x**2 + y**2))))
    return (x * shrink + 0.5) * width, (y * shrink + 0.5) * height


def _bilinear(
    channel: NDArray[np.float32], column: NDArray[np.float64], row: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Interpolate; everything outside the image is 0."""
    from scipy import ndimage

    places = np.stack([row, column]) + 0.5  # of the padded image, whose first pixel has center 0
    padded = np.pad(channel, 1)
    last = np.array(padded.shape)[:, np.newaxis, np.newaxis] - 1
    return ndimage.map_coordinates(padded, np.clip(places, 0, last), order=1)
