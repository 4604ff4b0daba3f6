"""Curves from measurements with closed forms, and a small sweep in the real Blender."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustclevr.errors import RecipeError
from robustclevr.recipe import load_recipes
from robustclevr.run.blender_process import RendererSetup
from robustclevr.run.sweep import (
    SEVERITIES,
    Similarities,
    SweepOptions,
    fit_curve,
    sweep,
    way_point,
)
from robustclevr.spec import RenderOptions, load_dataset

GRID = tuple((k / 32) ** 2 for k in range(33))

BROKEN = """from robustclevr.recipe import Parameter, Recipe
RECIPE = Recipe("broken", "s", "image", "keeps",
                (Parameter("p", clean=0.0, worst=1.0, source="s"),))


def build(context):
    return context.mix("MULTIPLY", 1.0, context.image, (float("nan"),) * 4)
"""


def measured(degradation, at=GRID):
    values = 1.0 - np.array(degradation)[np.newaxis]
    return Similarities(("s",), tuple(at), values, np.zeros_like(values))


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 3.0])
def test_a_curve_makes_a_power_even(power):
    curve = fit_curve(measured([0.6 * t**power for t in GRID]))
    fractions = np.interp(SEVERITIES, curve.severity, curve.fraction)
    steps = np.diff(fractions**power)
    assert steps == pytest.approx(0.1, abs=0.01)


def test_knots_are_left_out_where_nothing_is_worse_than_before():
    at = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    curve = fit_curve(measured([0.0, 0.0, 0.2, 0.1, 0.2, 0.3, 0.4], at))
    assert curve.severity == (0.0, 0.5, 0.75, 1.0)
    assert curve.fraction == (0.0, 0.2, 0.8, 1.0)


def test_the_mean_over_scenes_counts():
    ssim = 1.0 - np.array([[0.0, 0.1, 0.2], [0.0, 0.5, 0.6]])
    curve = fit_curve(Similarities(("a", "b"), (0.0, 0.5, 1.0), ssim, ssim))
    assert curve.severity == pytest.approx((0.0, 0.75, 1.0))


def test_a_recipe_that_changes_nothing_has_no_curve():
    with pytest.raises(RecipeError, match=r"recipe 'r'.* changes no image"):
        fit_curve(measured([0.0] * 33), "r")


@given(st.lists(st.floats(0, 0.9), min_size=2, max_size=20))
def test_whatever_was_measured_the_curve_is_a_map_from_0_to_1(values):
    degradation = [0.0, *values, 0.95]
    at = np.linspace(0, 1, len(degradation)).tolist()
    assert fit_curve(measured(degradation, at)).problem() == ""


def test_a_way_point_moves_severities_and_leaves_the_rest():
    lens = load_recipes()["lens_distortion"].recipe
    assert way_point(lens, 0.5) == {"distort": 0.05, "dispersion": 0.25, "fit": False}
    assert way_point(lens, 0.0) == lens.clean_parameters()


@pytest.fixture
def run_sweep(tmp_path):
    def run(*names, scenes=1):
        recipes = load_recipes([tmp_path] if list(tmp_path.glob("*.py")) else [])
        files = tuple((str(item.path), item.shipped) for item in recipes.values())
        return {
            found.recipe.id: found
            for found in sweep(
                names,
                load_dataset("clevr", recipes).splits[0],
                recipes,
                RendererSetup(files, threads=2, device="cpu"),
                SweepOptions(scenes, RenderOptions(48, 64, 4, denoise=False)),
                heard.append,
            )
        }

    heard = []
    run.heard = heard
    return run


@pytest.mark.blender
def test_recipes_of_all_stages_are_measured_on_the_same_scenes(run_sweep):
    names = ("gamma", "pixelate", "jpeg", "depth_of_field")
    found = run_sweep(*names)
    assert tuple(found) == names
    assert run_sweep.heard == ["sweep-fit/000000", "sweep-test/000000"]
    for result in found.values():
        assert result.tested.at == SEVERITIES
        assert result.tested.ssim.shape == (1, 11)
        assert result.tested.ssim[0, 0] == 1.0
        assert result.tested.psnr[0, 0] == np.inf
        assert result.tested.ssim[0, -1] < 0.99
        assert result.curve.problem() == ""
        assert result.ms_per_image > 0
        (variants,) = result.pictures.values()
        assert len(variants) == 6
    clean = [result.pictures["sweep-test/000000"][0].image for result in found.values()]
    assert all(np.array_equal(image, clean[0]) for image in clean)
    warped = found["pixelate"].pictures["sweep-test/000000"]
    assert not np.array_equal(warped[0].labels, warped[-1].labels)
    gamma = found["gamma"]
    assert np.all(np.diff(gamma.tested.ssim) < 0)
    assert 0 < gamma.hundredth < 0.03 * (1 - gamma.tested.ssim[0, -1])


@pytest.mark.blender
def test_a_recipe_that_leaves_nan_is_named_with_line_and_sample(run_sweep, tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN)
    with pytest.raises(RecipeError, match=r"sample sweep-fit/000000: .*broken\.py:6: .*NaN"):
        run_sweep("broken")
