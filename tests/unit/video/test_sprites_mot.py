"""Sprites-MOT: the authors' stream, the law of motion, the two down-samplings."""

import numpy as np
import pytest

from robustclevr.errors import SpecError
from robustclevr.video import render_clip, resolve, sample_clip
from robustclevr.video.composite import touched
from robustclevr.video.mersenne import TorchUniforms
from robustclevr.video.render import _stamps
from robustclevr.video.sprites_mot import COLORS, SHAPES, to_canvas
from robustclevr.video.stamps import poses
from robustclevr.video.templates import resized, template


@pytest.mark.parametrize("seed", [0, 1, 123_456_789, 2**32 - 1])
def test_uniforms_are_those_of_torch(seed):
    import torch

    torch.manual_seed(seed)
    ours = TorchUniforms(seed)
    for shape in ((10, 3), (10, 3, 2), (7,), (1000,)):
        np.testing.assert_array_equal(torch.rand(*shape).numpy(), ours.rand(*shape))


def test_authors_test_set_has_its_objects_and_identities():
    """The set holds 17,642 sightings of 2,896 identities in frames 2 to 9.

    The count takes the authors' masks, in which a soft edge in front leaves the pixel to the
    object behind as well.
    """
    options = resolve("spmot", {"stream": "torch-seed-0"})
    sightings = identities = 0
    for index in range(1000):
        clip = sample_clip(options, root_seed=5, split="any", index=index)
        stand = poses(clip.sprites, 1.0)
        pixels = touched(_stamps(clip, options, stand), stand, 64, 64)
        alpha = np.zeros((10, len(clip.sprites), 64 * 64))
        owner = stand.sprite[pixels.stamp]
        alpha[stand.frame[pixels.stamp], owner, pixels.place] = pixels.alpha
        shown = alpha > 0
        for front, other in enumerate(clip.sprites):
            for behind, sprite in enumerate(clip.sprites):
                if other.order[0] > sprite.order[0]:
                    shown[:, behind] &= alpha[:, front] < 1
        counted = shown[2:].sum(axis=2) > 5
        sightings += counted.sum()
        identities += counted.any(axis=0).sum()
    assert sightings == 17_642
    assert identities == 2_896


def test_templates():
    assert {name: int((template(name) > 0).sum()) for name in SHAPES} == {
        "disc": 349,
        "rectangle": 441,
        "triangle": sum(min(21, 2 * ((row + 1) // 2) + 1) for row in range(21)) ,
        "diamond": 221,
    }  # fmt: skip
    triangle = template("triangle")
    assert np.flatnonzero(triangle[0]).tolist() == [10]
    assert triangle[20].all()
    for name in SHAPES:
        np.testing.assert_array_equal(resized(name, 21, 21), template(name))
    assert (resized("rectangle", 25, 19) == 255).all()


def test_resizing_is_bilinear():
    source = template("disc").astype(float)
    for height, width in ((17, 25), (24, 20), (26, 26)):
        y = np.clip((np.arange(height) + 0.5) * 21 / height - 0.5, 0, 20)
        x = np.clip((np.arange(width) + 0.5) * 21 / width - 0.5, 0, 20)
        i, j = np.minimum(y.astype(int), 19), np.minimum(x.astype(int), 19)
        fy, fx = (y - i)[:, None], (x - j)[None]
        expected = (
            source[i][:, j] * (1 - fy) * (1 - fx)
            + source[i][:, j + 1] * (1 - fy) * fx
            + source[i + 1][:, j] * fy * (1 - fx)
            + source[i + 1][:, j + 1] * fy * fx
        )
        assert np.abs(resized("disc", height, width) - expected).max() <= 1


def own(index, **video):
    options = resolve("spmot", video)
    return options, sample_clip(options, root_seed=0, split="train", index=index)


def test_objects_move_in_straight_lines_at_5_3_pixels_a_frame():
    seen = 0
    for index in range(100):
        _, clip = own(index, height=128, width=128)
        for sprite in clip.sprites:
            places = [place for place in sprite.position if place is not None]
            assert sprite.shape in SHAPES
            assert sprite.color[0] in COLORS
            if len(places) < 8:
                continue
            steps = np.diff(places, axis=0)
            speed = np.linalg.norm(np.sum(steps, axis=0)) / len(steps)
            assert speed == pytest.approx(5.3, abs=1.5 / len(steps) + 0.1)
            assert np.abs(steps - steps.mean(axis=0)).max() <= 1.0
            seen += 1
    assert seen > 100


def test_an_object_is_there_without_gaps_and_pops_in_and_out_whole():
    counts = []
    for index in range(200):
        options, clip = own(index)
        there = np.array([[p is not None for p in s.position] for s in clip.sprites])
        counts.append(there.sum() / 10)
        for row in there:
            assert np.abs(np.diff(np.concatenate([[0], row, [0]]))).sum() == 2
        if index < 20:
            rendered = render_clip(clip, options)
            for i, sprite in enumerate(clip.sprites):
                for t in range(10):
                    assert rendered.amodal[t, i].any() == (sprite.position[t] is not None)
    # 2.21 objects a frame on average; the mean of 200 clips has a deviation of about 0.06.
    assert np.mean(counts) == pytest.approx(2.21, abs=0.2)


def test_masks_are_the_even_pixels_and_odd_even_paints_the_odd_ones():
    for index in range(8):
        large_options, large = own(index, height=128, width=128)
        whole = render_clip(large, large_options)
        for sampling, first in (("aligned", 0), ("odd-even", 1)):
            options, clip = own(index, sampling=sampling)
            half = render_clip(clip, options)
            np.testing.assert_array_equal(half.amodal, whole.amodal[:, :, ::2, ::2])
            np.testing.assert_array_equal(half.masks, whole.masks[:, ::2, ::2])
            np.testing.assert_array_equal(half.video, whole.video[:, first::2, first::2])


def test_places_are_the_centres_of_boxes():
    options, clip = own(3, height=128, width=128)
    rendered = render_clip(clip, options)
    for i, sprite in enumerate(clip.sprites):
        for t, place in enumerate(sprite.position):
            if place is None:
                continue
            rows, columns = np.nonzero(rendered.amodal[t, i])
            x, y = (to_canvas(c, 128) for c in place)
            assert (columns.min() + columns.max() + 1) / 2 == pytest.approx(x, abs=0.6)
            assert (rows.min() + rows.max() + 1) / 2 == pytest.approx(y, abs=0.6)


def test_flow_of_an_object_that_vanishes_is_not_a_number():
    for index in range(40):
        options, clip = own(index)
        rendered = render_clip(clip, options, flow=True)
        for i, sprite in enumerate(clip.sprites):
            for t in range(9):
                flow = rendered.flow[t][rendered.masks[t] == i + 1]
                if sprite.position[t] is None or not len(flow):
                    continue
                gone = sprite.position[t + 1] is None
                assert np.isnan(flow.astype(float)).all() == gone


@pytest.mark.parametrize(
    ("video", "scenario", "word"),
    [
        ({"sprites": [1, 2]}, {}, "own law of counts"),
        ({"height": 96, "width": 96}, {}, "no size 96x96"),
        ({"stream": "torch-seed-0", "frames": 20}, {}, "clips of 10 frames"),
        ({}, {"small": {}}, "no scenarios"),
    ],
)
def test_what_it_does_not_have_is_refused(video, scenario, word):
    with pytest.raises(SpecError, match=word):
        resolve("spmot", video, scenario)
