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

from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

if TYPE_CHECKING:
    from robustclevr.blender.context import CompositorContext, Socket

TURN_RAD = 6.283185307179586

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
            low=0.0,
            high=TURN_RAD,
            unit="rad",
            source="range of ndrenkow/robustclevr TreeModel, 2 pi u",
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
            "Highlights Threshold": 1.0,
            "Highlights Smoothness": 0.0,  # a sharp threshold is what Blender had up to 4.3
            "Clamp Highlights": False,
            "Strength": 1.0,
            "Saturation": 1.0,
            "Iterations": int(context.parameters["iterations"]),
            "Fade": 0.9,  # default, as in the authors' code
            "Color Modulation": 0.0,  # the authors' value
            "Diagonal Star": True,
            "Streaks": int(context.parameters["streaks"]),
            "Streaks Angle": context.number("angle_offset"),
        },
        glare_type=kind,
        quality="MEDIUM",  # default, as in the authors' code
    ).outputs["Glare"]
    image = context.mix("MIX", max(mix, 0.0), context.image, (0.0, 0.0, 0.0, 1.0))
    return context.mix("ADD", min(1.0 + mix, 1.0), image, glare)
