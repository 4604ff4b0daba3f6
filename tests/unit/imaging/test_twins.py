"""Steps by numpy twins: order, clean steps, labels that follow, and recipes that misbehave."""

from dataclasses import replace

import numpy as np
import pytest

from robustclevr.errors import RecipeError
from robustclevr.imaging.twins import apply_steps, source_map, without_twin
from robustclevr.recipe import load_recipes
from robustclevr.records import Step

RECIPES = load_recipes()
IMAGE = np.random.default_rng(0).random((24, 32, 3), np.float32)


def step(recipe, severity=0.5, **parameters):
    clean = RECIPES[recipe].recipe.clean_parameters()
    return Step(recipe, recipe, {**clean, **parameters}, severity, 3)


def test_steps_apply_in_order():
    gamma, shift = step("gamma", gamma=2.0), step("bright_contrast", bright=-20.0)
    one = apply_steps(IMAGE, [gamma, shift], RECIPES)
    np.testing.assert_allclose(one, IMAGE**2 - 0.2, atol=1e-6)
    other = apply_steps(IMAGE, [shift, gamma], RECIPES)
    assert np.abs(one - other).max() > 0.05


def test_a_clean_step_leaves_every_bit():
    clean = step("gaussian_blur", severity=0.0, size=5.0)
    assert apply_steps(IMAGE, [clean], RECIPES) is IMAGE
    assert source_map([step("pixelate", severity=0.0, scale=0.2)], 24, 32, RECIPES) is None


def test_pixels_are_given_for_240_rows():
    wide = apply_steps(IMAGE, [step("gaussian_blur", size=20.0)], RECIPES)
    direct = RECIPES["gaussian_blur"].apply(IMAGE, {"size": 2.0}, 0)
    np.testing.assert_array_equal(wide, direct)


def test_labels_follow_blocks_exactly():
    blocks = [step("gamma", gamma=3.0), step("pixelate", scale=0.25)]
    source = source_map(blocks, 24, 32, RECIPES)
    assert (source.dtype, source.shape) == (np.int32, (24, 32))
    moved = IMAGE.reshape(-1, 3)[source.ravel()].reshape(IMAGE.shape)
    np.testing.assert_array_equal(moved, apply_steps(IMAGE, blocks[1:], RECIPES))


def test_nothing_is_seen_in_the_corners_of_a_lens_that_bends():
    lens = step("lens_distortion", distort=0.5)
    source = source_map([lens], 24, 32, RECIPES)
    black = (apply_steps(np.ones_like(IMAGE), [lens], RECIPES) == 0).all(axis=-1)
    assert black.any()
    assert (source[black] == -1).all()
    assert source[12, 16] in (12 * 32 + 16, 11 * 32 + 15, 11 * 32 + 16, 12 * 32 + 15)


def test_which_recipes_only_blender_can_apply():
    recipes = {**RECIPES, "glare": replace(RECIPES["glare"], apply=None)}
    assert without_twin(["gamma", "glare", "fog_volume", "jpeg"], recipes) == [
        "glare",
        "fog_volume",
    ]
    with pytest.raises(RecipeError, match="has no numpy twin"):
        apply_steps(IMAGE, [step("glare")], recipes)


@pytest.mark.parametrize(
    ("apply", "message"),
    [
        (lambda image, _params, _seed: image / 0, "not finite"),
        (lambda image, _params, _seed: image[1:], "apply gives"),
        (lambda _image, _params, _seed: {}["x"], "KeyError"),
    ],
)
def test_a_twin_that_misbehaves_is_named(apply, message):
    broken = {"gamma": replace(RECIPES["gamma"], apply=apply)}
    with np.errstate(all="ignore"), pytest.raises(RecipeError, match=message) as caught:
        apply_steps(IMAGE, [step("gamma")], broken)
    assert "gamma.py" in str(caught.value)
