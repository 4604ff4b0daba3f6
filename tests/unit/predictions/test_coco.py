"""Detections and captions in COCO's files."""

import json

import pytest

from robustclevr.errors import StoreError
from robustclevr.predictions import read_captions, read_detections


def written(path, content):
    path.write_text(json.dumps(content))
    return path


def entry(**changes):
    return {"image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4], "score": 0.5, **changes}


def test_results_by_image(tmp_path):
    entries = [entry(), entry(image_id=0, category_id=1), entry(score=1, bbox=[0.5, 0, 1, 1])]
    found = read_detections(written(tmp_path / "f", entries), 3)
    assert set(found) == {0, 1}
    assert found[1].boxes.tolist() == [[1, 2, 3, 4], [0.5, 0, 1, 1]]
    assert found[1].scores.tolist() == [0.5, 1.0]
    assert found[0].classes.tolist() == [1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "is no list of detections"),
        ([{"image_id": 0}], "entry 0 lacks category_id, bbox, score"),
        ([entry(), 7], r"entry 1 is no object \{...\}; image_id, category_id, bbox, score are due"),
        ([entry(image_id=True)], "entry 0: no image_id True"),
        ([entry(category_id=True)], "entry 0: no category_id True"),
        ([entry(), entry(image_id=3)], "entry 1: no image_id 3; the samples are 0 to 2"),
        (
            [entry(category_id=9)],
            r"entry 0: no category_id 9; allowed: 1 \(cube\), 2 \(cylinder\), 3 \(sphere\)",
        ),
        ([entry(bbox=[1, 2, 3])], r"bbox \[1, 2, 3\] is not \[left, top, width, height\]"),
        ([entry(bbox="1234")], "bbox '1234' is not"),
        ([entry(bbox=["1", 2, 3, 4])], "is not"),
        ([entry(bbox=[10**400, 0, 1, 1])], "entry 0: bbox .* is not"),
        ([entry(bbox=[1, 2, -3, 4])], r"bbox \[1, 2, -3, 4\] has a negative width or height"),
        ([entry(score=float("inf"))], "score inf is no finite number"),
        ([entry(score="0.5")], "score '0.5' is no finite number"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, content, message):
    with pytest.raises(StoreError, match=message):
        read_detections(written(tmp_path / "f", content), 3)


def test_captions(tmp_path):
    notes = [{"image_id": 1, "caption": "A cube."}, {"image_id": 1, "caption": "A ball."}]
    assert read_captions(written(tmp_path / "f", {"annotations": notes}), 2) == {
        1: ["A cube.", "A ball."]
    }
    with pytest.raises(StoreError, match='has no list "annotations"'):
        read_captions(written(tmp_path / "f", notes), 2)
    with pytest.raises(StoreError, match="annotation 0 lacks"):
        read_captions(written(tmp_path / "f", {"annotations": [{}]}), 2)
    with pytest.raises(StoreError, match="annotation 0: no image_id 1; the samples are 0 to 0"):
        read_captions(written(tmp_path / "f", {"annotations": notes}), 1)


def test_files_nested_too_deeply_are_refused(tmp_path):
    file = tmp_path / "f"
    file.write_text("[" * 200_000)
    with pytest.raises(StoreError, match="nested too deeply"):
        read_detections(file, 1)
