"""Fog volume: the air over the floor scatters light; rendered as a volume.

Along a path of length d the share exp(-density * d) of the light comes through, and the lamps
shine into the fog: things far away fade, lamps get halos, shadows become shafts. The fog fills the
room up to the top of CLEVR's wall, and not all of space, through which no sun would reach the
floor. It must hold every surface: a path that leaves the fog and meets one takes its next random
numbers from elsewhere, and the thinnest fog would change the noise of the whole image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

if TYPE_CHECKING:
    from robustclevr.blender.scene_context import SceneContext

HALF_SIDE, BOTTOM, TOP = 36.0, -1.0, 24.0
"""Of the box of fog: holds CLEVR's floor and wall, which reach 33 m to the side and 23.2 m up,
its lamps and its camera. [m]"""

BOUNCES = 4
"""How often light scatters in the fog; chosen: with fewer, dense fog is dark."""

RECIPE = Recipe(
    id="fog_volume",
    summary="fog between the camera, the lamps and the objects",
    stage="scene",
    geometry="keeps",
    parameters=(
        Parameter(
            name="density",
            clean=0.0,
            worst=0.06,
            low=0.0,
            high=1.0,
            unit="1/m",
            source="worst: chosen, half of the light reaches CLEVR's camera from the middle of the "
            "floor, 11 m away; high: chosen, nothing is seen",
            summary="share of light that is scattered, per meter of its path",
        ),
        Parameter(
            name="anisotropy",
            role="nuisance",
            clean=0.0,
            low=-0.9,
            high=0.9,
            source="range of Henyey and Greenstein's phase function, less its singular ends",
            summary="above 0 light is scattered forwards, as by droplets; below 0 back",
        ),
    ),
)


def build(context: SceneContext) -> None:
    """Fill a box with fog."""
    material, nodes = context.new_material("fog")
    scatter = nodes.add(
        "ShaderNodeVolumeScatter",
        Color=(1.0, 1.0, 1.0, 1.0),
        Density=context.number("density"),
        Anisotropy=context.number("anisotropy"),
    )
    nodes.add("ShaderNodeOutputMaterial", Volume=scatter.outputs[0])
    sides, heights = (-HALF_SIDE, HALF_SIDE), (BOTTOM, TOP)
    corners = [(x, y, z) for x in sides for y in sides for z in heights]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    context.add_mesh("fog", corners, faces, material)
    context.stage.scene.cycles.volume_bounces = BOUNCES
