"""Blender 5.x against the 4.5 of this environment: every recipe, the labels, the renders."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from robustclevr.blender import session
from robustclevr.blender.images import write_exr
from robustclevr.imaging import linear_to_srgb8
from robustclevr.plan import make_plan, plan_images
from robustclevr.recipe import load_recipes
from robustclevr.records import Step, to_json
from robustclevr.run.blender_process import BlenderProcess, RendererCommand, RendererSetup
from robustclevr.run.sweep import FIT, way_point
from robustclevr.spec import RenderOptions, load_dataset

ROOT = Path(__file__).resolve().parents[2]
RECIPES = load_recipes()
FRACTIONS = (0.1, 0.5, 1.0)
IMAGE_STEPS = [
    Step(name, name, way_point(loaded.recipe, fraction), fraction, 5)
    for name, loaded in RECIPES.items()
    if loaded.recipe.stage == "image"
    for fraction in FRACTIONS
]
SCENE_STEPS = {
    name: (Step(name, name, way_point(loaded.recipe, 1.0), 1.0, 5),)
    for name, loaded in RECIPES.items()
    if loaded.recipe.stage == "scene"
}

pytestmark = pytest.mark.blender


def scene_plan(height, width, samples, steps, outputs):
    split = replace(
        load_dataset("clevr", RECIPES).splits[0],
        dag=None,
        name=FIT,
        render=RenderOptions(height, width, samples, denoise=False),
        outputs=outputs,
    )
    plan = make_plan(split, RECIPES, root_seed=0, index=1)
    renders, images = plan_images(steps, RECIPES)
    return replace(plan, renders=renders, images=images)


def rendered(plan, python):
    files = tuple((str(item.path), item.shipped) for item in RECIPES.values())
    command = RendererCommand(python=python)
    setup = RendererSetup(files, threads=2, device="cpu", command=command)
    with BlenderProcess(setup) as process:
        return process.render(plan)


@pytest.fixture(scope="module")
def composited(other_python, tmp_path_factory):
    """All images of one stored EXR, from both."""
    folder = tmp_path_factory.mktemp("composited")
    plan = scene_plan(120, 160, 16, {"clean": ()}, ("image", "mask", "depth"))
    render = rendered(plan, sys.executable)
    session.reset()
    write_exr(np.ascontiguousarray(render.images[0].pixels), folder / "clean.exr")
    np.save(folder / "depth.npy", render.depth)
    (folder / "steps.json").write_text(json.dumps(to_json(tuple(IMAGE_STEPS))))
    found = []
    for python in (sys.executable, other_python):
        result = folder / f"{len(found)}.npz"
        subprocess.run(
            [python, str(Path(__file__).with_name("composite.py")), str(folder), str(result)],
            check=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        found.append(np.load(result))
    return found


def levels(pixels):
    return linear_to_srgb8(pixels).astype(int)


def test_the_other_blender_is_a_5(composited):
    ours, other = (str(found["version"]) for found in composited)
    assert ours == bpy.app.version_string
    assert int(other.split(".")[0]) >= 5


@pytest.mark.parametrize("number", range(len(IMAGE_STEPS)))
def test_both_make_the_same_image_of_the_same_exr(composited, number):
    ours, other = (found[str(number)] for found in composited)
    recipe = IMAGE_STEPS[number].recipe
    if recipe == "chromatic_aberration":  # reads between pixels: their rounding differs
        assert np.abs(levels(ours) - levels(other)).mean() <= 0.02
    else:
        np.testing.assert_array_equal(ours, other)


@pytest.mark.parametrize("number", range(len(IMAGE_STEPS)))
def test_both_move_labels_the_same_way(composited, number):
    ours, other = composited
    name = f"{number}.source"
    warps = RECIPES[IMAGE_STEPS[number].recipe].recipe.geometry == "warps"
    assert (name in ours) == (name in other) == warps
    if warps:
        np.testing.assert_array_equal(ours[name], other[name])


@pytest.fixture(scope="module")
def renders(other_python):
    """A clean scene, and each scene-stage recipe at its worst, from both, at 256 samples."""
    steps = {"clean": (), **SCENE_STEPS}
    plan = scene_plan(24, 32, 256, steps, ("image", "mask", "depth", "amodal"))
    return [rendered(plan, python) for python in (sys.executable, other_python)]


@pytest.mark.parametrize("number", range(len(SCENE_STEPS) + 1))
def test_both_render_the_same_scene(renders, number):
    ours, other = (levels(render.images[number].pixels) for render in renders)
    assert np.abs(ours - other).mean() <= 0.1


def test_both_give_the_same_labels(renders):
    ours, other = renders
    np.testing.assert_array_equal(ours.labels, other.labels)
    np.testing.assert_array_equal(ours.amodal, other.amodal)
    np.testing.assert_allclose(ours.depth, other.depth, atol=1e-3)
