from __future__ import annotations

import pytest

from robustclevr.errors import RenderError
from robustclevr.records import RenderSettings

pytestmark = pytest.mark.blender


@pytest.fixture
def session():
    from robustclevr.blender import session

    return session


def test_reset_leaves_nothing_behind(session):
    import bpy

    scene = session.reset()
    mesh = bpy.data.meshes.new("left over")
    scene.collection.objects.link(bpy.data.objects.new("left over", mesh))
    session.reset()
    assert [len(found) for found in (bpy.data.objects, bpy.data.meshes, bpy.data.worlds)] == [0] * 3
    assert len(bpy.data.scenes) == 1


def test_settings_that_bear_on_pixels_are_all_set(session):
    scene = session.reset()
    settings = RenderSettings(48, 64, 512, False, 2**31 - 1)
    session.configure(scene, settings, threads=2, device="cpu")
    render, cycles = scene.render, scene.cycles
    assert (render.resolution_y, render.resolution_x, render.resolution_percentage) == (48, 64, 100)
    assert (render.threads_mode, render.threads) == ("FIXED", 2)
    assert (cycles.samples, cycles.seed, cycles.device) == (512, 2**31 - 1, "CPU")
    assert not cycles.use_adaptive_sampling
    assert not cycles.use_denoising
    assert not render.film_transparent
    assert cycles.blur_glossy == 2.0
    assert (cycles.transparent_max_bounces, cycles.min_transparent_bounces) == (8, 8)
    assert render.dither_intensity == 0.0
    assert scene.view_settings.view_transform == "Standard"
    assert render.image_settings.color_depth == "32"


def test_a_render_that_blender_refuses_is_an_error(session, tmp_path):
    scene = session.reset()
    session.configure(scene, RenderSettings(8, 8, 1, False, 0), threads=1, device="cpu")
    with pytest.raises(RenderError, match=r"(?i)camera"):
        session.render_to(scene, tmp_path / "none.exr")
