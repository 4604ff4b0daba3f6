"""Class mIoU and FB-IoU: the equations in loops, by hand, and a Bernoulli predictor."""

import math

import numpy as np
import pytest

from robustclevr.metrics import class_areas, expected_fb_iou, expected_iou


def transcribed(
    truth: np.ndarray, predicted: np.ndarray, classes: np.ndarray, n_classes: int
) -> tuple[float, float]:
    """Equations 1 to 7, pixel by pixel."""
    inter, union = np.zeros((2, n_classes)), np.zeros((2, n_classes))
    for t, p, c in zip(truth, predicted, classes, strict=True):
        tp = fp = fn = tn = 0
        for true, guess in zip(t.ravel(), p.ravel(), strict=True):
            tp += bool(true and guess)
            fp += bool(guess and not true)
            fn += bool(true and not guess)
            tn += bool(not true and not guess)
        inter[1, c] += tp
        union[1, c] += tp + fp + fn
        inter[0, c] += tn
        union[0, c] += tn + fn + fp
    miou = float(np.mean(inter[1] / union[1]))
    iou_f, iou_b = inter[1].sum() / union[1].sum(), inter[0].sum() / union[0].sum()
    return miou, (iou_f + iou_b) / 2


def test_scores_equal_the_equations() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        truth = rng.random((9, 5, 4)) < 0.4
        predicted = np.where(rng.random(truth.shape) < 0.8, truth, ~truth)
        classes = np.concatenate([[0, 1, 2], rng.integers(0, 3, 6)])
        scores = class_areas(truth, predicted, classes, 3).scores()
        expected = transcribed(truth, predicted, classes, 3)
        assert (scores["miou"], scores["fb_iou"]) == pytest.approx(expected, abs=1e-14)


def test_areas_add_up_over_a_set() -> None:
    rng = np.random.default_rng(1)
    truth, predicted = rng.random((2, 8, 6, 6)) < 0.5
    classes = rng.integers(0, 4, 8)
    whole = class_areas(truth, predicted, classes, 4)
    halves = class_areas(truth[:3], predicted[:3], classes[:3], 4) + class_areas(
        truth[3:], predicted[3:], classes[3:], 4
    )
    assert whole.scores() == halves.scores()


def test_a_bernoulli_predictor_meets_its_expectation() -> None:
    rng = np.random.default_rng(2)
    queries, size, truth_ratio, predicted_ratio = 10_000, 64, 0.3, 0.6
    truth = rng.random((queries, size)) < truth_ratio
    predicted = rng.random((queries, size)) < predicted_ratio
    areas = class_areas(truth, predicted, np.zeros(queries, int), 1)
    scores = areas.scores()
    # Ratio of binomial areas: the delta method with n pixels, each in the union or not.
    n, iou = queries * size, expected_iou(predicted_ratio, truth_ratio)
    union = predicted_ratio + truth_ratio - predicted_ratio * truth_ratio
    error = math.sqrt(iou * (1 - iou) / (n * union))
    assert error < 1e-3
    assert scores["miou"] == pytest.approx(iou, abs=3 * error)
    assert scores["miou_chance"] == pytest.approx(iou, abs=3 * error)
    expected = expected_fb_iou(predicted_ratio, truth_ratio)
    assert scores["fb_iou"] == pytest.approx(expected, abs=3 * error)
    assert scores["fb_iou_chance"] == pytest.approx(expected, abs=3 * error)


def test_expectations_by_hand_and_what_overprediction_does() -> None:
    assert expected_iou(0.5, 0.5) == pytest.approx(1 / 3)
    assert expected_iou(1.0, 0.2) == pytest.approx(0.2)  # all foreground
    assert expected_fb_iou(1.0, 0.2) == pytest.approx(0.1)
    ratios = np.linspace(0.05, 0.95, 19)
    assert all(np.diff([expected_iou(ratio, 0.5) for ratio in ratios]) > 0)
    balanced = [expected_fb_iou(ratio, 0.5) for ratio in ratios]
    assert int(np.argmax(balanced)) == 9  # equation 10 is zero at one half


def test_what_does_not_occur_is_left_out() -> None:
    truth = np.array([[True, False], [False, False]])
    areas = class_areas(truth, truth, np.array([0, 2]), 3)
    np.testing.assert_array_equal(areas.class_iou(), [1.0, math.nan, math.nan])
    assert areas.scores()["miou"] == 1.0
    assert areas.scores()["fb_iou"] == 1.0
    empty = class_areas(truth[:0], truth[:0], np.zeros(0, int), 2).scores()
    assert all(math.isnan(value) for value in empty.values())


def test_predictions_of_the_wrong_kind_are_errors() -> None:
    masks = np.zeros((2, 3, 3), bool)
    with pytest.raises(ValueError, match="classes from 0 to 2 where there are 2"):
        class_areas(masks, masks, np.array([0, 2]), 2)
    with pytest.raises(ValueError, match=r"predicted \(2, 3\)"):
        class_areas(masks, masks[..., 0], np.array([0, 1]), 2)
