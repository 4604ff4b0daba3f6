"""Curves over severity against numbers by hand."""

import numpy as np
import pytest

from robustclevr.evaluation.scorers import MeanScorer, make_scorer
from robustclevr.evaluation.severity import (
    BANDWIDTH,
    GRID,
    bin_edges,
    bin_numbers,
    severity_curve,
)
from robustclevr.metrics import PRESETS


class OneScore(MeanScorer):
    names = ("score",)

    def values(self, _target, _prediction):
        raise NotImplementedError


def curve(severity, values, bins=10):
    sums = np.stack([np.nan_to_num(values), ~np.isnan(values)], axis=1).astype(float)
    return severity_curve(OneScore(), sums, np.asarray(severity, float), bins=bins, seed=0)


def test_bins():
    edges = bin_edges(4)
    assert bin_numbers(np.array([0, 0.24, 0.25, 0.5, 0.99, 1.0]), edges).tolist() == [
        *(0, 0, 1, 2, 3, 3)
    ]
    # 3/5 and what is left of 1 after 2/5, which is a little less, are the same severity.
    assert bin_numbers(np.array([0.6, 1 - 0.4 - 1e-16, 0.04 * 15]), bin_edges(5)).tolist() == [
        *(3, 3, 3)
    ]


def test_by_hand():
    found = curve([0.1, 0.2, 0.3, 0.9, 1.0], np.array([1.0, 0.5, 0.25, 0.1, np.nan]), bins=4)
    assert found.count.tolist() == [2, 1, 0, 2]
    np.testing.assert_allclose(found.mean[:, 0], [0.75, 0.25, np.nan, 0.1])
    assert found.area[0] == pytest.approx((0.75 + 0.25 + 0.1) / 3)
    assert found.covered == 0.75
    at = np.searchsorted(GRID, 0.5)
    weights = np.exp(-0.5 * ((GRID[at] - np.array([0.1, 0.2, 0.3, 0.9])) / BANDWIDTH) ** 2)
    assert found.smooth[at, 0] == pytest.approx(weights @ [1.0, 0.5, 0.25, 0.1] / weights.sum())
    assert np.isnan(found.smooth[GRID < 0.1]).all()
    # Two bandwidths from 0.3 and from 0.9 the curve ends; the image at 1 has no score to give.
    there = (GRID >= 0.1) & (GRID <= 0.5) | (GRID >= 0.7)
    assert (np.isnan(found.smooth[:, 0]) == ~there).all()
    # A bin of one image has no interval.
    assert np.isnan(found.interval[:, :3, 0]).tolist() == [[False, True, True]] * 2


def test_the_area_does_not_depend_on_how_often_a_severity_is_drawn():
    rng = np.random.default_rng(0)
    often_mild, uniform = rng.random(20000) ** 3, rng.random(20000)
    areas = [curve(s, 1.0 - 0.5 * s).area[0] for s in (often_mild, uniform)]
    assert areas == pytest.approx([0.75, 0.75], abs=0.005)


def test_intervals_hold_the_mean_and_narrow_with_images():
    rng = np.random.default_rng(1)
    widths = []
    for count in (100, 1600):
        severity = rng.random(count)
        found = curve(severity, 1.0 - severity + rng.normal(0, 0.1, count), bins=2)
        assert (found.interval[0] < found.mean).all() and (found.mean < found.interval[1]).all()
        assert found.area_interval[0, 0] < found.area[0] < found.area_interval[1, 0]
        widths.append(float(found.area_interval[1, 0] - found.area_interval[0, 0]))
    assert 2.5 < widths[0] / widths[1] < 6.0  # about sqrt(16)


def test_counts_are_added_before_they_are_turned_into_scores():
    scorer = make_scorer("mot", PRESETS["all-frames"])
    # Matches, switches, misses, false positives, sum of IoU, tracks, tracked, detected.
    sums = np.array([[9, 0, 1, 0, 9, 1, 1, 1], [0, 0, 1, 0, 0, 1, 0, 0]], float)
    found = severity_curve(scorer, sums, np.array([0.1, 0.1]), bins=1, seed=0)
    assert found.mean[0, scorer.names.index("mota")] == pytest.approx(1 - 2 / 11)


def test_no_curve_is_drawn_where_no_image_with_the_score_is():
    severity = np.array([0.0, 0.05, 0.1, 0.35, 0.6, 0.9, 1.0])
    values = np.array([1.0, 1.0, 0.9, np.nan, 0.6, 0.5, 0.4])
    smooth = curve(severity, values).smooth[:, 0]
    gap = (GRID > 0.3001) & (GRID < 0.3999)
    assert np.isnan(smooth[gap]).all() and gap.sum() == 4
    assert not np.isnan(smooth[~gap]).any()
