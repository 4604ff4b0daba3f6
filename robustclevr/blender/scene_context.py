"""What a scene-stage recipe's ``build`` works with: the built scene, before it is rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from robustclevr.blender.scene import Stage
from robustclevr.blender.shader_nodes import ShaderNodes, new_material
from robustclevr.recipe import LoadedRecipe, call_build, parameters_at
from robustclevr.records import RenderSettings, Step, Value

_SIDES = (-1, 1)
"""Frames with keys, seen from the middle of the exposure. The shutter is open for one frame, so
keys two frames apart lie twice a path apart."""


@dataclass(frozen=True)
class SceneContext:
    """One application of a scene-stage recipe; ``build(context)`` changes the stage in place.

    Attributes
    ----------
    stage : Stage
        Blender's scene, camera, ground, objects and lights. It is thrown away after the render.
    parameters : mapping of str to Value
        All parameters of the recipe, clamped; those in pixels are scaled from 240 rows to
        :attr:`height`.
    seed : int
        Seed of whatever the recipe scatters, in [0, 2**24).
    height, width : int
        Size of the image. [px]
    """

    stage: Stage
    parameters: Mapping[str, Value]
    seed: int
    height: int
    width: int

    def number(self, name: str) -> float:
        """Return a parameter as a float."""
        return float(self.parameters[name])

    def uniforms(self, count: int) -> list[float]:
        """Return numbers in [0, 1) that follow :attr:`seed`; the same ones at every call."""
        rng = np.random.Generator(np.random.Philox(key=self.seed))
        return [float(value) for value in rng.random(count)]

    def camera_axes(self) -> tuple[Vector, Vector, Vector]:
        """Return the camera's right, up and forward axes: unit vectors in world space."""
        axes = self.stage.camera.matrix_world.to_3x3().normalized()
        return axes.col[0], axes.col[1], -axes.col[2]

    def new_material(self, name: str) -> tuple[bpy.types.Material, ShaderNodes]:
        """Return an empty material and what adds nodes to it."""
        return new_material(name)

    def add_mesh(
        self,
        name: str,
        vertices: Sequence[Sequence[float]],
        faces: Sequence[Sequence[int]],
        material: bpy.types.Material,
    ) -> Any:
        """Add a mesh to the scene.

        Parameters
        ----------
        name : str
        vertices : sequence of 3 floats
            In world space. [m]
        faces : sequence of sequence of int
            Indices of vertices.
        material : bpy.types.Material

        Returns
        -------
        bpy.types.Object
        """
        data = bpy.data.meshes.new(name)
        data.from_pydata(vertices, [], faces)
        data.materials.append(material)
        thing = bpy.data.objects.new(name, data)
        self.stage.scene.collection.objects.link(thing)
        return thing

    def expose_apart(self, *things: Any) -> None:
        """Let lights, or things that glow, shine in an exposure of their own.

        Light adds up, so the image is the one of a single exposure. But one more light among
        the others would change which of them Cycles samples where, and with that the noise of
        the whole image, however faint it is; apart, it leaves the others' noise as it was.

        Parameters
        ----------
        *things : bpy.types.Object
            Must hide nothing and throw no shadow, as the others' light does not meet them.
        """
        self.stage.apart.extend(things)

    def expose_moving(self, thing: Any, path: Sequence[float], roll_rad: float = 0.0) -> None:
        """Let something move evenly while the shutter is open.

        At the middle of the exposure it stands where it stood, which is where labels show it.
        Motions of several steps add up.

        Parameters
        ----------
        thing : bpy.types.Object
        path : 3 floats
            Way between the opening and the closing of the shutter, in world space. [m]
        roll_rad : float
            Turn about its own z axis on that way, counter-clockwise seen from +z. [rad]
        """
        scene = self.stage.scene
        _open_shutter(scene)
        thing.rotation_mode = "QUATERNION"
        middle = scene.frame_current
        poses = []
        for side in _SIDES:
            scene.frame_set(middle + side)
            turn = Quaternion((0.0, 0.0, 1.0), side * roll_rad)
            poses.append((thing.location + side * Vector(path), thing.rotation_quaternion @ turn))
        for side, (place, rotation) in zip(_SIDES, poses, strict=True):
            thing.location, thing.rotation_quaternion = place, rotation
            thing.keyframe_insert("location", frame=middle + side)
            thing.keyframe_insert("rotation_quaternion", frame=middle + side)
        _move_evenly(thing)
        scene.frame_set(middle)


def apply_scene_steps(
    stage: Stage,
    steps: Sequence[Step],
    recipes: Mapping[str, LoadedRecipe],
    settings: RenderSettings,
) -> None:
    """Apply scene-stage steps in order; those of severity 0 are left out.

    Raises
    ------
    RecipeError
        If a recipe raises; names its file and line.
    """
    for step in steps:
        if step.severity > 0:
            _apply(stage, step, recipes[step.recipe], settings)


def _apply(stage: Stage, step: Step, loaded: LoadedRecipe, settings: RenderSettings) -> None:
    parameters = parameters_at(settings.height, step.parameters, loaded)
    call_build(loaded, SceneContext(stage, parameters, step.seed, settings.height, settings.width))


def _open_shutter(scene: Any) -> None:
    render = scene.render
    render.use_motion_blur = True
    render.motion_blur_position, render.motion_blur_shutter = "CENTER", 1.0


def _move_evenly(thing: Any) -> None:
    """Draw straight lines between keys: Blender's own curves start and end slowly."""
    animation = thing.animation_data
    for layer in animation.action.layers:
        for strip in layer.strips:
            for curve in strip.channelbag(animation.action_slot).fcurves:
                for key in curve.keyframe_points:
                    key.interpolation = "LINEAR"
