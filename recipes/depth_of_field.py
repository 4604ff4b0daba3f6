"""Depth of field: a wide lens, sharp at one distance only; rendered, not painted.

Unlike ``defocus``, which blurs all of the image alike, near and far things blur by how far they
lie from the plane of focus, and their edges let what is behind shine through. A point at the
distance d from a lens of focal length f that is focused at s becomes a disk of the diameter
aperture * f / (s - f) * |d - s| / d on the sensor (thin lens). CLEVR's meter is the size of a
toy's world: an aperture of half of it does what f/2 does on a table.

Labels are those of the sharp image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

if TYPE_CHECKING:
    from robustclevr.blender.scene_context import SceneContext

RECIPE = Recipe(
    id="depth_of_field",
    summary="a wide lens: blur that grows away from the plane of focus",
    stage="scene",
    geometry="keeps",
    parameters=(
        Parameter(
            name="aperture",
            clean=0.0,
            worst=1.5,
            low=0.0,
            high=4.0,
            unit="m",
            source="worst: chosen, in CLEVR's scenes objects 3 m before or behind the plane of "
            "focus blur to disks of 18 pixels in 240 rows; high: chosen",
            summary="diameter of the entrance pupil; the f-number is 0.035 m / aperture",
        ),
        Parameter(
            name="focus_distance",
            role="nuisance",
            clean=0.0,
            low=0.0,
            high=100.0,
            unit="m",
            source="high: far clipping distance of CLEVR's camera",
            summary="from the camera along its axis; 0 focuses on the middle of the floor",
        ),
        Parameter(
            name="blades",
            role="nuisance",
            clean=0,
            low=0,
            high=16,
            source="range of Blender's aperture blades",
            summary="sides of the aperture; below 3 it is round",
        ),
    ),
)


def build(context: SceneContext) -> None:
    """Open the lens."""
    camera = context.stage.camera
    lens = camera.data
    # The camera looks at the origin, so that is how far away the middle of the floor is.
    distance = context.number("focus_distance") or camera.matrix_world.translation.length
    lens.dof.use_dof = True
    lens.dof.focus_distance = distance
    lens.dof.aperture_fstop = lens.lens / 1000.0 / context.number("aperture")
    lens.dof.aperture_blades = int(context.parameters["blades"])
