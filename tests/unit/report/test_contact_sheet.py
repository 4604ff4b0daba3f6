import numpy as np
import pytest

from robustclevr.report import contact_sheet


def flat(value, height=20, width=30):
    # Not grey: the titles' smoothed edges are.
    return np.tile(np.array([value, 0, 255], np.uint8), (height, width, 1))


def test_images_stand_in_reading_order_and_unchanged():
    rows = [[flat(10), flat(20)], [flat(30), flat(40)], [flat(50), flat(60)]]
    sheet = contact_sheet(rows, column_titles=["a", "b"], row_titles=["0", "1", "2"])
    found = {}
    for value in (10, 20, 30, 40, 50, 60):
        ys, xs = np.nonzero((sheet == (value, 0, 255)).all(axis=2))
        assert len(ys) == 20 * 30
        found[value] = ys.min(), xs.min()
    assert [found[v][0] for v in (10, 30, 50)] == sorted({found[v][0] for v in found})
    assert found[10][0] == found[20][0]
    assert found[10][1] < found[20][1] == found[60][1]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="at least one image"):
        contact_sheet([], column_titles=[], row_titles=[])
    with pytest.raises(ValueError, match="one title"):
        contact_sheet([[flat(1)]], column_titles=["a", "b"], row_titles=["0"])
    with pytest.raises(ValueError, match="image"):
        contact_sheet([[flat(1), flat(2, 10)]], column_titles=["a", "b"], row_titles=["0"])
