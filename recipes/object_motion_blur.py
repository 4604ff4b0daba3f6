"""Object motion blur: the objects slide over the floor while the shutter is open.

Each goes straight at the same speed in a direction of its own, drawn from the seed; floor and
camera stand still and stay sharp. An object that crosses the line of sight at the distance d
leaves a streak of speed * shutter * focal length / d. In the middle of the exposure all are where
the clean image shows them, and that is what labels show.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

if TYPE_CHECKING:
    from robustclevr.blender.scene_context import SceneContext

RECIPE = Recipe(
    id="object_motion_blur",
    summary="objects slide while the shutter is open; the floor stays sharp",
    stage="scene",
    geometry="keeps",
    mask_instant="shutter center",
    parameters=(
        Parameter(
            name="shutter",
            clean=0.0,
            worst=0.4,
            low=0.0,
            high=1.0,
            unit="s",
            source="worst: chosen, with the default speed an object slides by 1.2 m, the width of "
            "a large one; high: chosen",
            summary="how long the shutter is open; 0 is the clean image",
        ),
        Parameter(
            name="speed",
            role="nuisance",
            clean=3.0,
            low=0.0,
            high=20.0,
            unit="m/s",
            source="clean and high: chosen",
            summary="of every object",
        ),
        Parameter(
            name="angle",
            role="nuisance",
            clean=0.0,
            low=-2 * math.pi,
            high=2 * math.pi,
            unit="rad",
            source="a full turn either way",
            summary="mean direction in the floor: 0 to the right of the image, a quarter turn away",
        ),
        Parameter(
            name="spread",
            role="nuisance",
            clean=math.pi,
            low=0.0,
            high=math.pi,
            unit="rad",
            source="clean and high: half a turn, so that every direction is as likely",
            summary="each object's direction is uniform within this of the mean",
        ),
    ),
)


def build(context: SceneContext) -> None:
    """Let every object move past its place."""
    things = context.stage.objects
    right, _, _ = context.camera_axes()
    along = math.atan2(right.y, right.x)  # of the image's right, in the floor
    way = context.number("shutter") * context.number("speed")
    for thing, uniform in zip(things, context.uniforms(len(things)), strict=True):
        turn = context.number("angle") + context.number("spread") * (2.0 * uniform - 1.0)
        direction = along + turn
        path = (way * math.cos(direction), way * math.sin(direction), 0.0)
        context.expose_moving(thing, path)
