"""Overlaps and gaps of boxes against pixels counted one by one, and by hand."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robustclevr.metrics.boxes import box_gaps, box_iou

BOXES = st.integers(1, 4).flatmap(
    lambda count: arrays(np.int64, (count, 4), elements=st.integers(0, 5))
)


def filled(box: np.ndarray) -> np.ndarray:
    canvas = np.zeros((12, 12), bool)
    left, top, width, height = box
    canvas[top : top + height, left : left + width] = True
    return canvas


@given(BOXES, BOXES)
@settings(deadline=None)
def test_overlap_equals_counted_pixels(detected: np.ndarray, truth: np.ndarray) -> None:
    plain = box_iou(detected, truth)
    crowded = box_iou(detected, truth, np.ones(len(truth), bool))
    for (i, j), value in np.ndenumerate(plain):
        a, b = filled(detected[i]), filled(truth[j])
        assert value == (a & b).sum() / max((a | b).sum(), 1)
        assert crowded[i, j] == (a & b).sum() / max(a.sum(), 1)


def test_gaps_by_hand() -> None:
    boxes = np.array([[0, 0, 2, 2], [2, 0, 1, 1], [5, 6, 1, 1], [1, 9, 1, 1]])
    gaps = box_gaps(boxes)
    np.testing.assert_array_equal(gaps, gaps.T)
    assert gaps[0].tolist() == [0.0, 0.0, 5.0, 7.0]  # touching; 3 and 4 away; above
