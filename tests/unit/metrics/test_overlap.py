"""Counts of shared pixels against loops over labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robustclevr.metrics.overlap import iou, label_overlaps, mask_overlaps, pair_counts

SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 5))
LABELS = st.sampled_from([0, 1, 2, 7, 256, 70_000])
PAIRS = SHAPES.flatmap(
    lambda shape: st.tuples(
        arrays(np.int64, shape, elements=LABELS), arrays(np.int64, shape, elements=LABELS)
    )
)


@given(PAIRS)
@settings(deadline=None)
def test_pairs_are_counted_one_by_one(maps: tuple[np.ndarray, np.ndarray]) -> None:
    truth, predicted = maps
    pairs = pair_counts(truth, predicted)
    for (batch, row, column), count in np.ndenumerate(pairs.counts):
        both = (truth[batch] == pairs.truth_ids[row]) & (
            predicted[batch] == pairs.predicted_ids[column]
        )
        assert count == both.sum()
    assert pairs.counts.sum() == truth.size
    assert pairs.counts.dtype == np.int64


@given(PAIRS)
@settings(deadline=None)
def test_labels_and_their_masks_overlap_alike(maps: tuple[np.ndarray, np.ndarray]) -> None:
    truth, predicted = (np.minimum(labels, 9) for labels in maps)
    of_labels = label_overlaps(truth, predicted)
    of_masks = mask_overlaps(
        np.stack([truth == label for label in range(1, truth.max() + 1)] or [truth < 0], axis=1),
        np.stack([predicted == i for i in range(1, predicted.max() + 1)] or [truth < 0], axis=1),
        (truth == 0)[:, np.newaxis],
    )
    assert of_labels.shared.sum() == of_masks.shared.sum()
    if truth.max() and predicted.max():
        for name in ("shared", "truth_pixels", "predicted_pixels", "background_shared"):
            np.testing.assert_array_equal(getattr(of_labels, name), getattr(of_masks, name))


def test_iou_by_hand() -> None:
    shared = np.array([[2, 0], [0, 0]])
    np.testing.assert_array_equal(
        iou(shared, np.array([4, 0]), np.array([2, 0])), [[0.5, 0.0], [0.0, 0.0]]
    )


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full((1, 2, 2), -3), "true labels go down to -3"),
        (np.zeros((1, 2, 2)), "true labels are float64, not integers"),
    ],
)
def test_labels_that_are_none_are_an_error(labels: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pair_counts(labels, np.zeros((1, 2, 2), np.uint8))


def test_masks_of_other_sizes_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"\(2, 1, 4, 5\) beside true ones of \(2, 1, 4, 4\)"):
        mask_overlaps(np.zeros((2, 1, 4, 4), bool), np.zeros((2, 1, 4, 5), bool))
