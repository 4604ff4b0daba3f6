"""JPEG and other recipes on finished images."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from robustclevr.errors import RecipeError
from robustclevr.imaging import apply_encoded, jpeg_round_trip
from robustclevr.recipe import load_recipe, load_recipes
from robustclevr.records import Step

RECIPES = load_recipes()
IMAGE = np.random.default_rng(0).integers(0, 256, (37, 50, 3)).astype(np.uint8)
"""Noise, of a size that is no multiple of a block."""

MINE = """from robustclevr.recipe import Parameter, Recipe
RECIPE = Recipe("mine", "s", "encoded", "keeps",
                (Parameter("p", 0.0, worst=1.0, unit="px", source="s"),))


def build(context):
    {body}
"""


def pillow(image, quality, subsampling):
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=quality, subsampling=subsampling)
    return np.array(Image.open(buffer))


@pytest.mark.parametrize("quality", [1, 7, 25, 49, 50, 51, 75, 95, 100])
@pytest.mark.parametrize(("halve", "subsampling"), [(True, 2), (False, 0)])
def test_whole_qualities_are_those_of_libjpeg(quality, halve, subsampling):
    made = jpeg_round_trip(IMAGE, quality, halve=halve)
    np.testing.assert_array_equal(made, pillow(IMAGE, quality, subsampling))


@settings(max_examples=25, deadline=None)
@given(st.floats(1, 100), st.booleans())
def test_any_quality_gives_an_image_of_the_same_kind(quality, halve):
    made = jpeg_round_trip(IMAGE, quality, halve=halve)
    assert made.shape == IMAGE.shape
    assert made.dtype == np.uint8
    np.testing.assert_array_equal(made, jpeg_round_trip(IMAGE, quality, halve=halve))


def test_qualities_between_whole_ones_give_something_between():
    errors = [
        np.abs(jpeg_round_trip(IMAGE, q, halve=False) - IMAGE.astype(float)).mean()
        for q in (10.0, 9.75, 9.5, 9.25, 9.0)
    ]
    assert len(set(errors)) == 5
    assert errors[0] < errors[-1]


def step(recipe="jpeg", severity=0.5, **parameters):
    clean = RECIPES[recipe].recipe.clean_parameters() if recipe in RECIPES else {}
    return Step(recipe, recipe, {**clean, **parameters}, severity, 0)


def test_the_recipe_is_the_round_trip():
    made = apply_encoded(IMAGE, [step(quality=12.5)], RECIPES)
    np.testing.assert_array_equal(made, jpeg_round_trip(IMAGE, 12.5, halve=True))


def test_severity_zero_leaves_the_image_alone():
    assert apply_encoded(IMAGE, [step(severity=0.0)], RECIPES) is IMAGE
    assert apply_encoded(IMAGE, [], {}) is IMAGE


def test_steps_follow_each_other_and_the_image_stays():
    before = IMAGE.copy()
    made = apply_encoded(IMAGE, [step(quality=5.0), step(quality=60.0)], RECIPES)
    once = jpeg_round_trip(IMAGE, 5.0, halve=True)
    np.testing.assert_array_equal(made, jpeg_round_trip(once, 60.0, halve=True))
    np.testing.assert_array_equal(IMAGE, before)


@pytest.fixture
def mine(tmp_path):
    def run(body):
        path = Path(tmp_path / "mine.py")
        path.write_text(MINE.format(body=body))
        recipes = {"mine": load_recipe(path, shipped=False)}
        return apply_encoded(IMAGE, [Step("mine", "mine", {"p": 24.0}, 1.0, 9)], recipes)

    return run


def test_the_context_knows_size_seed_and_scaled_parameters(mine):
    body = (
        "assert (context.height, context.width, context.seed) == (37, 50, 9)\n"
        "    return context.image // 2 + int(10 * context.number('p'))"
    )
    np.testing.assert_array_equal(mine(body), IMAGE // 2 + 37)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1 / 0", r"mine\.py:7: ZeroDivisionError"),
        ("return None", r"mine\.py:6: build\(context\) returned None; it must return an image"),
        ("return context.image / 2", r"mine\.py:6: .* returned float64 \(37, 50, 3\)"),
        ("return context.image[1:]", r"mine\.py:6: .* returned uint8 \(36, 50, 3\)"),
        ("context.image[:] = 0", r"mine\.py:7: ValueError: .*read-only"),
    ],
)
def test_a_recipe_that_fails_is_named(mine, body, message):
    with pytest.raises(RecipeError, match=message):
        mine(body)
