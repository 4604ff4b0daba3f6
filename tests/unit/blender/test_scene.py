from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from robustclevr.errors import RenderError
from robustclevr.records import Light

pytestmark = pytest.mark.blender


@pytest.fixture
def build(make_plan):
    from robustclevr.blender import scene, session

    def make(record, *, size=(48, 64)):
        blender_scene = session.reset()
        settings = make_plan(record, size=size).settings
        session.configure(blender_scene, settings, threads=1, device="cpu")
        return scene.build_scene(blender_scene, record)

    return make


@pytest.mark.parametrize("size", [(48, 64), (64, 48)])
def test_camera_projects_as_the_record_says(build, clevr_scene, size):
    from bpy_extras.object_utils import world_to_camera_view
    from mathutils import Vector

    height, width = size
    record = clevr_scene(height=height, width=width)
    stage = build(record, size=size)
    assert np.allclose(stage.camera.matrix_world, record.camera.world_from_camera, atol=1e-6)
    for item in record.objects:
        x, y, depth = world_to_camera_view(stage.scene, stage.camera, Vector(item.position))
        column, row, expected_depth = item.pixel_coords
        assert abs(x * width - column) <= 0.51
        assert abs((1 - y) * height - row) <= 0.51
        assert depth == pytest.approx(expected_depth, abs=1e-3)


def test_lights_shine_as_clevrs_do_in_todays_blender(build, rest_scene):
    stage = build(rest_scene())
    energy = {name: light.data.energy for name, light in stage.lights.items()}
    # base_scene.blend has 100, 30, 50 and 0.45; Blender 4.0 made area lights 4 / pi as strong.
    expected = {
        "key": 25 * math.pi,
        "fill": 7.5 * math.pi,
        "back": 12.5 * math.pi,
        "sun": 0.45,
    }
    assert energy == pytest.approx(expected, rel=1e-6)
    assert stage.lights["key"].data.size == 0.5
    assert stage.lights["sun"].data.angle == pytest.approx(2 * math.atan(0.1))
    assert stage.scene.world is None
    for light in stage.lights.values():
        assert not light.visible_camera


def test_lights_stand_and_point_as_recorded(build, clevr_scene):
    record = clevr_scene()
    stage = build(record)
    for light in record.lights:
        matrix = np.array(stage.lights[light.name].matrix_world)
        assert matrix[:3, 3] == pytest.approx(light.position, abs=1e-5)
        assert -matrix[:3, 2] == pytest.approx(light.direction, abs=1e-5)


def test_objects_are_numbered_placed_and_colored(build, clevr_scene):
    record = clevr_scene(2)
    stage = build(record)
    assert [thing.pass_index for thing in stage.objects] == list(range(1, len(record.objects) + 1))
    assert stage.ground.pass_index == 0
    for thing, item in zip(stage.objects, record.objects, strict=True):
        matrix = np.array(thing.matrix_world)
        turn = [[math.cos(item.yaw_rad), -math.sin(item.yaw_rad)]]
        assert matrix[:3, 3] == pytest.approx(item.position, abs=1e-6)
        assert matrix[:1, :2] == pytest.approx(item.radius * np.array(turn), abs=1e-6)
        assert tuple(thing.color) == pytest.approx(item.rgba)
        assert thing.data.materials[0].name == item.material


def test_objects_of_one_shape_and_material_share_a_mesh(build, rest_scene, thing):
    stage = build(
        rest_scene(
            thing("sphere", "metal", at=(-2, 0)),
            thing("sphere", "metal", at=(2, 0)),
            thing("sphere", "rubber", at=(0, 2)),
        )
    )
    first, second, third = (item.data for item in stage.objects)
    assert first == second
    assert first != third
    assert len(first.vertices) == len(third.vertices)


def test_blender_takes_the_exact_normals(build, rest_scene, thing):
    stage = build(rest_scene(thing("sphere")))
    mesh = stage.objects[0].data
    normals, corners = np.empty(len(mesh.loops) * 3), np.empty(len(mesh.loops), np.int32)
    points = np.empty(len(mesh.vertices) * 3)
    mesh.corner_normals.foreach_get("vector", normals)
    mesh.loops.foreach_get("vertex_index", corners)
    mesh.vertices.foreach_get("co", points)
    assert np.abs(normals.reshape(-1, 3) - points.reshape(-1, 3)[corners]).max() < 1e-3
    assert not mesh.validate()  # True would mean that Blender had to mend the mesh


@pytest.mark.parametrize(("shape", "near"), [("shpere", "sphere"), ("cilinder", "cylinder")])
def test_unknown_shape_is_named_with_the_nearest(build, rest_scene, thing, shape, near):
    with pytest.raises(RenderError, match=f"unknown shape '{shape}'.*'{near}'"):
        build(rest_scene(thing(shape)))


def test_unknown_light_and_material_are_named(build, rest_scene, thing):
    with pytest.raises(RenderError, match=r"unknown material 'rubbr'.*'rubber'"):
        build(rest_scene(thing(material="rubbr")))
    spot = Light("spot", "aera", (0, 0, 5), (0, 0, -1), 1.0, (1, 1, 1), 0.1)
    with pytest.raises(RenderError, match=r"light 'spot' has the kind 'aera'.*'area'"):
        build(dataclasses.replace(rest_scene(), lights=(spot,)))
