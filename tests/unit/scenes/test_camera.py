"""Camera, directions and lights against hand-computed numbers."""

import math

import numpy as np
import pytest

from robustclevr.scenes.camera import camera_axes, clevr_camera, project
from robustclevr.scenes.lights import clevr_lights
from robustclevr.scenes.relations import relationships, scene_directions

REST = (0.0, 0.0, 0.0)


def test_directions_of_the_camera_at_rest() -> None:
    directions = scene_directions(clevr_camera(REST, height=240, width=320))
    np.testing.assert_allclose(directions["behind"], (-0.7545, 0.6563, 0), atol=5e-5)
    np.testing.assert_allclose(directions["left"], (-0.6563, -0.7545, 0), atol=5e-5)


def test_intrinsics_at_clevrs_size() -> None:
    camera = clevr_camera(REST, height=240, width=320)
    assert camera.intrinsics == ((350.0, 0.0, 160.0), (0.0, 350.0, 120.0), (0.0, 0.0, 1.0))
    assert math.degrees(2 * math.atan(160 / 350)) == pytest.approx(49.13, abs=0.01)


@pytest.mark.parametrize(("height", "width"), [(320, 240), (64, 64), (48, 64)])
def test_the_sensor_spans_the_longer_side(height: int, width: int) -> None:
    focal = clevr_camera(REST, height=height, width=width).intrinsics[0][0]
    assert focal == pytest.approx(35 / 32 * max(height, width))


def test_the_origin_is_in_the_middle_at_the_cameras_distance() -> None:
    camera = clevr_camera((0.3, -0.4, 0.2), height=240, width=320)
    column, row, depth = project(camera, (0.0, 0.0, 0.0))
    assert (column, row) == pytest.approx((160, 120))
    assert depth == pytest.approx(math.hypot(*camera.position))
    assert math.hypot(*clevr_camera(REST, height=240, width=320).position) == pytest.approx(
        11.264, abs=1e-3
    )


def test_pose_is_a_rotation_with_the_horizon_level() -> None:
    camera = clevr_camera((-0.5, 0.1, 0.4), height=240, width=320)
    pose = np.array(camera.world_from_camera)
    np.testing.assert_allclose(pose[:3, :3].T @ pose[:3, :3], np.eye(3), atol=1e-14)
    assert np.linalg.det(pose[:3, :3]) == pytest.approx(1)
    right, up, _ = camera_axes(camera)
    assert right[2] == 0
    assert up[2] > 0
    np.testing.assert_array_equal(pose[:3, 3], camera.position)


def test_projection_equals_the_stored_matrices() -> None:
    camera = clevr_camera((0.2, 0.5, -0.5), height=240, width=320)
    rng = np.random.default_rng(3)
    opencv_from_opengl = np.diag([1.0, -1.0, -1.0])
    for point in rng.uniform(-3, 3, (20, 3)):
        inverse = np.linalg.inv(np.array(camera.world_from_camera))
        seen = opencv_from_opengl @ (inverse @ np.append(point, 1))[:3]
        homogeneous = np.array(camera.intrinsics) @ seen
        expected = (*(homogeneous[:2] / homogeneous[2]), seen[2])
        assert project(camera, tuple(point)) == pytest.approx(expected)


def test_what_lies_behind_and_above_is_higher_up_in_the_image() -> None:
    camera = clevr_camera(REST, height=240, width=320)
    directions = scene_directions(camera)
    middle = project(camera, (0.0, 0.0, 0.0))
    assert project(camera, directions["behind"])[1] < middle[1]
    assert project(camera, directions["behind"])[2] > middle[2]
    assert project(camera, directions["above"])[1] < middle[1]
    assert project(camera, directions["left"])[0] < middle[0]
    assert project(camera, directions["right"])[0] > middle[0]


def test_relationships_of_three_objects_by_hand() -> None:
    directions = {"left": (-1.0, 0.0, 0.0), "right": (1.0, 0.0, 0.0),
                  "front": (0.0, -1.0, 0.0), "behind": (0.0, 1.0, 0.0)}  # fmt: skip
    places = [(0.0, 0.0, 0.7), (1.0, 0.1, 0.35), (-1.0, 0.25, 0.7)]
    assert relationships(places, directions) == {
        "left": ((2,), (0, 2), ()),
        "right": ((1,), (), (0, 1)),
        "front": ((), (), (0,)),
        "behind": ((2,), (), ()),
    }


def test_lights_at_rest() -> None:
    key, fill, back, sun = clevr_lights(dict.fromkeys(("key", "fill", "back"), REST))
    assert [light.kind for light in (key, fill, back, sun)] == ["area", "area", "area", "sun"]
    assert [light.energy for light in (key, fill, back, sun)] == [100, 30, 50, 0.45]
    assert [light.size for light in (key, fill, back, sun)] == [0.5, 0.5, 1.0, 0.1]
    np.testing.assert_allclose(sun.direction, (-0.4145, 0.1946, -0.8890), atol=1e-4)
    for light in (key, fill, back, sun):
        assert math.hypot(*light.direction) == pytest.approx(1)


def test_the_suns_direction_is_that_of_its_euler_angles() -> None:
    x, y, z = np.deg2rad([13.523, 23.886, 5.562])
    turn_x = np.array([[1, 0, 0], [0, math.cos(x), -math.sin(x)], [0, math.sin(x), math.cos(x)]])
    turn_y = np.array([[math.cos(y), 0, math.sin(y)], [0, 1, 0], [-math.sin(y), 0, math.cos(y)]])
    turn_z = np.array([[math.cos(z), -math.sin(z), 0], [math.sin(z), math.cos(z), 0], [0, 0, 1]])
    sun = clevr_lights(dict.fromkeys(("key", "fill", "back"), REST))[3]
    np.testing.assert_allclose(turn_z @ turn_y @ turn_x @ (0, 0, -1), sun.direction, atol=2e-4)
