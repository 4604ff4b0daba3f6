from __future__ import annotations

import numpy as np
import pytest

from robustclevr.scenes import label_map

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


def rays(camera, height, width):
    """Origin and unit directions of the pixels' rays, from the record alone."""
    matrix = np.array(camera.world_from_camera)
    (focal, _, center_x), (_, _, center_y), _ = camera.intrinsics
    columns, rows = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    inside = [(columns - center_x) / focal, -(rows - center_y) / focal, -np.ones_like(rows)]
    directions = np.stack(inside, axis=-1) @ matrix[:3, :3].T
    return matrix[:3, 3], directions / np.linalg.norm(directions, axis=-1, keepdims=True)


def boundary(labels):
    """Pixels with another label among their eight neighbours."""
    padded = np.pad(labels, 1, mode="edge")
    height, width = labels.shape
    shifts = [padded[y : y + height, x : x + width] for y in range(3) for x in range(3)]
    return np.any([shift != labels for shift in shifts], axis=0)


def test_labels_agree_with_the_analytic_raster(build, clevr_scene, tmp_path):
    from robustclevr.blender.passes import label_and_depth

    wrong = total = 0
    for index in range(6):
        record = clevr_scene(index, height=240, width=320)
        labels, _ = label_and_depth(build(record, size=(240, 320)), record.camera, tmp_path)
        expected = label_map(record.objects, record.camera, 240, 320)
        differs = labels != expected
        assert labels.dtype == np.uint8
        assert not (differs & ~boundary(expected)).any()
        wrong, total = wrong + differs.sum(), total + differs.size
    assert wrong / total < 1e-3


def test_depth_is_the_distance_along_the_ray(build, rest_scene, thing, tmp_path):
    from robustclevr.blender.passes import label_and_depth

    ball = thing("sphere", at=(0.5, -0.3))
    record = rest_scene(ball, height=96, width=128)
    stage = build(record, size=(96, 128))
    labels, depth = label_and_depth(stage, record.camera, tmp_path)
    origin, directions = rays(record.camera, 96, 128)
    offset = np.array(ball.position) - origin
    along = directions @ offset
    inside = along**2 - offset @ offset + ball.radius**2
    core = (labels == 1) & (inside > 0.1)
    assert core.sum() > 50
    assert depth[core] == pytest.approx((along - np.sqrt(np.maximum(inside, 0)))[core], abs=2e-3)
    # The floor in front of the origin is flat.
    floor = (labels == 0) & (np.arange(96)[:, None] > 70)
    assert depth[floor] == pytest.approx((-origin[2] / directions[..., 2])[floor], rel=1e-4)
    assert depth.dtype == np.float32
    assert np.isfinite(depth).all()


def test_depth_is_infinite_where_nothing_is_hit(build, rest_scene, tmp_path):
    from robustclevr.blender.passes import label_and_depth, normals

    record = rest_scene()
    stage = build(record)
    stage.ground.hide_render = True
    labels, depth = label_and_depth(stage, record.camera, tmp_path)
    assert np.isposinf(depth).all()
    assert not labels.any()
    assert not normals(stage, tmp_path).any()


def test_normals_are_in_world_space_and_of_unit_length(build, rest_scene, thing, tmp_path):
    from robustclevr.blender.passes import label_and_depth, normals

    ball = thing("sphere")
    record = rest_scene(ball, height=96, width=128)
    stage = build(record, size=(96, 128))
    labels, depth = label_and_depth(stage, record.camera, tmp_path)
    found = normals(stage, tmp_path)
    origin, directions = rays(record.camera, 96, 128)
    hit = origin + depth[..., None] * directions
    expected = (hit - np.array(ball.position)) / ball.radius
    assert np.linalg.norm(found, axis=-1) == pytest.approx(1.0, abs=1e-5)
    assert np.abs(found - expected)[labels == 1].max() < 0.02
    floor = (labels == 0) & (np.arange(96)[:, None] > 70)
    assert np.abs(found - [0.0, 0.0, 1.0])[floor].max() < 0.01


def test_amodal_masks_show_what_is_hidden(build, rest_scene, thing, tmp_path):
    from robustclevr.blender.passes import amodal_masks, label_and_depth

    away = np.array((-0.7545, 0.6563))
    hidden = thing("cube", at=tuple(1.2 * away), radius=0.7, degrees=20)
    front = thing("cylinder", at=tuple(-1.0 * away), radius=0.7)
    record = rest_scene(hidden, front, height=96, width=128)
    stage = build(record, size=(96, 128))
    labels, _ = label_and_depth(stage, record.camera, tmp_path)
    masks = amodal_masks(stage, record.camera, tmp_path)
    assert masks.shape == (2, 96, 128)
    assert masks.dtype == np.bool_
    for number, item in enumerate(record.objects, 1):
        alone = label_map((item,), record.camera, 96, 128) > 0
        assert masks[number - 1][labels == number].all()
        assert np.count_nonzero(masks[number - 1] != alone) <= 3
    assert np.count_nonzero(masks[0] & (labels == 2)) > 20


def test_passes_leave_the_stage_as_it_was(build, clevr_scene, tmp_path):
    from robustclevr.blender.compositor import read_exr
    from robustclevr.blender.passes import amodal_masks, label_and_depth, normals
    from robustclevr.blender.session import render_to

    record = clevr_scene()
    stage = build(record)
    before = read_exr(render_to(stage.scene, tmp_path / "before.exr"))
    label_and_depth(stage, record.camera, tmp_path)
    normals(stage, tmp_path)
    amodal_masks(stage, record.camera, tmp_path)
    after = read_exr(render_to(stage.scene, tmp_path / "after.exr"))
    assert np.array_equal(before, after)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["after.exr", "before.exr"]


def test_labels_do_not_depend_on_seed_or_samples(build, clevr_scene, tmp_path):
    from robustclevr.blender.passes import label_and_depth

    record = clevr_scene(1)
    stage = build(record)
    first, _ = label_and_depth(stage, record.camera, tmp_path)
    stage.scene.cycles.seed, stage.scene.cycles.samples = 99, 64
    second, _ = label_and_depth(stage, record.camera, tmp_path)
    assert np.array_equal(first, second)
