"""Labels and soft masks, and what is said of those that do not fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robustclevr.errors import StoreError
from robustclevr.imaging import encode_npz, encode_png
from robustclevr.predictions import decode_prediction, to_labels

DUE = "; labels of shape (2, 3) or soft masks of shape (K, 2, 3) are due"
KINDS = "; floats (soft) or booleans (hard) are due, or one map of integer labels"


@given(arrays(np.float32, (3, 4, 2, 5), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
def test_soft_masks_of_clips_go_to_the_first_of_the_largest(masks):
    labels = to_labels(masks, (3, 2, 5))
    for t, row, column in np.ndindex(3, 2, 5):
        values = masks[t, :, row, column].tolist()
        assert labels[t, row, column] == values.index(max(values)) + 1


def test_equal_soft_masks_are_of_the_first_slot():
    assert to_labels(np.full((4, 2, 3), 0.25), (2, 3)).tolist() == [[1, 1, 1], [1, 1, 1]]


def test_hard_masks_leave_pixels_to_nobody():
    masks = np.zeros((2, 1, 4), bool)
    masks[0, 0, 1:3] = masks[1, 0, 2:4] = True
    assert to_labels(masks, (1, 4)).tolist() == [[0, 1, 1, 2]]


def test_labels_stay_as_they_are():
    labels = np.array([[0, 7], [300, 1]])
    assert to_labels(labels, (2, 2)) is labels
    assert to_labels(labels > 5, (2, 2)).tolist() == [[0, 1], [1, 0]]


def test_files_of_both_kinds():
    labels = np.arange(6, dtype=np.uint8).reshape(2, 3)
    from_png = decode_prediction(encode_png(labels), ".png", (2, 3))
    np.testing.assert_array_equal(from_png.labels, labels)
    pixels = np.ones((1, 2, 3, 3), np.uint8)
    data = encode_npz(masks=labels[np.newaxis], reconstruction=pixels)
    from_npz = decode_prediction(data, ".npz", (1, 2, 3))
    np.testing.assert_array_equal(from_npz.labels[0], labels)
    np.testing.assert_array_equal(from_npz.reconstruction, pixels)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (
            np.zeros((3, 2), np.uint8),
            "masks are of shape (3, 2)" + DUE,
        ),
        (
            np.zeros((0, 2, 3)),
            "masks are of shape (0, 2, 3)" + DUE,
        ),
        (np.full((2, 3), -1), "labels go down to -1; they begin at 0, no object"),
        (np.zeros((2, 3)), "labels are float64, integers are due"),
        (
            np.zeros((4, 2, 3), np.uint8),
            "masks are uint8" + KINDS,
        ),
        (np.full((4, 2, 3), np.nan), "24 values of the masks are infinite or not a number"),
        (np.full((4, 2, 3), -np.inf), "24 values of the masks are infinite or not a number"),
    ],
)
def test_what_does_not_fit_is_named(array, message):
    with pytest.raises(StoreError) as caught:
        to_labels(array, (2, 3))
    assert str(caught.value) == message


def test_other_contents_are_named():
    with pytest.raises(StoreError, match="is a color picture"):
        decode_prediction(encode_png(np.zeros((2, 3, 3), np.uint8)), ".png", (2, 3))
    with pytest.raises(StoreError, match="has no array 'masks', only 'mask'"):
        decode_prediction(encode_npz(mask=np.zeros((2, 3), np.uint8)), ".npz", (2, 3))
    data = encode_npz(masks=np.zeros((1, 2, 3), np.uint8), reconstruction=np.zeros((1, 2, 3)))
    with pytest.raises(StoreError, match=r"'reconstruction' is \(1, 2, 3\), \(1, 2, 3, 3\) is due"):
        decode_prediction(data, ".npz", (1, 2, 3))
