"""Scene record to Blender objects: camera, lights, ground and what stands on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

import bpy
import numpy as np
from mathutils import Matrix, Vector

from robustclevr.blender.ground import ground_mesh
from robustclevr.blender.materials import MATERIALS, plain_ground
from robustclevr.blender.meshes import UNIT_MESHES, Mesh
from robustclevr.errors import RenderError, suggest
from robustclevr.records import Camera, Light, Scene, SceneObject

GROUND_NAME = "ground"
CLIP = (0.1, 100.0)
"""Near and far clipping distance of CLEVR's camera. [m]"""

AREA_LIGHT_FACTOR = math.pi / 4
"""What today's Blender needs for the energy that CLEVR's file gives its area lights: before 4.0
Cycles spread an area light's power over a solid angle of 4 and not of pi (blender/blender#109404).
Without it the ground at the bottom of the image is 17 levels brighter than CLEVR's."""

_LIGHT_KINDS: Mapping[str, Any] = MappingProxyType({"area": "AREA", "sun": "SUN"})
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class Stage:
    """What a built scene consists of.

    Attributes
    ----------
    scene : bpy.types.Scene
    camera : bpy.types.Object
    ground : bpy.types.Object
    objects : tuple of bpy.types.Object
        In the record's order; element i - 1 has pass index i.
    lights : mapping of str to bpy.types.Object
        By the record's names.
    apart : list of bpy.types.Object
        Lights, and things that glow, that recipes added and that light the scene in an exposure
        of their own: ``robustclevr.blender.exposures``.
    """

    scene: Any
    camera: Any
    ground: Any
    objects: tuple[Any, ...]
    lights: Mapping[str, Any]
    apart: list[Any] = field(default_factory=list)


def build_scene(scene: Any, record: Scene) -> Stage:
    """Put all of ``record`` into an empty Blender scene.

    There is no world: nothing shines but the lights, as in CLEVR, whose world has strength 0.

    Raises
    ------
    RenderError
        If the record names a shape, material or kind of light that is not known.
    """
    camera = _add_camera(scene, record.camera)
    lights = {light.name: _add_light(scene, light) for light in record.lights}
    ground = _add_mesh(scene, GROUND_NAME, bpy_mesh(GROUND_NAME, ground_mesh()))
    ground.data.materials.append(plain_ground())
    wardrobe = _Wardrobe()
    objects = tuple(
        _add_object(scene, number, item, wardrobe.mesh(item.shape, item.material))
        for number, item in enumerate(record.objects, 1)
    )
    # Matrices of new objects are only filled in by this.
    scene.view_layers[0].update()
    return Stage(scene, camera, ground, objects, lights)


def bpy_mesh(name: str, mesh: Mesh) -> Any:
    """Return a ``bpy.types.Mesh`` with the vertices, triangles and exact normals of ``mesh``."""
    data = bpy.data.meshes.new(name)
    count = len(mesh.triangles)
    data.vertices.add(len(mesh.vertices))
    data.vertices.foreach_set("co", mesh.vertices.astype(np.float32).ravel())
    data.loops.add(3 * count)
    data.loops.foreach_set("vertex_index", mesh.triangles.ravel())
    data.polygons.add(count)
    data.polygons.foreach_set("loop_start", np.arange(0, 3 * count, 3, dtype=np.int32))
    data.polygons.foreach_set("use_smooth", np.ones(count, dtype=bool))
    data.update(calc_edges=True)
    data.normals_split_custom_set_from_vertices(mesh.normals.astype(np.float32))
    return data


def _add_camera(scene: Any, record: Camera) -> Any:
    data = bpy.data.cameras.new("camera")
    data.lens, data.sensor_width = record.focal_mm, record.sensor_width_mm
    data.sensor_fit = "AUTO"
    data.clip_start, data.clip_end = CLIP
    camera = bpy.data.objects.new("camera", data)
    scene.collection.objects.link(camera)
    camera.matrix_world = Matrix(record.world_from_camera)
    scene.camera = camera
    return camera


def _add_light(scene: Any, record: Light) -> Any:
    if record.kind not in _LIGHT_KINDS:
        hint = suggest(record.kind, _LIGHT_KINDS)
        raise RenderError(f"light '{record.name}' has the kind '{record.kind}'; {hint}")
    data: Any = bpy.data.lights.new(record.name, _LIGHT_KINDS[record.kind])
    data.color, data.use_shadow = record.rgb, True
    if record.kind == "area":
        data.energy = AREA_LIGHT_FACTOR * record.energy
        data.shape, data.size = "SQUARE", record.size
    else:
        data.energy = record.energy
        # What Blender's own conversion of 2.7 files makes of a sun's soft size.
        data.angle = 2.0 * math.atan(record.size)
    light = bpy.data.objects.new(record.name, data)
    scene.collection.objects.link(light)
    light.visible_camera = False
    aim = Vector(record.direction).to_track_quat("-Z", "Y")
    light.matrix_world = Matrix.LocRotScale(Vector(record.position), aim, None)
    return light


def _add_object(scene: Any, number: int, record: SceneObject, mesh: Any) -> Any:
    thing = _add_mesh(scene, f"object_{number}", mesh)
    thing.matrix_world = Matrix.LocRotScale(
        Vector(record.position),
        Matrix.Rotation(record.yaw_rad, 3, "Z"),
        Vector((record.radius,) * 3),
    )
    thing.color = record.rgba
    thing.pass_index = number
    return thing


class _Wardrobe:
    """The meshes of one scene: each shape is made once, and copied for the second material."""

    def __init__(self) -> None:
        self._materials: dict[str, Any] = {}
        self._shapes: dict[str, Any] = {}
        self._dressed: dict[tuple[str, str], Any] = {}

    def mesh(self, shape: str, material: str) -> Any:
        """Return the unit mesh of a shape in a material."""
        if (shape, material) not in self._dressed:
            if material not in self._materials:
                self._materials[material] = _known(MATERIALS, "material", material)()
            if shape not in self._shapes:
                self._shapes[shape] = bpy_mesh(shape, _known(UNIT_MESHES, "shape", shape)())
            mesh = self._shapes[shape].copy()
            mesh.materials.append(self._materials[material])
            self._dressed[shape, material] = mesh
        return self._dressed[shape, material]


def _known(table: Mapping[str, Callable[[], _Made]], kind: str, name: str) -> Callable[[], _Made]:
    if name not in table:
        raise RenderError(f"unknown {kind} '{name}'; {suggest(name, table)}")
    return table[name]


def _add_mesh(scene: Any, name: str, data: Any) -> Any:
    thing = bpy.data.objects.new(name, data)
    scene.collection.objects.link(thing)
    return thing
