"""Recipe files: what ships, what a file must hold, how values are clamped."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from robustclevr.errors import RecipeError, SpecError
from robustclevr.recipe import Parameter, get_recipe, load_recipe, load_recipes
from robustclevr.records.curve import Curve

# Parameters of the paper's eight in the authors' names: (role, clean value).
PAPER = {
    "clouds": {"factor": ("severity", 0.0)},
    "defocus": {"z": ("severity", 0.0), "f_stop": ("nuisance", 128.0)},
    "gamma": {"gamma": ("severity", 1.0)},
    "gaussian_blur": {"size": ("severity", 0.0)},
    "glare": {
        "mix": ("severity", -1.0),
        "angle_offset": ("nuisance", 0.0),
        "kind": ("nuisance", "simple_star"),
        "streaks": ("nuisance", 4),
        "iterations": ("nuisance", 3),
    },
    "lens_distortion": {
        "distort": ("severity", 0.0),
        "dispersion": ("severity", 0.0),
        "fit": ("nuisance", False),
    },
    "motion_blur": {
        "distance": ("severity", 0.0),
        "angle": ("nuisance", 0.0),
        "zoom": ("severity", 0.0),
        "spin": ("severity", 0.0),
        "iterations": ("nuisance", 12),
        "center_x": ("nuisance", 0.5),
        "center_y": ("nuisance", 0.5),
    },
    "white_noise": {"factor": ("severity", 0.0)},
}

GOOD = """\
from robustclevr.recipe import Parameter, Recipe
RECIPE = Recipe(
    "{id}", "", "image", "keeps", (Parameter("p", clean=0.0, worst={worst}, source="x"),)
)
def build(context):
    return context.image
"""


def write(folder, name="mine", text=GOOD, **fields):
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(text.format(**{"id": name, "worst": 1.0, **fields}))
    return path


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_recipes_have_the_authors_parameters(name):
    recipe = load_recipes()[name].recipe
    declared = {entry.name: (entry.role, entry.clean) for entry in recipe.parameters}
    assert declared == PAPER[name]
    assert recipe.stage == "image"
    assert recipe.geometry == ("warps" if name == "lens_distortion" else "keeps")
    assert recipe.summary


@pytest.mark.parametrize("name", PAPER)
def test_clean_and_worst_values_are_safe(name):
    for entry in load_recipes()[name].recipe.parameters:
        for value in (entry.clean, entry.worst):
            assert value is None or entry.clamp(value) == value


def test_shipped_recipes_load_without_blender():
    script = (
        "import sys\n"
        "sys.modules['bpy'] = None\n"
        "from robustclevr.recipe import load_recipes\n"
        "print(len(load_recipes()))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= len(PAPER)


def test_a_users_folder_adds_recipes(tmp_path):
    path = write(tmp_path / "user")
    loaded = load_recipes([path.parent])
    assert set(loaded) == set(load_recipes()) | {"mine"}
    assert not loaded["mine"].shipped
    assert loaded["glare"].shipped
    assert list(loaded) == sorted(loaded)


def test_the_digest_follows_the_files_bytes(tmp_path):
    path = write(tmp_path)
    before = load_recipe(path).digest
    path.write_text(path.read_text() + "# one more line\n")
    assert load_recipe(path).digest != before


def test_a_users_id_may_not_be_a_shipped_one(tmp_path):
    write(tmp_path, "glare")
    with pytest.raises(SpecError, match="recipe id 'glare' is taken"):
        load_recipes([tmp_path])


def test_a_folder_without_recipes_is_an_error(tmp_path):
    with pytest.raises(SpecError, match="no recipe files"):
        load_recipes([tmp_path / "missing"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "defines no RECIPE"),
        ("1 / 0\n", "ZeroDivisionError while loading"),
        (GOOD.replace("def build", "def built"), "defines no function build"),
        (GOOD.replace('"{id}"', '"other"'), "must equal the file's name"),
        (GOOD.replace("{worst}", "0.0"), "needs a worst value other than clean"),
        (GOOD.replace('source="x"', 'source=""'), "needs a unit and a source"),
        (GOOD.replace("worst={worst}", 'role="nuisance"'), "at least one parameter"),
    ],
)
def test_a_file_that_breaks_the_contract_is_named(tmp_path, text, message):
    path = write(tmp_path, text=text)
    with pytest.raises(RecipeError, match=message) as caught:
        load_recipe(path)
    assert str(path) in str(caught.value)


def write_curve(path, **changes):
    knots = {"severity": [0.0, 0.5, 1.0], "fraction": [0.0, 0.25, 1.0]}
    document = {"recipe": path.stem, "map": knots, **changes}
    path.with_name(f"{path.stem}.curve.json").write_text(json.dumps(document))


def test_the_curve_beside_a_file_is_loaded_with_it(tmp_path):
    path = write(tmp_path)
    assert load_recipe(path).recipe.curve is None
    write_curve(path)
    assert load_recipe(path).recipe.curve == Curve((0.0, 0.5, 1.0), (0.0, 0.25, 1.0))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recipe": "other"}, "was measured with the recipe 'other', not 'mine'"),
        ({"map": {"severity": [0, 1]}}, "is no curve that 'recipe sweep' wrote: KeyError"),
        ({"map": {"severity": [0, "x"], "fraction": [0, 1]}}, "ValueError"),
        ({"map": None}, "TypeError"),
        ({"map": {"severity": [0, 1], "fraction": [0.1, 1]}}, "fraction must go from 0 to 1"),
        ({"map": {"severity": [0, 0.9], "fraction": [0, 1]}}, "severity must go from 0 to 1"),
        ({"map": {"severity": [0, 0, 1], "fraction": [0, 0.5, 1]}}, "severity must increase"),
        ({"map": {"severity": [0, 0.5, 1], "fraction": [0, 1]}}, "the same number of knots"),
    ],
)
def test_a_curve_that_is_none_is_named(tmp_path, changes, message):
    path = write(tmp_path)
    write_curve(path, **changes)
    with pytest.raises(RecipeError, match=message) as caught:
        load_recipe(path)
    assert "mine.curve.json" in str(caught.value)


def test_an_unknown_recipe_gets_the_nearest_name():
    with pytest.raises(SpecError, match="did you mean 'gaussian_blur'"):
        get_recipe(load_recipes(), "gausian_blur")


def test_values_are_clamped_and_integers_rounded_down():
    number = Parameter("n", clean=0.0, low=-1.0, high=2.0)
    integer = Parameter("i", clean=3, low=1, high=5)
    word = Parameter("w", clean="a", choices=("a", "b"))
    assert [number.clamp(value) for value in (-7.0, 0.5, 9)] == [-1.0, 0.5, 2.0]
    assert [integer.clamp(value) for value in (0, 4.9, 77)] == [1, 4, 5]
    assert type(integer.clamp(4.9)) is int
    assert word.clamp("b") == "b"
    assert [entry.kind for entry in (number, integer, word)] == ["number", "integer", "choice"]


@pytest.mark.parametrize(
    ("recipe", "angle", "others"),
    [
        ("motion_blur", "angle", {"distance": 0.2}),
        ("glare", "angle_offset", {"mix": 1.0, "kind": "streaks", "streaks": 5}),
    ],
)
def test_whole_turns_change_nothing_and_no_turn_is_clamped(recipe, angle, others):
    loaded = load_recipes()[recipe]
    image = np.random.default_rng(0).random((24, 32, 3), np.float32) * 3
    clean = loaded.recipe.clean_parameters()
    assert loaded.recipe.parameter(angle).clamp(-0.7) == -0.7
    due = loaded.apply(image, {**clean, **others, angle: math.tau - 0.7}, 0)
    for turned in (-0.7, -0.7 - 2 * math.tau, 3 * math.tau - 0.7):
        again = loaded.apply(image, {**clean, **others, angle: turned}, 0)
        np.testing.assert_allclose(again, due, rtol=0, atol=1e-5)
    assert np.abs(due - loaded.apply(image, {**clean, **others, angle: 0.0}, 0)).max() > 0.1
