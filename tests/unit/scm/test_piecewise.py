"""The fast polyline is numpy's own, and the same in a short column as in a long one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustclevr.recipe import load_recipes
from robustclevr.scm.piecewise import _FEW, _buckets, interpolate

CURVES = {name: item.recipe.curve for name, item in load_recipes().items() if item.recipe.curve}


def check(knots, values, seed):
    """Compare at random points, at every knot and at its neighbours on both sides."""
    at = np.array(knots)
    near = np.concatenate([at, np.nextafter(at, 0), np.nextafter(at, 1)]).clip(0, 1)
    x = np.concatenate([near, np.random.default_rng(seed).random(2 * _FEW)])
    found = interpolate(x, knots, values)
    steepest = np.max(np.diff(values) / np.diff(knots))
    np.testing.assert_allclose(found, np.interp(x, knots, values), rtol=0, atol=1e-15 * steepest)
    assert found.min() == values[0] and found.max() == values[-1]
    parts = [interpolate(part, knots, values) for part in np.array_split(x, 40)]
    np.testing.assert_array_equal(np.concatenate(parts), found)
    assert interpolate(np.asarray(x[7]), knots, values) == found[7]


@pytest.mark.parametrize("name", CURVES)
def test_measured_curves_both_ways(name):
    curve = CURVES[name]
    for knots, values in ((curve.severity, curve.fraction), (curve.fraction, curve.severity)):
        assert _buckets(knots, values) is not None
        check(knots, values, 0)


@settings(max_examples=60, deadline=None)
@given(
    inner=st.lists(st.integers(1, 10**6 - 1), unique=True, max_size=12),
    seed=st.integers(0, 9),
)
def test_any_knots(inner, seed):
    """Also those that lie too close to each other for a table."""
    knots = (0.0, *(k / 10**6 for k in sorted(inner)), 1.0)
    values = np.sort(np.random.default_rng(seed).random(len(knots)))
    check(knots, (0.0, *values[1:-1].tolist(), 1.0), seed)


def test_nan_stays_nan_and_shapes_stay():
    x = np.linspace(0, 1, 3000).reshape(3, 1000).copy()
    x[1, 5] = np.nan
    with np.errstate(all="ignore"):
        found = interpolate(x, (0.0, 0.25, 1.0), (0.0, 0.5, 1.0))
    assert found.shape == x.shape
    assert np.isnan(found[1, 5]) and np.isnan(found).sum() == 1
    assert interpolate(np.asarray(0.25), (0.0, 0.25, 1.0), (0.0, 0.5, 1.0)) == 0.5
