import json
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustclevr.records import (
    Draw,
    ImagePlan,
    NodeDraw,
    Step,
    canonical_json,
    from_json,
    to_json,
)

values = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.text())
numbers = st.floats(allow_nan=False, allow_infinity=False)
names = st.text("abc", min_size=1)
nodes = st.builds(
    NodeDraw,
    active=st.booleans(),
    parameters=st.dictionaries(names, values),
    severity=numbers,
    noise=st.dictionaries(names, numbers),
    log_density=numbers,
    clamped=st.dictionaries(names, values),
)
draws = st.builds(
    Draw,
    index=st.integers(0),
    nodes=st.dictionaries(names, nodes, max_size=3),
    log_density=numbers,
    interventions=st.dictionaries(names, st.text()),
)


@given(draws)
def test_records_survive_json_exactly(draw):
    assert from_json(Draw, json.loads(canonical_json(draw))) == draw


@given(draws)
def test_equal_records_have_equal_bytes(draw):
    again = from_json(Draw, to_json(draw))
    assert canonical_json(again) == canonical_json(draw)


def test_tuples_of_records_and_optional_fields():
    plan = ImagePlan("clean", 0, (Step("a", "b", {"x": 1, "on": True, "k": "z"}, 0.5, 3),))
    assert from_json(ImagePlan, json.loads(canonical_json(plan))) == plan


def test_an_integer_in_json_comes_back_as_the_float_that_it_was():
    @dataclass(frozen=True)
    class Point:
        x: float
        tags: Mapping[str, tuple[float, float]] | None

    Point.__annotations__ = {"x": float, "tags": Mapping[str, tuple[float, float]] | None}
    point = from_json(Point, {"x": 1, "tags": {"a": [1, 2]}})
    assert isinstance(point.x, float)
    assert point.tags == {"a": (1.0, 2.0)}
    assert from_json(Point, {"x": 1, "tags": None}).tags is None


def test_what_json_cannot_say_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"x": float("nan")})


def test_a_missing_field_is_an_error():
    with pytest.raises(KeyError):
        from_json(Draw, {"index": 1})
