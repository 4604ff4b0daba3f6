"""Blur and streaks of a small bright ball against thin lens and pinhole, and fog against Beer."""

import math

import bpy
import numpy as np
import pytest

from robustclevr.blender import session
from robustclevr.blender.compositor import read_exr
from robustclevr.blender.exposures import expose
from robustclevr.blender.scene import build_scene
from robustclevr.blender.scene_context import apply_scene_steps
from robustclevr.blender.shader_nodes import new_material
from robustclevr.recipe import load_recipes
from robustclevr.records import RenderSettings, Step

HEIGHT, WIDTH = 120, 160
FOCAL_PX = 35.0 / 32.0 * WIDTH
BALL_M = 0.12
RECIPES = load_recipes()

pytestmark = pytest.mark.blender


def step(recipe, **parameters):
    clean = RECIPES[recipe].recipe.clean_parameters()
    return Step(recipe, recipe, {**clean, **parameters}, 1.0, 7)


@pytest.fixture
def ball(rest_scene, thing, tmp_path):
    """Render one glowing ball in the dark, by default on the optical axis; gray (H, W)."""

    def render(*steps, distance, right=0.0, samples=32):
        record = rest_scene(thing("sphere", radius=BALL_M), height=HEIGHT, width=WIDTH)
        scene = session.reset()
        settings = RenderSettings(HEIGHT, WIDTH, samples, denoise=False, seed=1)
        session.configure(scene, settings, threads=2, device="cpu")
        stage = build_scene(scene, record)
        stage.ground.hide_render = True
        for light in stage.lights.values():
            light.hide_render = True
        material, nodes = new_material("glow")
        glow = nodes.add("ShaderNodeEmission", Strength=10.0)
        nodes.add("ShaderNodeOutputMaterial", Surface=glow.outputs[0])
        (sphere,) = stage.objects
        sphere.data.materials[0] = material
        axes = stage.camera.matrix_world
        sphere.location = axes.translation - distance * axes.col[2].xyz + right * axes.col[0].xyz
        bpy.context.view_layer.update()
        apply_scene_steps(stage, steps, RECIPES, settings)
        return read_exr(expose(stage, tmp_path / "ball.exr"))[..., 0].astype(float)

    return render


def spread(image):
    """Return middle and variance of the light along columns and along rows. [px, px**2]"""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    total = image.sum()
    middles = [(image * axis).sum() / total for axis in (columns, rows)]
    return middles, [
        (image * (axis - middle) ** 2).sum() / total
        for axis, middle in zip((columns, rows), middles, strict=True)
    ]


@pytest.mark.parametrize("distance", [7.0, 9.0, 15.0])
def test_the_disk_of_a_point_follows_the_thin_lens(ball, distance):
    aperture, focus, focal = 1.4, 11.0, 0.035
    _, sharp = spread(ball(distance=distance))
    lens = step("depth_of_field", aperture=aperture, focus_distance=focus)
    _, blurred = spread(ball(lens, distance=distance))
    on_sensor = aperture * focal / (focus - focal) * abs(distance - focus) / distance
    radius = on_sensor / 2 * FOCAL_PX / focal
    # A uniform disk of radius R has the variance R**2 / 4 along each axis.
    found = [2.0 * math.sqrt(b - s) for b, s in zip(blurred, sharp, strict=True)]
    assert found == pytest.approx([radius, radius], rel=0.15)


def test_what_is_in_focus_stays_sharp(ball):
    sharp = ball(distance=11.0)
    focused = ball(step("depth_of_field", aperture=1.4, focus_distance=11.0), distance=11.0)
    assert spread(focused)[1] == pytest.approx(spread(sharp)[1], abs=0.3)
    assert focused.max() == pytest.approx(sharp.max(), rel=0.02)


def test_without_a_distance_the_middle_of_the_floor_is_in_focus(ball):
    away = math.sqrt(7.481132**2 + 6.507640**2 + 5.343665**2)
    auto = ball(step("depth_of_field", aperture=1.0), distance=9.0)
    given = ball(step("depth_of_field", aperture=1.0, focus_distance=away), distance=9.0)
    np.testing.assert_allclose(auto, given, atol=1e-3)


@pytest.mark.parametrize("recipe", ["object_motion_blur", "camera_motion_blur"])
@pytest.mark.parametrize(("speed", "shutter", "distance"), [(3.0, 0.3, 11.0), (2.0, 0.5, 8.0)])
def test_a_streak_is_as_long_as_speed_and_shutter_make_it(ball, recipe, speed, shutter, distance):
    others = {"spread": 0.0} if recipe == "object_motion_blur" else {}
    moving = step(recipe, speed=speed, shutter=shutter, angle=0.0, **others)
    before, still = spread(ball(distance=distance))
    after, moved = spread(ball(moving, distance=distance, samples=96))
    length = speed * shutter * FOCAL_PX / distance
    # An even streak of length L has the variance L**2 / 12.
    assert math.sqrt(12.0 * (moved[0] - still[0])) == pytest.approx(length, rel=0.1)
    assert moved[1] == pytest.approx(still[1], abs=0.3)
    # Labels show the middle of the exposure.
    assert after == pytest.approx(before, abs=0.35)


def test_a_roll_draws_an_arc_about_the_middle(ball):
    right, distance, shutter, rate = 2.5, 11.0, 0.4, 0.8
    rolling = step("camera_motion_blur", shutter=shutter, speed=0.0, roll=rate)
    _, still = spread(ball(distance=distance, right=right))
    _, moved = spread(ball(rolling, distance=distance, right=right, samples=96))
    arc = shutter * rate * right * FOCAL_PX / distance
    assert math.sqrt(12.0 * (moved[1] - still[1])) == pytest.approx(arc, rel=0.1)


def test_motions_of_two_steps_add_up(ball):
    one = step("camera_motion_blur", shutter=0.2, speed=3.0)
    two = step("camera_motion_blur", shutter=0.4, speed=3.0)
    _, twice = spread(ball(one, one, distance=11.0, samples=96))
    _, once = spread(ball(two, distance=11.0, samples=96))
    assert twice == pytest.approx(once, rel=0.05, abs=0.3)


def test_fog_lets_through_what_beers_law_says(ball):
    density, distance = 0.08, 9.0
    clear = ball(distance=distance)
    foggy = ball(step("fog_volume", density=density), distance=distance)
    middle = clear > 0.99 * clear.max()
    share = float(foggy[middle].mean() / clear[middle].mean())
    assert share == pytest.approx(math.exp(-density * distance), rel=0.05)


def test_light_apart_adds_up(rest_scene, thing, tmp_path):
    """Twice the strength adds twice the light, with the noise of the scene's own light."""
    record = rest_scene(thing("sphere", radius=0.7), height=24, width=32)
    settings = RenderSettings(24, 32, 4, denoise=False, seed=1)

    def shot(*steps):
        scene = session.reset()
        session.configure(scene, settings, threads=2, device="cpu")
        stage = build_scene(scene, record)
        apply_scene_steps(stage, steps, RECIPES, settings)
        return read_exr(expose(stage, tmp_path / "shot.exr"))[..., :3].astype(float)

    clean = shot()
    half, whole = (shot(step("sun_glare", strength=strength)) - clean for strength in (0.5, 1.0))
    assert half.min() > 0.0
    np.testing.assert_allclose(whole, 2.0 * half, rtol=2e-3, atol=1e-5)
