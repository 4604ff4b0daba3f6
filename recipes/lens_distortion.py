"""Lens distortion: barrel distortion and color fringes; pixels move, and labels with them.

With ``fit`` the image is enlarged until no border is in view (the paper's tree); without it the
corners turn black, or cyan where red alone already lies outside, and labels are background where
green does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

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
