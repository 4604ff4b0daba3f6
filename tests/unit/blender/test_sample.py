from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from robustclevr.errors import RecipeError, RenderError
from robustclevr.imaging.color import linear_to_srgb8
from robustclevr.recipe import load_recipe, load_recipes
from robustclevr.records import ImagePlan, RenderPass, Step

pytestmark = pytest.mark.blender

WIDER_LENS = '''
"""Zoom: a scene-stage recipe for tests."""

from robustclevr.recipe import Parameter, Recipe

RECIPE = Recipe(
    "zoom_out",
    "Shortens the lens",
    "scene",
    "warps",
    (Parameter("share", clean=0.0, worst=1.0, source="test"),),
)


def build(context):
    context.stage.camera.data.lens *= 1.0 - 0.5 * context.number("share")
'''


@pytest.fixture
def render(tmp_path):
    from robustclevr.blender.sample import SampleRenderer

    def run(plan, recipes=None, threads=1):
        renderer = SampleRenderer(recipes or {}, threads=threads, device="cpu")
        reply = renderer.render(plan, tmp_path)
        images = [np.load(tmp_path / image["pixels"]) for image in reply["images"]]
        return reply, images

    return run


@pytest.fixture
def zoom_recipes(tmp_path):
    path = tmp_path / "zoom_out.py"
    path.write_text(WIDER_LENS, encoding="utf-8")
    return {"zoom_out": load_recipe(path, shipped=False)}


def zoom(share):
    return Step("zoom_out", "zoom_out", {"share": share}, share, 0)


def test_reply_names_files_of_the_recorded_shapes(render, clevr_scene, make_plan, tmp_path):
    outputs = ("image", "mask", "amodal", "depth", "normal")
    plan = make_plan(clevr_scene(), outputs=outputs)
    reply, (pixels,) = render(plan)
    count = len(plan.scene.objects)
    kinds = {
        name: (np.load(tmp_path / reply[name]).dtype, np.load(tmp_path / reply[name]).shape)
        for name in ("labels", "amodal", "depth", "normal")
    }
    assert (pixels.dtype, pixels.shape) == (np.float32, (48, 64, 3))
    assert kinds == {
        "labels": (np.uint8, (48, 64)),
        "amodal": (np.bool_, (count, 48, 64)),
        "depth": (np.float32, (48, 64)),
        "normal": (np.float32, (48, 64, 3)),
    }
    assert reply["renders"] == 1
    assert set(reply["seconds"]) == {"cycles", "labels", "compositor", "other"}
    assert all(value >= 0 for value in reply["seconds"].values())
    assert not list(tmp_path.glob("*.exr"))


def test_passes_that_nobody_asked_for_are_not_made(render, clevr_scene, make_plan, tmp_path):
    reply, _ = render(make_plan(clevr_scene()))
    assert reply["amodal"] is reply["depth"] is reply["normal"] is None
    assert sorted(path.name for path in tmp_path.glob("*.npy")) == ["0.npy", "labels.npy"]


def test_image_steps_share_the_render(render, clevr_scene, make_plan, tmp_path):
    recipes = load_recipes()
    gamma = Step("gamma", "gamma", {"gamma": 2.0}, 0.5, 0)
    lens = Step("lens", "lens_distortion", {"distort": 0.2, "dispersion": 0.0, "fit": True}, 0.5, 0)
    off = dataclasses.replace(gamma, severity=0.0)
    images = tuple(
        ImagePlan(name, 0, steps)
        for name, steps in (("clean", ()), ("gamma", (gamma,)), ("lens", (lens,)), ("off", (off,)))
    )
    reply, (clean, darker, moved, same) = render(make_plan(clevr_scene(), images=images), recipes)
    assert reply["renders"] == 1
    assert darker == pytest.approx(clean**2, rel=1e-5, abs=1e-7)
    assert np.array_equal(same, clean)
    assert not np.array_equal(moved, clean)
    assert [image["source"] for image in reply["images"]] == [None, None, "2.source.npy", None]
    source = np.load(tmp_path / "2.source.npy")
    assert (source.dtype, source.shape) == (np.int32, (48, 64))


def test_a_recipe_gets_the_depth_that_nobody_asked_for(render, clevr_scene, make_plan, tmp_path):
    fog = Step("fog", "fog", {"density": 0.1, "light": 0.5}, 1.0, 0)
    images = (ImagePlan("clean", 0, ()), ImagePlan("fog", 0, (fog,)))
    plan = make_plan(clevr_scene(), images=images)
    reply, (clean, fogged) = render(plan, load_recipes())
    assert reply["depth"] is None
    reply, _ = render(dataclasses.replace(plan, outputs=("image", "depth")), load_recipes())
    arrives = np.exp(-0.1 * np.load(tmp_path / reply["depth"]))[..., None]
    np.testing.assert_allclose(fogged, clean * arrives + 0.5 * (1 - arrives), atol=1e-5)


def test_scene_steps_get_a_render_of_their_own(render, clevr_scene, make_plan, zoom_recipes):
    renders = (RenderPass(()), RenderPass((zoom(0.6),)), RenderPass((zoom(0.0),)))
    images = tuple(ImagePlan(f"image{k}", k, ()) for k in range(3))
    plan = make_plan(clevr_scene(), renders=renders, images=images)
    reply, (clean, wide, off) = render(plan, zoom_recipes)
    assert reply["renders"] == 3
    assert np.array_equal(clean, off)
    assert np.abs(clean - wide).mean() > 0.02


def test_a_scene_recipe_that_raises_is_named_with_its_line(
    render, clevr_scene, make_plan, zoom_recipes
):
    bad = Step("zoom_out", "zoom_out", {}, 1.0, 0)
    plan = make_plan(clevr_scene(), renders=(RenderPass(()), RenderPass((bad,))))
    with pytest.raises(RecipeError, match=r"zoom_out\.py:16: KeyError: 'share'"):
        render(plan, zoom_recipes)


def test_an_object_that_shows_too_little_is_named(render, rest_scene, thing, make_plan):
    record = dataclasses.replace(rest_scene(thing("cube", "metal")), min_visible_pixels=2000)
    with pytest.raises(RenderError, match=r"object 1 \(large red metal cube\).* promises 2000"):
        render(make_plan(record))


def test_a_plan_of_another_version_is_refused(render, clevr_scene, make_plan):
    plan = dataclasses.replace(make_plan(clevr_scene()), version=999)
    with pytest.raises(RenderError, match=r"version 1, not 999"):
        render(plan)


def test_pixels_follow_the_seed_and_nothing_else(render, clevr_scene, make_plan):
    plan = make_plan(clevr_scene(), samples=4)
    _, (first,) = render(plan)
    render(make_plan(clevr_scene(3), seed=77))
    _, (again,) = render(plan)
    _, (two_threads,) = render(plan, threads=2)
    _, (other,) = render(make_plan(clevr_scene(), samples=4, seed=4))
    assert np.array_equal(first, again)
    assert np.array_equal(first, two_threads)
    assert not np.array_equal(first, other)


def test_denoising_removes_noise_and_keeps_the_picture(render, clevr_scene, make_plan):
    scene = clevr_scene(1)
    _, (noisy,) = render(make_plan(scene, samples=4))
    _, (smooth,) = render(make_plan(scene, samples=4, denoise=True))
    _, (reference,) = render(make_plan(scene, samples=256), threads=2)
    errors = [np.abs(image - reference).mean() for image in (noisy, smooth)]
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.slow
def test_ground_is_as_bright_as_clevrs(render, clevr_scene, make_plan):
    """Patches of 20 pixels at 320x240: 104 in the top corners, 142 at the bottom's middle."""
    means = []
    for index in range(20):
        scene = clevr_scene(index, height=120, width=160)
        plan = make_plan(scene, size=(120, 160), samples=8, seed=index)
        _, (pixels,) = render(plan, threads=2)
        levels = linear_to_srgb8(pixels).astype(float)
        patches = levels[:10, :10], levels[:10, -10:], levels[-10:, 75:85]
        means.append([patch.mean() for patch in patches])
    assert np.mean(means, axis=0) == pytest.approx([104, 104, 142], abs=8)
