"""Labels that move, and what is read off them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robustclevr.imaging import boxes_and_fractions, warp_amodal, warp_labels

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 9))
LABELS = SHAPES.flatmap(lambda shape: arrays(np.uint8, shape, elements=st.integers(0, 4)))


@st.composite
def labels_and_source(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    labels = draw(LABELS)
    source = arrays(np.int32, draw(SHAPES), elements=st.integers(-1, labels.size - 1))
    return labels, draw(source)


@given(labels_and_source())
def test_warping_gathers_pixel_by_pixel(case: tuple[np.ndarray, np.ndarray]) -> None:
    labels, source = case
    warped = warp_labels(labels, source)
    assert warped.dtype == np.uint8
    assert warped.shape == source.shape
    for (row, column), index in np.ndenumerate(source):
        from_there = labels[divmod(int(index), labels.shape[1])] if index >= 0 else 0
        assert warped[row, column] == from_there


@given(labels_and_source())
def test_masks_move_as_labels_do(case: tuple[np.ndarray, np.ndarray]) -> None:
    labels, source = case
    masks = labels == np.arange(1, 5)[:, np.newaxis, np.newaxis]
    warped = warp_labels(labels, source)
    expected = warped == np.arange(1, 5)[:, np.newaxis, np.newaxis]
    np.testing.assert_array_equal(warp_amodal(masks, source), expected)


@given(LABELS)
def test_the_identity_moves_nothing(labels: np.ndarray) -> None:
    identity = np.arange(labels.size, dtype=np.int32).reshape(labels.shape)
    np.testing.assert_array_equal(warp_labels(labels, identity), labels)
    np.testing.assert_array_equal(warp_labels(labels, np.full_like(identity, -1)), 0)


def test_no_objects_have_no_masks() -> None:
    source = np.zeros((2, 2), np.int32)
    assert warp_amodal(np.zeros((0, 3, 3), np.bool_), source).shape == (0, 2, 2)
    assert boxes_and_fractions(np.zeros((2, 2), np.uint8), 0) == ()


def test_boxes_by_hand() -> None:
    labels = np.array([[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 3], [0, 0, 0, 3]], np.uint8)
    first, second, third = boxes_and_fractions(labels, 3, amodal_pixels=(6, 5, 2))
    assert (first.box, first.visible_pixels, first.visible_fraction) == ((1, 1, 3, 3), 3, 0.5)
    assert (second.box, second.visible_pixels, second.visible_fraction) == (None, 0, 0.0)
    assert (third.box, third.visible_pixels, third.visible_fraction) == ((3, 2, 4, 4), 2, 1.0)


def test_fractions_need_the_whole_and_stay_below_one() -> None:
    labels = np.array([[1, 2]], np.uint8)
    unknown = boxes_and_fractions(labels, 2)
    assert [item.visible_fraction for item in unknown] == [None, None]
    known = boxes_and_fractions(labels, 3, amodal_pixels=np.array([0, 1, 0]).tolist())
    assert [item.visible_fraction for item in known] == [None, 1.0, None]
    assert boxes_and_fractions(np.ones((2, 2), np.uint8), 1, amodal_pixels=[3])[
        0
    ].visible_fraction == pytest.approx(1.0)


def test_a_count_of_wholes_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        boxes_and_fractions(np.zeros((2, 2), np.uint8), 2, amodal_pixels=[1])


@given(LABELS)
def test_boxes_are_tight(labels: np.ndarray) -> None:
    footprints = boxes_and_fractions(labels, 4)
    assert sum(item.visible_pixels for item in footprints) == np.count_nonzero(labels)
    for index, item in enumerate(footprints, start=1):
        rows, columns = np.nonzero(labels == index)
        if item.box is None:
            assert not rows.size
        else:
            assert item.box == (
                columns.min(),
                rows.min(),
                columns.max() + 1,
                rows.max() + 1,
            )
