import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustclevr.recipe import Parameter, Recipe
from robustclevr.records.curve import Curve
from robustclevr.scm.severity import parameters_of_severity, severity

RECIPE = Recipe(
    "test",
    "test",
    "image",
    "keeps",
    (
        Parameter("up", 1.0, worst=5.0, source="test"),
        Parameter("down", 128.0, worst=28.0, source="test"),
        Parameter("steps", 0, worst=10.0, source="test"),
        Parameter("angle", 0.0, role="nuisance", source="test"),
        Parameter("kind", "a", role="nuisance", choices=("a", "b"), source="test"),
    ),
)


def test_by_hand():
    columns = {
        "up": np.array([1.0, 2.0, 0.0, 9.0, 1.0]),
        "down": np.array([128.0, 128.0, 103.0, 128.0, 150.0]),
        "steps": np.array([0.0, 1.0, 0.0, 0.0, 0.0]),
        "angle": np.array([7.0, 7.0, 7.0, 7.0, 7.0]),
    }
    assert severity(RECIPE, columns).tolist() == [0.0, 0.25, 0.25, 1.0, 0.22]


ONE_SIDED = Recipe(
    "test",
    "test",
    "image",
    "keeps",
    (
        Parameter("mix", -1.0, worst=0.5, low=-1.0, high=1.0, source="test"),
        Parameter("light", 0.0, worst=-4.0, low=-6.0, high=0.0, source="test"),
        Parameter("depth", 0.0, worst=10.0, low=-2.0, source="test"),
    ),
)


@pytest.mark.parametrize(
    ("parameter", "drawn", "expected"),
    [
        ("mix", [-9.0, -1.0, -0.25, 0.5, 1.0, 7.0], [0.0, 0.0, 0.5, 1.0, 1.0, 1.0]),
        ("light", [3.0, 0.0, -1.0, -4.0, -6.0, -9.0], [0.0, 0.0, 0.25, 1.0, 1.0, 1.0]),
        ("depth", [-9.0, -2.0, -1.0, 5.0, np.inf], [0.2, 0.2, 0.1, 0.5, 1.0]),
    ],
)
def test_what_is_clamped_to_clean_is_clean(parameter, drawn, expected):
    found = severity(ONE_SIDED, {parameter: np.array(drawn)})
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(st.sampled_from(["mix", "light", "depth"]), st.floats(-1e9, 1e9))
def test_severity_is_that_of_the_applied_value(name, drawn):
    applied = ONE_SIDED.parameter(name).clamp(drawn)
    found = (severity(ONE_SIDED, {name: np.asarray(value)}) for value in (drawn, applied))
    assert len(set(map(float, found))) == 1


def test_missing_parameters_are_clean():
    assert severity(RECIPE, {}) == 0.0
    assert severity(RECIPE, {"up": np.array(3.0), "kind": np.array("b")}) == 0.5


@given(st.floats(-0.5, 1.5))
def test_severity_of_the_parameters_of_a_severity(level):
    parameters = parameters_of_severity(RECIPE, np.array([level]))
    assert set(parameters) == {"up", "down", "steps"}
    assert severity(RECIPE, parameters)[0] == pytest.approx(min(max(level, 0.0), 1.0), abs=1e-12)


def test_ends():
    clean = parameters_of_severity(RECIPE, np.array(0.0))
    assert {name: float(value) for name, value in clean.items()} == {
        "up": 1.0,
        "down": 128.0,
        "steps": 0.0,
    }
    assert severity(RECIPE, clean) == 0.0
    worst = parameters_of_severity(RECIPE, np.array(1.0))
    assert (worst["up"], worst["down"], worst["steps"]) == (5.0, 28.0, 10.0)


CURVED = dataclasses.replace(RECIPE, curve=Curve((0.0, 0.5, 0.75, 1.0), (0.0, 0.1, 0.5, 1.0)))
"""The first tenth of the way is half of the degradation."""


def test_a_curve_maps_the_way_to_severity():
    columns = {"up": np.array([1.0, 1.2, 1.4, 3.0, -1.0, 4.0, 5.0, 9.0])}
    expected = [0.0, 0.25, 0.5, 0.75, 0.75, 0.875, 1.0, 1.0]
    np.testing.assert_allclose(severity(CURVED, columns), expected, rtol=1e-12)
    assert severity(CURVED, {}) == 0.0


def test_a_curve_maps_severity_to_parameters():
    found = parameters_of_severity(CURVED, np.array([0.0, 0.25, 0.5, 0.625, 0.75, 1.0, 2.0]))
    np.testing.assert_allclose(found["up"], [1.0, 1.2, 1.4, 2.2, 3.0, 5.0, 5.0])
    np.testing.assert_allclose(found["down"], [128.0, 123.0, 118.0, 98.0, 78.0, 28.0, 28.0])
    assert set(found) == {"up", "down", "steps"}


@given(st.floats(0, 1))
def test_a_curve_there_and_back(level):
    found = parameters_of_severity(CURVED, np.asarray(level))
    assert float(severity(CURVED, found)) == pytest.approx(level, abs=1e-9)
