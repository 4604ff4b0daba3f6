"""The video benchmark's form: runs by hand, round trips, overlapping masks, errors."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from robustclevr.errors import StoreError
from robustclevr.predictions import decode_mask, encode_clip, encode_mask, read_benchmark_json
from robustclevr.predictions.benchmark_json import clip_prediction


@given(arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=6)))
def test_runs_round_trip(mask):
    np.testing.assert_array_equal(decode_mask(encode_mask(mask), mask.shape), mask)


def test_runs_count_from_one_along_rows():
    mask = np.zeros((3, 4), bool)
    mask[0, 3] = mask[1, 0] = mask[2, 2] = True  # pixels 4, 5 and 11
    assert encode_mask(mask) == "4 2 11 1"
    assert encode_mask(np.zeros((3, 4), bool)) == ""


@given(arrays(np.uint8, (2, 4, 5), elements=st.integers(0, 4)))
def test_clips_round_trip_up_to_names(labels):
    found = clip_prediction(encode_clip(labels, 1000), labels.shape, "v")
    assert found.masks is None
    assert found.labels[labels == 0].sum() == 0
    pairs = set(zip(labels.ravel().tolist(), found.labels.ravel().tolist(), strict=True))
    assert len(pairs) == len(np.unique(labels)) == len(np.unique(found.labels))


def test_masks_that_overlap_are_kept_and_the_first_wins():
    video = [{"masks": ["1 2", "2 2"], "ids": ["a", "b"]}, {"masks": ["1 1"], "ids": ["b"]}]
    found = clip_prediction(video, (2, 1, 3), "v")
    assert found.labels.tolist() == [[[1, 1, 2]], [[2, 0, 0]]]
    assert found.masks[0].tolist() == [[[True, True, False]], [[False, True, True]]]
    assert found.masks[1].tolist() == [[[False, False, False]], [[True, False, False]]]


def test_errors_name_video_frame_and_id():
    with pytest.raises(StoreError, match=r"^video 3: has 1 frames, the clip has 2$"):
        clip_prediction([{"masks": [], "ids": []}], (2, 4, 4), "video 3")
    bad = [{"masks": ["16 2"], "ids": [7]}]
    with pytest.raises(StoreError, match=r"^v, frame 0, id 7: a run of 2 from 16 leaves"):
        clip_prediction(bad, (1, 4, 4), "v")
    odd = [{"masks": ["1 2 3"], "ids": [7]}]
    with pytest.raises(StoreError, match="a mask of 3 numbers is not of starts and lengths"):
        clip_prediction(odd, (1, 4, 4), "v")
    with pytest.raises(StoreError, match="this form is for clips"):
        clip_prediction(bad, (4, 4), "v")


def test_files_of_another_form_are_refused(tmp_path):
    for name, content, message in [
        ("a", "{", "cannot be read as JSON"),
        ("b", "{}", "is no list of videos"),
        ("c", json.dumps([[{"masks": ["1 1"], "ids": []}]]), "video 0, frame 0 is not"),
    ]:
        file = tmp_path / f"{name}.json"
        file.write_text(content)
        with pytest.raises(StoreError, match=message):
            read_benchmark_json(file)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([[1, 2], 3], r"video 0, frame 0: no id \[1, 2\]; an id is a whole number or a text"),
        ([True, 3], "no id True"),
        ([None, 3], "no id None"),
        ([0.5, 3], "no id 0.5"),
        ([7, 7], "two masks have the id 7; an object has one mask in a frame"),
    ],
)
def test_ids_that_name_no_object_are_refused(tmp_path, ids, message):
    file = tmp_path / "v.json"
    file.write_text(json.dumps([[{"masks": ["1 1", "2 1"], "ids": ids}]]))
    with pytest.raises(StoreError, match=message) as caught:
        read_benchmark_json(file)
    assert str(caught.value).startswith(str(file))


def test_files_nested_too_deeply_are_refused(tmp_path):
    file = tmp_path / "v.json"
    file.write_text("[" * 200_000)
    with pytest.raises(StoreError, match="nested too deeply") as caught:
        read_benchmark_json(file)
    assert str(caught.value).startswith(str(file))
