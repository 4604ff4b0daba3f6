"""``recipe new``: a file that works at once, and names that are refused."""

import pytest

from robustclevr.recipe import load_recipes


def test_the_file_is_a_recipe_and_is_listed(robustclevr, tmp_path):
    folder = tmp_path / "mine"
    finished = robustclevr("recipe", "new", "haze_2", "-o", folder)
    assert finished.code == 0
    assert finished.out == ""
    assert f"recipe sweep haze_2 --recipes {folder}" in finished.err
    loaded = load_recipes([folder])["haze_2"]
    assert not loaded.shipped
    assert loaded.apply is not None
    assert "haze_2: the image fades" in robustclevr("recipe", "list", "--recipes", folder).out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gamma", "there is a recipe 'gamma' already"),
        ("Haze", "'Haze' is no name for a recipe"),
        ("../haze", "is no name for a recipe"),
        ("mask", "'mask' is no name for a recipe"),
        ("min", "the name 'min' is reserved"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(robustclevr, tmp_path, name, message):
    finished = robustclevr("recipe", "new", name, "-o", tmp_path / "mine")
    assert finished.code == 2
    assert message in finished.err
    assert not (tmp_path / "mine").exists()


def test_nothing_is_overwritten(robustclevr, tmp_path):
    (tmp_path / "haze.py").write_text("mine")
    finished = robustclevr("recipe", "new", "haze", "-o", tmp_path)
    assert finished.code == 2
    assert "haze.py exists" in finished.err
    assert (tmp_path / "haze.py").read_text() == "mine"
