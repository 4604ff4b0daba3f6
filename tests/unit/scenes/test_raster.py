"""The label raster against a ray marcher that knows nothing of it."""

import dataclasses
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from robustclevr.records import Camera, SceneObject, SceneOptions
from robustclevr.scenes import amodal_masks, label_map, sample_scene, visible_pixels
from robustclevr.scenes.camera import clevr_camera, project
from robustclevr.scenes.raster import shows_all
from robustclevr.scenes.solids import SOLIDS

HEIGHT, WIDTH = 60, 80
OPTIONS = SceneOptions((3, 10), "clevr", "none", 200, 0.25, 0.4, 2000)
SHAPES = ("cube", "sphere", "cylinder")


def thing(shape: str, position: tuple[float, float, float], camera: Camera, **more: float):
    return SceneObject(
        shape=shape, size="large", color="red", material="metal", radius=more.get("radius", 0.7),
        rgba=(1.0, 0.0, 0.0, 1.0), position=position, rotation=0.0, yaw_rad=more.get("yaw", 0.0),
        pixel_coords=project(camera, position),
    )  # fmt: skip


def distance(shape: str, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Textbook signed distances of the unit solids, p of shape (..., 3)."""
    if shape == "sphere":
        return np.linalg.norm(p, axis=-1) - 1
    if shape == "cube":
        q, rim = np.abs(p) - (1 - 0.18), 0.18
    else:
        q = np.stack([np.hypot(p[..., 0], p[..., 1]), np.abs(p[..., 2])], axis=-1) - (1 - 0.08)
        rim = 0.08
    return np.linalg.norm(np.maximum(q, 0), axis=-1) + np.minimum(q.max(axis=-1), 0) - rim


def march(
    item: SceneObject, camera: Camera, height: int, width: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the distance at which each pixel's ray hits, inf if never, and where that is moot."""
    pose = np.array(camera.world_from_camera)
    columns, rows = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    pixels = np.stack([columns, rows, np.ones_like(rows)], axis=-1)
    seen = pixels @ np.linalg.inv(np.array(camera.intrinsics)).T * (1, -1, -1)
    rays = seen @ pose[:3, :3].T
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    yaw = item.yaw_rad
    turn_back = np.array(
        [[math.cos(yaw), math.sin(yaw), 0], [-math.sin(yaw), math.cos(yaw), 0], [0, 0, 1]]
    )
    t = np.zeros((height, width))
    least = np.full((height, width), np.inf)
    for _ in range(200):
        local = (pose[:3, 3] + t[..., np.newaxis] * rays - item.position) @ turn_back.T
        gap = item.radius * distance(item.shape, local / item.radius)
        least = np.minimum(least, gap)
        t = np.minimum(t + np.maximum(gap, 0), 60.0)
    return np.where(least < 1e-5, t, np.inf), (least >= 1e-5) & (least < 1e-3)


def marched_labels(objects, camera, height, width):
    hits, moot = zip(*(march(item, camera, height, width) for item in objects), strict=True)
    depths = np.stack([np.full((height, width), 50.0), *hits])
    return depths.argmin(axis=0), np.any(moot, axis=0)


@pytest.mark.parametrize("index", range(6))
def test_labels_equal_marched_labels(index: int) -> None:
    compat = "clevr-v1" if index % 2 else "none"
    options = dataclasses.replace(OPTIONS, compat=compat)
    scene = sample_scene(
        options, height=HEIGHT, width=WIDTH, root_seed=4, split="raster", index=index
    )
    labels = label_map(scene.objects, scene.camera, HEIGHT, WIDTH)
    expected, moot = marched_labels(scene.objects, scene.camera, HEIGHT, WIDTH)
    assert moot.mean() < 0.005
    np.testing.assert_array_equal(labels[~moot], expected[~moot])
    alone = [np.isfinite(march(item, scene.camera, HEIGHT, WIDTH)[0]) for item in scene.objects]
    whole = amodal_masks(scene.objects, scene.camera, HEIGHT, WIDTH).sum(axis=(1, 2))
    np.testing.assert_allclose(whole, [mask.sum() for mask in alone], atol=2)


def test_interpenetrating_solids_are_told_apart_by_depth() -> None:
    camera = clevr_camera((0.0, 0.0, 0.0), height=HEIGHT, width=WIDTH)
    objects = [
        thing("cube", (0.0, 0.0, 0.7), camera, yaw=0.5),
        thing("cylinder", (0.5, 0.2, 0.6), camera, radius=0.6),
        thing("sphere", (0.1, -0.4, 0.35), camera, radius=0.35),
    ]
    labels = label_map(objects, camera, HEIGHT, WIDTH)
    expected, moot = marched_labels(objects, camera, HEIGHT, WIDTH)
    assert set(np.unique(labels)) == {0, 1, 2, 3}
    np.testing.assert_array_equal(labels[~moot], expected[~moot])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("place", [(3.0, -3.0, 0.7), (5.2, -4.4, 0.7), (-3.0, 3.0, 0.7)])
def test_objects_cut_by_the_frame(shape: str, place: tuple[float, float, float]) -> None:
    camera = clevr_camera((0.5, 0.5, -0.5), height=HEIGHT, width=WIDTH)
    item = thing(shape, place, camera, yaw=1.0)
    labels = label_map([item], camera, HEIGHT, WIDTH)
    expected, moot = marched_labels([item], camera, HEIGHT, WIDTH)
    np.testing.assert_array_equal(labels[~moot], expected[~moot])


def test_an_object_out_of_frame_covers_nothing() -> None:
    camera = clevr_camera((0.0, 0.0, 0.0), height=HEIGHT, width=WIDTH)
    item = thing("sphere", (-6.0, -9.0, 0.7), camera)
    assert not amodal_masks([item], camera, HEIGHT, WIDTH).any()
    assert not label_map([item], camera, HEIGHT, WIDTH).any()


def test_a_sphere_in_the_middle_covers_its_disc() -> None:
    camera = clevr_camera((0.0, 0.0, 0.0), height=240, width=320)
    item = thing("sphere", (0.0, 0.0, 0.0), camera)
    away = math.hypot(*camera.position)
    radius_px = 350 * math.tan(math.asin(0.7 / away))
    assert amodal_masks([item], camera, 240, 320).sum() == pytest.approx(
        math.pi * radius_px**2, rel=0.01
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_yaw_turns_cubes_alone(shape: str) -> None:
    camera = clevr_camera((0.0, 0.0, 0.0), height=240, width=320)
    first, second, quarter = (
        label_map([thing(shape, (1.0, 1.0, 0.7), camera, yaw=yaw)], camera, 240, 320)
        for yaw in (0.3, 0.9, 0.3 + math.pi / 2)
    )
    assert (first != second).sum() > 50 if shape == "cube" else (first != second).sum() <= 2
    assert (first != quarter).sum() <= 2


def test_reach_is_the_widest_horizontal_extent() -> None:
    angles = np.linspace(0, 2 * np.pi, 3601)
    for shape, solid in SOLIDS.items():
        rim = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=-1)
        outside = distance(shape, rim * (solid.reach + 1e-9))
        assert outside.min() >= 0
        assert distance(shape, rim * (solid.reach - 1e-6)).min() < 0
    assert SOLIDS["cube"].reach == pytest.approx(1.341, abs=2e-3)  # SmoothCube_v2's mesh


def test_early_rejection_answers_as_counting_does() -> None:
    rng = np.random.default_rng(11)
    camera = clevr_camera((0.0, 0.0, 0.0), height=48, width=64)
    answers = []
    for _ in range(150):
        objects = [
            thing(SHAPES[rng.integers(3)], (*rng.uniform(-3, 3, 2), 0.7), camera)
            for _ in range(rng.integers(1, 6))
        ]
        required = int(rng.integers(0, 60))
        counts = visible_pixels(label_map(objects, camera, 48, 64), len(objects))
        answers.append(min(counts) >= required)
        assert shows_all(objects, camera, 48, 64, required=required) == answers[-1]
    assert 20 < sum(answers) < 130


def test_the_background_must_be_seen_too() -> None:
    camera = clevr_camera((0.0, 0.0, 0.0), height=48, width=64)
    wall = thing("sphere", (0.0, 0.0, 0.0), camera, radius=8.0)
    assert not shows_all([wall], camera, 48, 64, required=1)
