"""Camera motion blur: the camera travels and rolls while its shutter is open.

Rendered with true parallax: near things smear farther than those behind, and reflections go
their own ways, which no blur of the finished image does. A thing at the distance d smears by
speed * shutter * focal length / d. In the middle of the exposure the camera is where the clean
image was taken from, and that is what labels show.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

if TYPE_CHECKING:
    from robustclevr.blender.scene_context import SceneContext

RECIPE = Recipe(
    id="camera_motion_blur",
    summary="the camera travels or rolls while the shutter is open",
    stage="scene",
    geometry="keeps",
    mask_instant="shutter center",
    parameters=(
        Parameter(
            name="shutter",
            clean=0.0,
            worst=0.25,
            low=0.0,
            high=1.0,
            unit="s",
            source="worst: chosen, with the default speed the middle of the floor smears by 23 "
            "pixels of 240 rows; high: chosen",
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
            summary="of the camera, across its line of sight",
        ),
        Parameter(
            name="angle",
            role="nuisance",
            clean=0.0,
            low=-2 * math.pi,
            high=2 * math.pi,
            unit="rad",
            source="a full turn either way",
            summary="where the camera goes: 0 right, a quarter turn up",
        ),
        Parameter(
            name="roll",
            role="nuisance",
            clean=0.0,
            low=-2.0,
            high=2.0,
            unit="rad/s",
            source="low and high: chosen",
            summary="turn about the line of sight; above 0 the camera's top goes left",
        ),
    ),
)


def build(context: SceneContext) -> None:
    """Let the camera move past its place."""
    right, up, _ = context.camera_axes()
    shutter, angle = context.number("shutter"), context.number("angle")
    way = shutter * context.number("speed")
    path = way * (math.cos(angle) * right + math.sin(angle) * up)
    context.expose_moving(context.stage.camera, path, shutter * context.number("roll"))
