"""What is stored of a clip, and how it is read back."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from robustclevr.errors import RenderError, StoreError
from robustclevr.records import ClipPlan, ClipVariant, from_json
from robustclevr.store.clip import clip_members
from robustclevr.store.dataset import Sample
from robustclevr.video import render_clip, resolve, sample_clip

OPTIONS = resolve("vmds", {"frames": 4, "sprites": [2, 2]})
CLEAN_ONLY = (ClipVariant("clean", ()),)


def plan(outputs=("image", "mask", "amodal"), options=OPTIONS):
    clip = sample_clip(options, root_seed=3, split="test", index=17)
    return ClipPlan(1, "test", 17, 3, None, clip, options, outputs, CLEAN_ONLY)


def members(outputs=("image", "mask", "amodal")):
    planned = plan(outputs)
    rendered = render_clip(planned.clip, OPTIONS, flow="flow" in outputs)
    return clip_members(planned, rendered), rendered


def test_bytes_follow_from_the_plan_and_hold_no_date():
    (one, _), (two, _) = members(), members()
    assert one == two
    with zipfile.ZipFile(io.BytesIO(one["npz"])) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_arrays_come_back():
    stored, rendered = members(("image", "mask", "amodal", "flow", "background"))
    sample = Sample("test", "000017", stored)
    for name in ("video", "masks", "amodal", "flow", "background"):
        array = sample.array(name)
        assert array.dtype == getattr(rendered, name).dtype
        np.testing.assert_array_equal(array, getattr(rendered, name))
    assert sample.variants == ("clean",)
    with pytest.raises(StoreError, match="has no 'mask'; did you mean 'masks'"):
        sample.array("mask")


def test_the_record_says_what_each_sprite_does_in_each_frame():
    stored, rendered = members()
    record = json.loads(stored["json"])
    assert (record["index"], record["split"], record["seed"]) == (17, "test", 3)
    assert (record["family"], record["frames"], record["scenario"]) == ("vmds", 4, {})
    clip = plan().clip
    assert len(record["sprites"]) == 2
    for i, (stored_sprite, sprite) in enumerate(zip(record["sprites"], clip.sprites, strict=True)):
        assert stored_sprite["shape"] == sprite.shape
        assert stored_sprite["position"] == [list(place) for place in sprite.position]
        assert stored_sprite["color"] == [list(color) for color in sprite.color]
        assert stored_sprite["order"] == list(sprite.order)
        assert stored_sprite["visibility"] == rendered.visibility[:, i].tolist()
    assert record["background"]["color"] == list(clip.background)


def test_the_plan_in_the_record_makes_the_same_clip():
    stored, _ = members()
    again = from_json(ClipPlan, json.loads(stored["json"])["plan"])
    assert again == plan()
    assert clip_members(again, render_clip(again.clip, again.options)) == stored


def test_flow_that_was_asked_for_and_not_made():
    planned = plan(("image", "flow"))
    with pytest.raises(RenderError, match="without its 'flow'"):
        clip_members(planned, render_clip(planned.clip, OPTIONS))


def test_a_sprite_that_is_not_there_has_no_place():
    options = resolve("spmot", {"stream": "torch-seed-0"})
    clips = [sample_clip(options, root_seed=0, split="t", index=i) for i in range(4)]
    clip = next(c for c in clips if any(None in s.position for s in c.sprites))
    planned = ClipPlan(
        1, "t", clip.index, 0, None, clip, options, ("image", "mask", "amodal"), CLEAN_ONLY
    )
    stored = clip_members(planned, render_clip(clip, options))
    record = json.loads(stored["json"])
    absent = [
        seen
        for sprite in record["sprites"]
        for place, seen in zip(sprite["position"], sprite["visibility"], strict=True)
        if place is None
    ]
    assert absent
    assert set(absent) == {0.0}
    assert from_json(ClipPlan, record["plan"]) == planned


def test_a_corrupted_version_has_a_file_of_its_own():
    planned = plan()
    planned = replace(planned, variants=(*CLEAN_ONLY, ClipVariant("gamma", ())))
    rendered = render_clip(planned.clip, OPTIONS)
    darker = rendered.video // 2
    stored = clip_members(planned, rendered, {"gamma": (darker, rendered.masks)})
    assert sorted(stored) == ["gamma.npz", "json", "npz"]
    sample = Sample("test", "000017", stored)
    assert sample.variants == ("clean", "gamma")
    np.testing.assert_array_equal(sample.array("video", "gamma"), darker)
    np.testing.assert_array_equal(sample.array("masks", "gamma"), rendered.masks)
    np.testing.assert_array_equal(sample.array("video"), rendered.video)
