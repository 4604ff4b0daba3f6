"""Hungarian mIoU against the best of all permutations, and by hand."""

import itertools
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robustclevr.metrics import matched_iou

MAPS = st.integers(1, 10).flatmap(
    lambda size: arrays(np.int64, (2, size), elements=st.integers(0, 3))
)


def best_of_all(truth: np.ndarray, predicted: np.ndarray) -> float:
    names, others = np.unique(truth), list(np.unique(predicted))
    others += [-1] * max(0, len(names) - len(others))  # -1: no partner
    table = {
        (a, b): ((truth == a) & (predicted == b)).sum() / ((truth == a) | (predicted == b)).sum()
        for a in names
        for b in others
    }
    chosen = itertools.permutations(others, len(names))
    return max(sum(table[pair] for pair in zip(names, order, strict=True)) for order in chosen)


@given(MAPS)
@settings(deadline=None)
def test_no_pairing_is_better(maps: np.ndarray) -> None:
    truth, predicted = maps
    best = best_of_all(truth, predicted)
    n_truth, n_predicted = len(np.unique(truth)), len(np.unique(predicted))
    scores = matched_iou(truth[None], predicted[None])
    np.testing.assert_allclose(scores.mean, best / n_truth, rtol=1e-12)
    np.testing.assert_allclose(scores.mean_of_pairs, best / max(n_truth, n_predicted), rtol=1e-12)


def test_means_by_hand() -> None:
    truth = np.array([[0, 0, 0, 0, 1, 1, 2, 2]])
    predicted = np.array([[5, 5, 5, 6, 1, 1, 2, 0]])  # 3/4, 1, 1/2, and two segments too many
    scores = matched_iou(truth, predicted)
    assert scores.mean[0] == (0.75 + 1 + 0.5) / 3
    assert scores.mean_of_pairs[0] == (0.75 + 1 + 0.5) / 5
    objects = matched_iou(truth, predicted, foreground=True)
    assert objects.mean[0] == (1 + 0.5) / 2
    assert objects.mean_of_pairs[0] == (1 + 0.5) / 4


def test_an_object_that_was_joined_adds_nothing() -> None:
    truth, predicted = np.array([[0, 0, 1, 2]]), np.array([[0, 0, 1, 1]])
    assert matched_iou(truth, predicted).mean[0] == (1 + 0.5 + 0) / 3
    assert matched_iou(truth, predicted, foreground=True).mean[0] == 0.25


def test_a_scene_without_objects_has_no_score_of_objects() -> None:
    nothing, something = np.zeros((1, 4), int), np.array([[0, 0, 1, 1]])
    assert math.isnan(matched_iou(nothing, nothing, foreground=True).mean[0])
    scores = matched_iou(nothing, something, foreground=True)
    assert math.isnan(scores.mean[0])
    assert scores.mean_of_pairs[0] == 0.0  # a false segment is one pair
    assert matched_iou(nothing, nothing).mean[0] == 1.0


def test_truth_scores_one() -> None:
    truth = np.random.default_rng(0).integers(0, 6, (5, 8, 8))
    for foreground in (False, True):
        scores = matched_iou(truth, truth + 3, foreground=foreground)
        np.testing.assert_array_equal(scores.mean, 1.0)
        np.testing.assert_array_equal(scores.mean_of_pairs, 1.0)
