"""Sun glare: a low sun in the view, behind the objects.

It shines towards the camera, so that shadows fall forwards and surfaces gleam, and the lens
scatters part of it over the whole image. The veil follows the glare formula of Stiles and
Holladay (CIE 1939): 10 E / theta**2, theta degrees away from the sun, where E is what the lens
receives; within the sun's own half degree it is flat. The sun is a small lamp in front of CLEVR's
wall and not infinitely far, or the wall would hide it. Lamp and veil are exposed apart from the
scene's own lights, so that a faint sun changes an image faintly: the render costs twice its time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from robustclevr.recipe import Parameter, Recipe

if TYPE_CHECKING:
    import bpy

    from robustclevr.blender.scene_context import SceneContext

VEIL = 10.0
"""Stiles and Holladay's constant. [degree**2]"""

CORE = 0.5
"""Where the veil becomes flat: the sun's diameter. [degree]"""

ILLUMINANCE = 2.0
"""What the lens receives at strength 1; chosen: 10 degrees from the sun the veil is 0.2 of full
white."""

LAMP_DISTANCE, LAMP_POWER, LAMP_RADIUS = 15.0, 500.0, 0.15
"""Of the sun behind the objects, at strength 1: chosen, before the wall; the objects are lit
about as much as by CLEVR's key light; shadows have narrow borders. [m, W, m]"""

SCREEN_DISTANCE = 0.2
"""Of the sheet before the lens that carries the veil; behind the near clipping distance. [m]"""

RECIPE = Recipe(
    id="sun_glare",
    summary="a low sun in the view: light from behind, and a veil over the image",
    stage="scene",
    geometry="keeps",
    parameters=(
        Parameter(
            name="strength",
            clean=0.0,
            worst=1.0,
            low=0.0,
            high=4.0,
            source="worst: chosen, where a veil of 0.2 of full white lies 10 degrees from the "
            "sun; high: chosen",
            summary="of the sun",
        ),
        Parameter(
            name="x",
            role="nuisance",
            clean=0.3,
            low=-0.5,
            high=1.5,
            unit="width",
            source="clean: chosen; low and high: chosen, a sun just out of view veils it too",
            summary="where the sun stands in the image, from the left",
        ),
        Parameter(
            name="y",
            role="nuisance",
            clean=0.1,
            low=-0.5,
            high=0.3,
            unit="height",
            source="clean: chosen; low: chosen; high: farther down the lamp would be in the floor",
            summary="where the sun stands in the image, from the top",
        ),
    ),
)


def build(context: SceneContext) -> None:
    """Add the lamp, and the veil on a sheet before the lens."""
    right, up, forward = context.camera_axes()
    lens = context.stage.camera.data
    scale = lens.sensor_width / lens.lens / max(context.height, context.width)
    across = scale * context.width * (context.number("x") - 0.5)
    above = scale * context.height * (0.5 - context.number("y"))
    lamp = _add_lamp(context, (across * right + above * up + forward).normalized())
    length = math.hypot(across, above, 1.0)
    veil = _add_veil(context, (across / length, above / length, 1.0 / length))
    context.expose_apart(lamp, veil)


def _add_lamp(context: SceneContext, direction: object) -> bpy.types.Object:
    import bpy

    data: bpy.types.Light = bpy.data.lights.new("sun in view", "POINT")
    data.energy = LAMP_POWER * context.number("strength")
    data.shadow_soft_size = LAMP_RADIUS
    lamp = bpy.data.objects.new("sun in view", data)
    lamp.location = context.stage.camera.matrix_world.translation + LAMP_DISTANCE * direction
    lamp.visible_camera = False  # the veil has the sun's disk
    context.stage.scene.collection.objects.link(lamp)
    return lamp


def _add_veil(context: SceneContext, toward: tuple[float, float, float]) -> bpy.types.Object:
    """Put a glowing sheet before the lens that only the camera sees, and that hides nothing."""
    material, nodes = context.new_material("veil")
    # Camera space here: x right, y up, z forward.
    place = nodes.add("ShaderNodeTexCoord").outputs["Camera"]
    gaze = nodes.add("ShaderNodeVectorMath", {"operation": "NORMALIZE"})
    nodes.tree.links.new(place, gaze.inputs[0])
    product = nodes.add("ShaderNodeVectorMath", {"operation": "DISTANCE"})
    nodes.tree.links.new(gaze.outputs["Vector"], product.inputs[0])
    product.inputs[1].default_value = toward
    # A chord of the unit sphere, which keeps its digits where a cosine would lose them.
    half = nodes.calculate("MULTIPLY", product.outputs["Value"], 0.5)
    theta = nodes.calculate("MULTIPLY", nodes.calculate("ARCSINE", half), math.degrees(2.0))
    square = nodes.calculate("POWER", nodes.calculate("MAXIMUM", theta, CORE), 2.0)
    veil = nodes.calculate("DIVIDE", VEIL * ILLUMINANCE * context.number("strength"), square)
    glow = nodes.add("ShaderNodeEmission", Color=(1.0, 0.95, 0.85, 1.0), Strength=veil)
    clear = nodes.add("ShaderNodeBsdfTransparent", Color=(1.0, 1.0, 1.0, 1.0))
    both = nodes.add("ShaderNodeAddShader")
    nodes.tree.links.new(glow.outputs[0], both.inputs[0])
    nodes.tree.links.new(clear.outputs[0], both.inputs[1])
    nodes.add("ShaderNodeOutputMaterial", Surface=both.outputs[0])
    sheet: bpy.types.Object = context.add_mesh("veil", _corners(context), [(0, 1, 2, 3)], material)
    sheet.parent = context.stage.camera
    for rays in ("diffuse", "glossy", "transmission", "volume_scatter", "shadow"):
        setattr(sheet, f"visible_{rays}", False)
    return sheet


def _corners(context: SceneContext) -> list[tuple[float, float, float]]:
    """Return a square in the camera's own space that covers its view and more."""
    lens = context.stage.camera.data
    half = SCREEN_DISTANCE * lens.sensor_width / lens.lens
    return [(x * half, y * half, -SCREEN_DISTANCE) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
