"""The measured curves beside the recipes: what they claim, and whether small renders agree."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from robustclevr.recipe import curve_path, load_recipes
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.run.sweep import SEVERITIES, TEST, SweepOptions, _Rig, way_point
from robustclevr.spec import RenderOptions, load_dataset

RECIPES = {
    name: loaded for name, loaded in load_recipes().items() if loaded.recipe.stage != "scene"
}
every_recipe = pytest.mark.parametrize("name", RECIPES)


def document(name):
    return json.loads(curve_path(RECIPES[name].path).read_text())


@every_recipe
def test_a_curve_is_of_the_recipe_as_it_is(name):
    recipe, found = RECIPES[name].recipe, document(name)["map"]
    for parameter, values in found["parameters"].items():
        expected = [way_point(recipe, fraction)[parameter] for fraction in found["fraction"]]
        assert values == pytest.approx(expected, abs=1e-6)
    moving = {item.name for item in recipe.parameters if item.role == "severity"}
    assert set(found["parameters"]) == moving


@every_recipe
def test_a_curve_was_tested_on_scenes_it_was_not_fitted_to(name):
    found = document(name)
    assert found["image"]["height"] == 240
    assert len(found["scenes"]["fitted"]) == len(found["scenes"]["tested"]) == 8
    assert not set(found["scenes"]["fitted"]) & set(found["scenes"]["tested"])
    assert np.shape(found["per_scene"]["ssim"]) == (8, 11)
    assert found["severity"] == list(SEVERITIES)
    assert {"blender", "numpy", "robustclevr", "scikit-image"} <= found["versions"].keys()


@every_recipe
def test_severity_is_degradation(name):
    found = document(name)
    per_scene = 1.0 - np.array(found["per_scene"]["ssim"])
    steps = np.diff(per_scene.mean(axis=0))
    assert np.all(per_scene[:, 0] == 0.0)
    assert np.all(steps > 0.0)
    assert steps.max() <= 2.0 * steps.min()
    assert 1.0 - found["hundredth"]["ssim"] <= 2.0 * 0.01 * steps.sum()
    for scene in per_scene:
        assert spearmanr(found["severity"], scene).statistic >= 0.98


@pytest.mark.blender
@pytest.mark.slow
def test_severity_is_degradation_on_other_renders():
    files = tuple((str(item.path), item.shipped) for item in load_recipes().values())
    split = load_dataset("clevr", load_recipes()).splits[0]
    options = SweepOptions(2, RenderOptions(120, 160, 16, denoise=False), root_seed=99)
    levels = {
        name: tuple(
            np.interp(SEVERITIES, loaded.recipe.curve.severity, loaded.recipe.curve.fraction)
        )
        for name, loaded in RECIPES.items()
    }
    with BlenderProcess(RendererSetup(files, threads=2, device="cpu")) as process:
        rig = _Rig(
            process, load_recipes(), replace(split, dag=None, render=options.render), options
        )
        found = rig.measure(TEST, levels, lambda _: None)
    for name, measured in found.items():
        mean = 1.0 - measured.ssim.mean(axis=0)
        assert mean[0] == 0.0
        assert spearmanr(SEVERITIES, mean).statistic >= 0.95, name
        assert mean[-1] > 0.02, name
