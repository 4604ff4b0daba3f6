"""Scorers: the vectors of single predictions add up to scores of sets."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from robustclevr.errors import SpecError, StoreError
from robustclevr.evaluation.scorers import SHAPES, make_scorer, partners
from robustclevr.metrics import (
    IOU_SWEEP,
    PRESETS,
    TrackingCounts,
    class_areas,
    matched_iou,
    rand_scores,
    score_clip,
    squared_error,
)
from robustclevr.predictions import Prediction
from robustclevr.scenes import properties
from robustclevr.video import shapes, sprites_mot

RULES = PRESETS["all-frames"]


def target(labels, classes=("cube", "cylinder", "sphere"), **more):
    return SimpleNamespace(labels=labels, shape=labels.shape, classes=classes, name="t", **more)


def blocks(rng, frames=None):
    """Random truth with three objects, and a prediction that is partly right."""
    shape = (12, 12) if frames is None else (frames, 12, 12)
    truth = np.kron(rng.integers(0, 4, (*shape[:-2], 3, 3)), np.ones((4, 4), int))
    predicted = np.where(rng.random(shape) < 0.3, rng.integers(0, 5, shape), truth)
    return truth, predicted


@pytest.mark.parametrize("name", ["ari", "miou", "classes"])
def test_scores_of_one_are_those_of_the_metrics(name):
    rng = np.random.default_rng(1)
    truth, predicted = blocks(rng)
    scorer = make_scorer(name, RULES)
    sums = scorer.sums(target(truth), Prediction(predicted))
    found = dict(zip(scorer.names, scorer.scores(sums).tolist(), strict=True))
    if name == "ari":
        foreground = rand_scores(truth[None], predicted[None], foreground=True)
        assert found["ari"] == rand_scores(truth[None], predicted[None]).ari[0]
        assert found["fg_arr"] == foreground.arr[0]
    elif name == "miou":
        assert found["miou"] == matched_iou(truth[None], predicted[None]).mean[0]
        assert found["miou_pairs"] == matched_iou(truth[None], predicted[None]).mean_of_pairs[0]
    else:
        partner = partners(truth, predicted, 3)
        areas = class_areas(
            np.stack([truth == i for i in (1, 2, 3)]),
            np.stack([predicted == p for p in partner]),
            np.array([0, 1, 2]),
            3,
        )
        assert found["class_miou"] == areas.scores()["miou"]
        assert found["fb_iou_chance"] == areas.scores()["fb_iou_chance"]


def test_means_leave_out_what_has_no_score():
    scorer = make_scorer("ari", RULES)
    empty = np.zeros((4, 4), int)
    full = np.kron([[1, 2], [0, 0]], np.ones((2, 2), int))
    vectors = np.stack([scorer.sums(target(m), Prediction(m)) for m in (empty, full, empty)])
    assert np.isnan(scorer.scores(vectors)[:, 3]).tolist() == [True, False, True]
    assert scorer.scores(vectors.sum(axis=0)).tolist() == [1.0] * 6
    assert np.isnan(scorer.scores(vectors[0] + vectors[2])).tolist() == [False] * 3 + [True] * 3


def test_counts_of_clips_add_up_and_need_not_be_whole():
    rng = np.random.default_rng(2)
    clips = [blocks(rng, frames=6) for _ in range(4)]
    scorer = make_scorer("mot", RULES)
    sums = np.stack([scorer.sums(target(t), Prediction(p)) for t, p in clips])
    total = sum((score_clip(t, p, RULES) for t, p in clips), TrackingCounts()).scores()
    assert scorer.scores(sums.sum(axis=0)).tolist() == [total[name] for name in scorer.names]
    np.testing.assert_allclose(scorer.scores(0.25 * sums.sum(axis=0)), list(total.values()))


def test_overlapping_masks_are_scored_as_masks():
    truth = np.array([[[1, 1, 2, 2]]])
    masks = np.array([[[[True, True, True, False]], [[False, False, True, True]]]])
    labels = np.array([[[1, 1, 1, 2]]])  # the first mask wins, and the second is half as good
    scorer = make_scorer("mot", RULES)
    motp = scorer.names.index("motp")
    of_masks = scorer.scores(scorer.sums(target(truth), Prediction(labels, masks)))
    of_labels = scorer.scores(scorer.sums(target(truth), Prediction(labels)))
    assert of_masks[motp] == pytest.approx((2 / 3 + 1) / 2)
    assert of_labels[motp] == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_partners_by_hand():
    truth = np.array([[0, 0, 0, 1, 1, 2]])
    # Segment 7 is best for the background; object 1 gets 8; object 2 has nobody left.
    assert partners(truth, np.array([[7, 7, 7, 8, 8, 8]]), 2).tolist() == [8, -1]
    assert partners(truth, truth, 3).tolist() == [1, 2, -1]


def test_reconstructions():
    video = np.zeros((3, 4, 4, 3), np.uint8)
    made = video + np.uint8(255)
    scorer = make_scorer("mse", RULES)
    clip = target(np.zeros((3, 4, 4), int), pixels=video)
    sums = scorer.sums(clip, Prediction(clip.labels, reconstruction=made))
    assert scorer.scores(sums).tolist() == [squared_error(video, made, RULES)] == [48.0]
    assert np.isnan(scorer.scores(scorer.sums(clip, Prediction.empty(clip.shape)))).all()
    with pytest.raises(StoreError, match="t: its prediction has no array 'reconstruction'"):
        scorer.sums(clip, Prediction(clip.labels))


def test_clips_that_end_too_early_are_named():
    labels = np.zeros((2, 4, 4), int)
    with pytest.raises(SpecError, match="t has 2 frames, and the rules look at frames from 2 on"):
        make_scorer("mot", PRESETS["weis2021"]).sums(target(labels), Prediction(labels))


def test_every_shape_of_the_families_is_a_class():
    assert {*properties.SHAPES, *shapes.SHAPES, *sprites_mot.SHAPES} == set(SHAPES)


def test_a_sweep_is_mota_at_each_threshold():
    rng = np.random.default_rng(4)
    clips = [blocks(rng, frames=6) for _ in range(3)]
    scorer = make_scorer("sweep", RULES)
    total = sum(scorer.sums(target(truth), Prediction(predicted)) for truth, predicted in clips)
    found = scorer.scores(np.stack([total, total]))
    assert found.shape == (2, 9) and scorer.names[0] == "mota@0.1"
    for threshold, value in zip(IOU_SWEEP, found[1], strict=True):
        rules = replace(RULES, match_iou=threshold)
        counts = sum((score_clip(*clip, rules) for clip in clips), TrackingCounts())
        assert value == counts.scores()["mota"]
    assert found[0, 0] > found[0, -1]
