"""Cloud shadows: soft-edged patches of shade lie over floor and objects.

A sheet of clouds hangs below the lamps and above the objects and lets through 1 - depth of the
light where there is a cloud; the camera does not see it. So shade falls the way the lamps shine:
it climbs over objects, and each lamp has its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

if TYPE_CHECKING:
    from robustclevr.blender.scene_context import SceneContext

HEIGHT = 1.9
"""Of the sheet: above CLEVR's large objects (1.4 m), below its lowest lamp (2.0 m). [m]"""

HALF_SIDE = 20.0
"""Of the sheet. [m]"""

MEAN, DEVIATION = 0.5, 0.085
"""Of Blender's normalized fBM noise with two octaves above the first (measured on bpy 4.5)."""

EDGE = 0.25
"""Width of a cloud's edge, in deviations of the noise; chosen: a narrow penumbra."""

SHIFT_M = 1000.0
"""A seed is a place in the noise, which has no period that comes near to this. [m]"""

RECIPE = Recipe(
    id="cloud_shadows",
    summary="patches of shade over floor and objects",
    stage="scene",
    geometry="keeps",
    parameters=(
        Parameter(
            name="depth",
            clean=0.0,
            worst=0.9,
            low=0.0,
            high=1.0,
            source="worst: chosen, the shade of a dense cloud; high: no light comes through",
            summary="share of the light that a cloud keeps back",
        ),
        Parameter(
            name="cover",
            role="nuisance",
            clean=0.5,
            low=0.05,
            high=0.95,
            source="clean, low and high: chosen",
            summary="share of the sky under clouds, roughly",
        ),
        Parameter(
            name="size",
            role="nuisance",
            clean=3.0,
            low=0.2,
            high=20.0,
            unit="m",
            source="clean: chosen, twice as large as CLEVR's large objects; low and high: chosen",
            summary="of a cloud",
        ),
    ),
)


def build(context: SceneContext) -> None:
    """Hang up the sheet."""
    material, nodes = context.new_material("clouds")
    place = nodes.add("ShaderNodeVectorMath", {"operation": "MULTIPLY_ADD"})
    nodes.tree.links.new(nodes.add("ShaderNodeNewGeometry").outputs["Position"], place.inputs[0])
    size = context.number("size")
    place.inputs[1].default_value = (1.0 / size, 1.0 / size, 1.0 / size)
    place.inputs[2].default_value = [SHIFT_M * uniform for uniform in context.uniforms(3)]
    noise = nodes.add(
        "ShaderNodeTexNoise",
        {"noise_dimensions": "3D", "noise_type": "FBM", "normalize": True},
        Vector=place.outputs["Vector"],
        Scale=1.0,
        Detail=2.0,
        Roughness=0.5,
        Lacunarity=2.0,
        Distortion=0.0,
    )
    ramp = nodes.calculate("SUBTRACT", noise.outputs[0], _threshold(context.number("cover")))
    ramp = nodes.calculate("DIVIDE", ramp, EDGE * DEVIATION)
    cloud = nodes.calculate("ADD", ramp, 0.5, clamp=True)
    light = nodes.calculate("MULTIPLY", cloud, -context.number("depth"))
    light = nodes.calculate("ADD", light, 1.0, clamp=True)
    clear = nodes.add("ShaderNodeBsdfTransparent", Color=light)
    nodes.add("ShaderNodeOutputMaterial", Surface=clear.outputs[0])
    side = HALF_SIDE
    corners = [(x * side, y * side, HEIGHT) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    sheet = context.add_mesh("clouds", corners, [(0, 1, 2, 3)], material)
    for rays in ("camera", "diffuse", "glossy", "transmission", "volume_scatter"):
        setattr(sheet, f"visible_{rays}", False)


def _threshold(cover: float) -> float:
    """Return the value that the share ``cover`` of the noise exceeds, as if it were logistic."""
    return MEAN - DEVIATION * math.log(cover / (1.0 - cover)) * math.sqrt(3.0) / math.pi
