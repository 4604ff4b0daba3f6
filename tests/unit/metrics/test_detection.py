"""Detections beside pycocotools, with crowds and ties; and by hand."""

import contextlib
import io
import math
from dataclasses import replace

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from robustclevr.metrics.detection import (
    AREAS,
    ImageBoxes,
    detection_curves,
    harmonic_mean,
    match_images,
)

COCO_NAMES = [
    *("ap", "ap50", "ap75", "ap_small", "ap_medium", "ap_large"),
    *("ar1", "ar10", "ar100", "ar_small", "ar_medium", "ar_large"),
]


def random_image(rng: np.random.Generator) -> ImageBoxes:
    n_truth, n_near, n_far = rng.integers([0, 0, 0], [8, 14, 5])
    truth = rng.integers([0, 0, 4, 4], [150, 150, 154, 154], (n_truth, 4))
    near = truth[rng.integers(0, n_truth, n_near)] if n_truth else truth
    near = near + rng.integers(-6, 7, near.shape)  # on a grid, so that overlaps tie
    far = rng.integers(0, 150, (n_far, 4))
    detected = np.maximum(np.concatenate([near, far]), [0, 0, 1, 1]).astype(float)
    classes = rng.integers(1, 4, n_truth)
    return ImageBoxes(
        truth=truth.astype(float),
        truth_classes=classes,
        detected=detected,
        detected_classes=rng.integers(1, 5, len(detected)),
        scores=rng.integers(0, 6, len(detected)) / 5,
        crowd=rng.random(n_truth) < 0.2,
        areas=truth[:, 2] * truth[:, 3] * rng.choice([0.5, 1.0]),
    )


def coco_evaluation(images: list[ImageBoxes]) -> COCOeval:
    truths, detections = [], []
    for number, image in enumerate(images, 1):
        for box, name, crowd, area in zip(
            image.truth, image.truth_classes, image.crowd, image.areas, strict=True
        ):
            truths.append(
                {
                    "id": len(truths) + 1,
                    "image_id": number,
                    "category_id": int(name),
                    "bbox": box.tolist(),
                    "area": float(area),
                    "iscrowd": int(crowd),
                }
            )
        for box, name, score in zip(
            image.detected, image.detected_classes, image.scores, strict=True
        ):
            detections.append(
                {
                    "image_id": number,
                    "category_id": int(name),
                    "bbox": box.tolist(),
                    "score": float(score),
                }
            )
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": number} for number in range(1, len(images) + 1)],
            "categories": [{"id": name} for name in range(1, 5)],
            "annotations": truths,
        }
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(detections), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation


@pytest.mark.parametrize("seed", range(6))
def test_curves_equal_those_of_coco(seed: int) -> None:
    rng = np.random.default_rng(seed)
    images = [random_image(rng) for _ in range(12)]
    reference = coco_evaluation(images)
    ours = detection_curves(images)
    rows = ours.classes - 1
    for name in ("precision", "recall"):
        expected = reference.eval[name]
        expected = np.where(expected < 0, np.nan, expected)
        expected = np.moveaxis(np.moveaxis(expected, -3, 0)[rows], 0, -3)
        np.testing.assert_allclose(getattr(ours, name), expected, atol=1e-12, equal_nan=True)
    scores = ours.scores()
    stats = [math.nan if value < 0 else value for value in reference.stats]
    assert [scores[name] for name in COCO_NAMES] == pytest.approx(stats, abs=1e-6, nan_ok=True)
    assert 0.05 < scores["ap50"] < 0.95
    recall = reference.eval["recall"][0, :, 0, 0]
    assert scores["ar1_50"] == pytest.approx(recall[recall > -1].mean(), abs=1e-12)
    assert scores["f1_50"] == harmonic_mean(scores["ap50"], scores["ar1_50"])


def image_of(truth: list[list[float]], detected: list[list[float]], **given: object) -> ImageBoxes:
    values = {
        "truth": np.array(truth, float).reshape(-1, 4),
        "truth_classes": np.zeros(len(truth), int),
        "detected": np.array(detected, float).reshape(-1, 4),
        "detected_classes": np.zeros(len(detected), int),
        "scores": np.linspace(1, 0.1, len(detected)),
    }
    return ImageBoxes(**{**values, **given})


def test_precision_by_hand() -> None:
    # Right, wrong, right of three: precision 1 up to recall 1/3, then 2/3 up to 2/3.
    box, other, third, nowhere = [0, 0, 9, 9], [20, 0, 9, 9], [40, 0, 9, 9], [70, 70, 9, 9]
    curves = detection_curves([image_of([box, other, third], [box, nowhere, other])])
    assert curves.average_precision() == pytest.approx((34 * 1 + 33 * 2 / 3) / 101)
    assert curves.average_recall() == pytest.approx(2 / 3)
    assert curves.average_recall(detections=1) == pytest.approx(1 / 3)


def test_truth_scores_one_and_nothing_scores_nothing() -> None:
    boxes = [[0, 0, 9, 9], [20, 0, 50, 50], [100, 100, 120, 120]]
    perfect = detection_curves([image_of(boxes, boxes)]).scores()
    one_of_three = [perfect.pop("ar1"), perfect.pop("ar1_50")]
    assert one_of_three == pytest.approx([1 / 3, 1 / 3])
    assert perfect.pop("f1_50") == pytest.approx(0.5)
    assert list(perfect.values()) == pytest.approx([1.0] * 11)
    nothing = detection_curves([image_of(boxes, [])]).scores()
    assert set(nothing.values()) == {0.0}


def test_a_crowd_is_neither_right_nor_wrong() -> None:
    box, crowd, inside = [0, 0, 9, 9], [50, 50, 40, 40], [55, 55, 10, 10]
    with_crowd = image_of([box, crowd], [box, inside, inside], crowd=np.array([False, True]))
    assert detection_curves([with_crowd]).average_precision() == pytest.approx(1.0)
    without = image_of([box], [inside, inside, box])
    assert detection_curves([without]).average_precision() == pytest.approx(1 / 3)


def test_an_area_of_its_own_decides_the_range() -> None:
    box = [0, 0, 40, 40]
    small = image_of([box], [box], areas=np.array([100.0]))
    curves = detection_curves([small])
    assert curves.average_precision(area="small") == pytest.approx(1.0)
    assert math.isnan(curves.average_precision(area="medium"))
    assert set(AREAS) == {"all", "small", "medium", "large"}


def test_no_images_have_no_scores() -> None:
    assert all(math.isnan(value) for value in detection_curves([]).scores().values())


def test_wrong_choices_name_what_there_is() -> None:
    curves = detection_curves([image_of([[0, 0, 9, 9]], [])])
    with pytest.raises(ValueError, match="did you mean 'small'"):
        curves.average_precision(area="smal")
    with pytest.raises(ValueError, match=r"IoU 0\.51 is none of \[0\.5, 0\.55"):
        curves.average_precision(iou=0.51)
    with pytest.raises(ValueError, match=r"7 detections are none of \(1, 10, 100\)"):
        curves.average_recall(detections=7)
    with pytest.raises(ValueError, match=r"scores has shape \(1,\), not \(0,\)"):
        image_of([], [], scores=np.ones(1))


def test_the_harmonic_mean() -> None:
    assert harmonic_mean(0.5, 1.0) == pytest.approx(2 / 3)
    assert harmonic_mean(0.0, 0.0) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_repetitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    images = [random_image(rng) for _ in range(12)]
    # Equal scores within one image stand in another order when the image is repeated.
    images = [
        replace(image, scores=rng.permutation(len(image.scores)) + rng.random()) for image in images
    ]
    weights = rng.integers(0, 4, 12)
    repeated = [image for image, n in zip(images, weights, strict=True) for _ in range(n)]
    expected, found = detection_curves(repeated), match_images(images).curves(weights.astype(float))
    for name, value in expected.scores().items():
        assert found.scores()[name] == pytest.approx(value, abs=1e-12, nan_ok=True), name
    assert match_images(images).curves(np.zeros(12)).scores()["ap"] != 0  # nan: nothing to find
