"""COCO's segmentations against pycocotools."""

import json

import numpy as np
import pytest
from pycocotools import mask as reference

from robustclevr.errors import SpecError, StoreError
from robustclevr.pictures.coco import CocoAnnotations, region

HEIGHT, WIDTH = 30, 41


def blob(seed):
    rng = np.random.default_rng(seed)
    mask = np.zeros((HEIGHT, WIDTH), bool)
    for _ in range(3):
        top, left = rng.integers(0, 25, 2)
        mask[top : top + rng.integers(1, 15), left : left + rng.integers(1, 15)] ^= True
    return mask


@pytest.mark.parametrize("seed", range(8))
def test_run_lengths_as_text_are_those_of_pycocotools(seed):
    mask = blob(seed)
    encoded = reference.encode(np.asfortranarray(mask.astype(np.uint8)))
    text = encoded["counts"].decode()
    found = region({"size": [HEIGHT, WIDTH], "counts": text}, HEIGHT, WIDTH)
    np.testing.assert_array_equal(found, mask)


def test_run_lengths_as_a_list_go_down_the_columns():
    found = region({"counts": [1, 2, 3]}, 3, 2)
    assert found.tolist() == [[False, False], [True, False], [True, False]]
    with pytest.raises(ValueError, match="runs of 5 pixels for a picture of 3 x 2"):
        region({"counts": [1, 4]}, 3, 2)


@pytest.mark.parametrize(
    "polygon",
    [[5, 5, 30, 5, 30, 20, 5, 20], [10.5, 2.5, 38.0, 25.0, 3.0, 27.5], [2, 2, 20, 3, 12, 28]],
)
def test_polygons_agree_with_pycocotools_but_for_their_border(polygon):
    runs = reference.merge(reference.frPyObjects([polygon], HEIGHT, WIDTH))
    expected = reference.decode(runs).astype(bool)
    found = region([polygon], HEIGHT, WIDTH)
    both, either = (expected & found).sum(), (expected | found).sum()
    assert both / either > 0.9
    inner = expected.copy()
    inner[1:-1, 1:-1] &= expected[:-2, 1:-1] & expected[2:, 1:-1]
    inner[1:-1, 1:-1] &= expected[1:-1, :-2] & expected[1:-1, 2:]
    assert found[inner].all()


@pytest.fixture
def write(tmp_path):
    def save(annotations, **content):
        image = {"id": 4, "file_name": "a.png", "height": HEIGHT, "width": WIDTH}
        file = tmp_path / "instances_val.json"
        file.write_text(json.dumps({"images": [image], "annotations": annotations, **content}))
        return file

    return save


def box(number, left, top, right, bottom, **more):
    corners = [left, top, right, top, right, bottom, left, bottom]
    return {"id": number, "image_id": 4, "segmentation": [corners], **more}


def test_smaller_objects_lie_before_larger_ones_and_crowds_are_left_out(write):
    annotations = [
        box(70, 10, 10, 14, 14),
        box(50, 5, 5, 25, 25),
        box(60, 0, 0, 40, 29, iscrowd=1),
    ]
    mask = CocoAnnotations(write(annotations)).mask("a.png")
    assert mask.values == (70, 50)
    assert (mask.labels[12, 12], mask.labels[20, 20], mask.labels[1, 1]) == (1, 2, 0)


def test_a_picture_without_annotations_is_all_background(write):
    mask = CocoAnnotations(write([])).mask("a.png")
    assert mask.values == ()
    assert mask.labels.shape == (HEIGHT, WIDTH)
    assert not mask.labels.any()


def test_a_broken_segmentation_is_named(write):
    broken = {"id": 9, "image_id": 4, "segmentation": {"counts": [3]}}
    with pytest.raises(StoreError, match=r"annotation 9 of a\.png has no readable segmentation"):
        CocoAnnotations(write([broken])).mask("a.png")


def test_a_file_that_is_no_coco_is_refused(write, tmp_path):
    with pytest.raises(SpecError, match="lacks 'image_id'"):
        CocoAnnotations(write([{"id": 1}]))
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(SpecError, match="holds no COCO instances"):
        CocoAnnotations(tmp_path / "x.json")
