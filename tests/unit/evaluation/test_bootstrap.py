"""Resampling against the normal approximation; the same draws for everyone."""

import numpy as np

from robustclevr.evaluation.bootstrap import bootstrap_rng, interval, resampled


def test_interval_of_a_mean_is_that_of_the_normal_law():
    values = np.random.default_rng(0).normal(3.0, 2.0, 400)
    draws = resampled(lambda w: w @ values / len(values), 400, 2000, rng=bootstrap_rng(0))
    low, high = interval(draws)
    half = 1.96 * values.std() / 20
    assert abs(low - (values.mean() - half)) < 0.03
    assert abs(high - (values.mean() + half)) < 0.03


def test_every_resample_has_as_many_samples():
    seen = []
    resampled(lambda w: seen.append(w) or w, 7, 50, rng=bootstrap_rng(1))
    weights = np.concatenate(seen)
    assert weights.shape == (50, 7)
    assert (weights.sum(axis=1) == 7).all()


def test_draws_do_not_depend_on_blocks(monkeypatch):
    whole = resampled(lambda w: w, 9, 40, rng=bootstrap_rng(2))
    monkeypatch.setattr("robustclevr.evaluation.bootstrap._BLOCK", 27)
    np.testing.assert_array_equal(resampled(lambda w: w, 9, 40, rng=bootstrap_rng(2)), whole)


def test_scores_that_are_not_there_are_left_out():
    values = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    low, high = interval(values)
    np.testing.assert_allclose([low[0], high[0]], [1.05, 2.95])
    assert np.isnan([low[1], high[1]]).all()
