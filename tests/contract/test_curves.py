"""The measured curves beside the recipes: what they claim, and whether small renders agree."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from robustclevr.recipe import curve_path, load_recipes
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.run.sweep import SEVERITIES, TEST, SweepOptions, _Rig, way_point
from robustclevr.scm import SCM
from robustclevr.spec import RenderOptions, load_dag, load_dataset

RECIPES = load_recipes()
SCENE = [name for name, loaded in RECIPES.items() if loaded.recipe.stage == "scene"]
OTHERS = [name for name in RECIPES if name not in SCENE]
FEW_LEVELS = (0.0, 0.1, 0.5, 1.0)
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
    # A render a point is dear: scene-stage recipes are measured on smaller images.
    assert found["image"]["height"] >= (72 if name in SCENE else 240)
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


@every_recipe
def test_severity_in_a_dag_goes_through_the_curve(name, tmp_path):
    file = tmp_path / "one.yaml"
    file.write_text(
        f'nodes:\n  {name}:\n    noise: {{u: "Uniform(0, 1)"}}\n    severity: u\n', encoding="utf-8"
    )
    table = SCM(load_dag(file, RECIPES)).sample(100, seed=0).nodes[name]
    level = table.noise["u"]
    np.testing.assert_allclose(table.severity, level, atol=1e-9)
    curve = RECIPES[name].recipe.curve
    for parameter in RECIPES[name].recipe.parameters:
        if parameter.role == "severity":
            fraction = np.interp(level, curve.severity, curve.fraction)
            expected = parameter.clean + fraction * (parameter.worst - parameter.clean)
            np.testing.assert_allclose(table.parameters[parameter.name], expected, rtol=1e-9)


def measured(names, levels, scenes, render):
    """1 - SSIM on scenes that no curve has seen, by recipe: shape (scenes, levels)."""
    files = tuple((str(item.path), item.shipped) for item in RECIPES.values())
    split = load_dataset("clevr", RECIPES).splits[0]
    options = SweepOptions(scenes, render, root_seed=99)
    fractions = {
        name: tuple(np.interp(levels, curve.severity, curve.fraction))
        for name, curve in ((name, RECIPES[name].recipe.curve) for name in names)
    }
    with BlenderProcess(RendererSetup(files, threads=2, device="cpu")) as process:
        rig = _Rig(process, RECIPES, replace(split, dag=None, render=render), options)
        found = rig.measure(TEST, fractions, lambda _: None)
    return {name: 1.0 - one.ssim for name, one in found.items()}


@pytest.mark.blender
@pytest.mark.slow
def test_severity_is_degradation_on_other_renders():
    render = RenderOptions(120, 160, 16, denoise=False)
    for name, found in measured(OTHERS, SEVERITIES, 2, render).items():
        mean = found.mean(axis=0)
        assert mean[0] == 0.0
        assert spearmanr(SEVERITIES, mean).statistic >= 0.95, name
        assert mean[-1] > 0.02, name


@pytest.mark.blender
@pytest.mark.slow
def test_severity_of_a_scene_is_degradation_on_another_render():
    render = RenderOptions(60, 80, 24, denoise=False)
    for name, found in measured(SCENE, FEW_LEVELS, 1, render).items():
        (levels,) = found
        assert levels[0] == 0.0
        assert np.all(np.diff(levels) > 0.0), (name, levels)
