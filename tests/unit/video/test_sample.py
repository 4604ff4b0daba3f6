"""Clips: the same from their name alone, and distributed as they should be."""

import json

import numpy as np
import pytest

from robustclevr.records import Clip, from_json, to_json
from robustclevr.video import render_clip, resolve, sample_clip


def sample(index, split="train", seed=0, family="vmds", video=None, scenario=None):
    options = resolve(family, video, scenario)
    return sample_clip(options, root_seed=seed, split=split, index=index)


@pytest.mark.parametrize("family", ["vmds", "texvmds", "spmot"])
def test_a_clip_depends_on_its_name_alone(family):
    first = [sample(index, family=family) for index in (5, 3, 5)]
    assert first[0] == first[2] != first[1]
    assert sample(5, "val", family=family) != first[0]
    assert sample(5, seed=1, family=family) != first[0]


@pytest.mark.parametrize(
    ("family", "scenario"), [("vmds", {"mixed": {}}), ("texvmds", {}), ("spmot", {})]
)
def test_a_record_renders_as_the_clip_it_came_from(family, scenario):
    options = resolve(family, {}, scenario)
    clip = sample_clip(options, root_seed=0, split="s", index=2)
    again = from_json(Clip, json.loads(json.dumps(to_json(clip))))
    assert again == clip
    one, other = render_clip(clip, options), render_clip(again, options)
    for name in ("video", "masks", "amodal", "visibility", "background"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_balanced_counts_come_once_in_every_run():
    counts = [len(sample(index).sprites) for index in range(80)]
    for start in range(0, 80, 4):
        assert sorted(counts[start : start + 4]) == [1, 2, 3, 4]
    assert counts[:4] != counts[4:8] or counts[:4] != counts[8:12]


def test_uniform_counts_are_uniform():
    counts = [len(sample(index, video={"counts": "uniform"}).sprites) for index in range(800)]
    assert all(abs(counts.count(n) - 200) < 60 for n in (1, 2, 3, 4))


def test_looks_are_uniform_over_dsprites_and_colors():
    sprites = [s for index in range(1000) for s in sample(index).sprites]
    n = len(sprites)
    for values, kinds in (
        ([s.shape for s in sprites], 3),
        ([s.scale[0] for s in sprites], 6),
        ([s.orientation[0] for s in sprites], 40),
    ):
        _, found = np.unique(values, return_counts=True)
        assert len(found) == kinds
        expected = n / kinds
        assert ((found - expected) ** 2 / expected).sum() < 2 * kinds + 20
    colors = np.array([s.color[0] for s in sprites])
    assert colors.min() < 3
    assert colors.max() > 252
    assert np.abs(colors.mean(axis=0) - 127.5).max() < 5


def test_plain_clips_keep_color_size_and_orientation():
    for index in range(20):
        for sprite in sample(index).sprites:
            for values in (sprite.color, sprite.scale, sprite.orientation, sprite.order):
                assert len(set(values)) == 1
                assert len(values) == 10


def test_a_sprite_does_not_depend_on_how_many_there_are():
    few, many = (sample(0, video={"sprites": [n, n]}).sprites for n in (2, 4))
    for a, b in zip(few, many[:2], strict=True):
        assert (a.shape, a.scale, a.color, a.position[0]) == (
            b.shape,
            b.scale,
            b.color,
            b.position[0],
        )


def test_long_clips_and_odd_sizes():
    clip = sample(0, video={"frames": 20, "height": 48, "width": 96})
    assert {len(sprite.position) for sprite in clip.sprites} == {20}
    places = np.array([sprite.position for sprite in clip.sprites])
    assert 7.5 <= places[..., 0].min() <= places[..., 0].max() <= 88.5
    assert 7.5 <= places[..., 1].min() <= places[..., 1].max() <= 40.5
