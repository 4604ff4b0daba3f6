"""Boxes of label maps, detection, importance, captions."""

from types import SimpleNamespace

import numpy as np
import pytest

from robustclevr.evaluation.boxes import (
    DETECTION_NAMES,
    IMPORTANCE_NAMES,
    BoxRow,
    detection_scores,
    importance_scores,
)
from robustclevr.evaluation.captions import scene_captions, shape_typicality
from robustclevr.predictions import CATEGORIES, Detections

LABELS = np.zeros((20, 30), np.uint8)
LABELS[2:6, 3:13] = 1  # 40 px
LABELS[10:15, 20:22] = 3  # 10 px; object 2 is hidden
TARGET = SimpleNamespace(labels=LABELS, classes=("cube", "sphere", "sphere"))
BOXES = [[3, 2, 10, 4], [20, 10, 2, 5]]


def detections(boxes, names, scores):
    classes = np.array([CATEGORIES[name] for name in names], np.int64)
    return Detections(np.array(boxes, float).reshape(-1, 4), classes, np.array(scores, float))


def test_boxes_are_of_what_is_visible():
    row = BoxRow.of(TARGET, None, None)
    assert row.classes == ("cube", "sphere")
    assert row.truth.tolist() == BOXES
    assert row.areas.tolist() == [40, 10]
    assert row.detections.boxes.shape == (0, 4)


def test_truth_scores_one_and_nothing_scores_zero():
    right = BoxRow.of(TARGET, detections(BOXES, ["cube", "sphere"], [1, 1]), None)
    scores = detection_scores([right])
    assert set(scores) == set(DETECTION_NAMES)
    for name in ("ap", "ap50", "ar1", "ar100", "ar1_50", "f1_50"):
        assert scores[name] == pytest.approx(1.0)
    assert np.isnan(scores["ap_large"])  # there is no large object
    assert detection_scores([BoxRow.of(TARGET, None, None)])["ap"] == 0.0


def test_importance_looks_at_the_objects_that_captions_name():
    typicality = {"cube": 1.0}
    found = detections(BOXES[:1], ["cube"], [1])
    row = BoxRow.of(TARGET, found, typicality)
    assert row.importance[0] > row.importance[1] > 0
    assert row.importance.sum() == pytest.approx(1.0)
    between = float(row.importance.mean())
    scores = importance_scores([row], between)
    assert set(scores) == set(IMPORTANCE_NAMES)
    assert scores["important_ap"] == pytest.approx(1.0)
    assert scores["important_objects"] == 0.5
    assert importance_scores([row], 0.0)["important_ap"] == pytest.approx(0.5)


def test_images_whose_captions_name_nothing_are_left_out():
    named = BoxRow.of(TARGET, detections(BOXES, ["cube", "sphere"], [1, 1]), {"cube": 1.0})
    unnamed = BoxRow.of(TARGET, None, {})
    assert importance_scores([named, unnamed], 0.0)["important_ap"] == pytest.approx(1.0)
    assert np.isnan(importance_scores([unnamed], 0.0)["important_objects"])


def scene(*pixels):
    shapes = ["cube", "sphere", "cylinder"]
    look = {"size": "large", "color": "red", "material": "rubber"}
    return [
        {**look, "shape": shape, "visible_pixels": n}
        for shape, n in zip(shapes, pixels, strict=False)
    ]


def test_captions_name_two_visible_objects_and_large_ones_more_often():
    rng = np.random.default_rng(0)
    made = [scene_captions(scene(90, 10, 0), rng=rng) for _ in range(20)]
    assert all(len(captions) == 5 for captions in made)
    assert shape_typicality(made[0]) == {"cube": 1.0, "sphere": 1.0, "cylinder": 0.0}
    many = [c for _ in range(200) for c in scene_captions(scene(80, 10, 10), rng=rng)]
    shares = shape_typicality(many)
    assert shares["cube"] > 0.95
    # Two of three are drawn: the small ones share what the cube leaves.
    assert shares["sphere"] == pytest.approx(0.5, abs=0.08)
    words = " ".join(many)
    assert "block" in words and "cube" in words and "a large red rubber ball" in words


def test_captions_of_a_scene_in_which_nothing_is_seen():
    rng = np.random.default_rng(0)
    assert scene_captions(scene(0, 0), rng=rng) == ()
    assert len(scene_captions(scene(5), rng=rng)) == 5
