"""What defines each test set, recomputed from pixels and records."""

import colorsys
import math

import numpy as np
import pytest

from robustclevr.errors import SpecError
from robustclevr.video import SCENARIOS, render_clip, resolve, sample_clip

CLIPS = 60
SCALES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def clips(*names, count=CLIPS, family="vmds", options=None, **video):
    chosen = {name: (options or {}).get(name, {}) for name in names}
    resolved = resolve(family, video, chosen)
    drawn = [sample_clip(resolved, root_seed=0, split="test", index=i) for i in range(count)]
    return [(clip, render_clip(clip, resolved)) for clip in drawn]


def positions(clip):
    return np.array([sprite.position for sprite in clip.sprites])


@pytest.mark.parametrize("frames", [10, 20])
def test_occlusion_two_centroids_on_one_pixel(frames):
    for clip, _ in clips("occlusion", frames=frames):
        assert 2 <= len(clip.sprites) <= 4
        pixel = np.floor(positions(clip)).astype(int)
        same = [
            (pixel[i] == pixel[j]).all(axis=-1).any() for i in range(len(pixel)) for j in range(i)
        ]
        assert any(same)
        drawn = clip.scenario["occlusion"]
        i, j = (int(n) - 1 for n in drawn["sprites"])
        frame = int(drawn["frame"][0])
        assert clip.sprites[i].position[frame] == clip.sprites[j].position[frame]
        assert positions(clip).min() >= 10
        assert positions(clip).max() <= 54


def test_occlusion_happens_at_all_times_and_places():
    drawn = [clip.scenario["occlusion"]["frame"][0] for clip, _ in clips("occlusion", count=200)]
    assert set(drawn) == set(range(10))


@pytest.mark.parametrize(("name", "scale"), [("small", 0.5), ("large", 1.0)])
def test_small_and_large_have_one_size(name, scale):
    for clip, _ in clips(name):
        assert {s for sprite in clip.sprites for s in sprite.scale} == {scale}


def test_same_color_also_in_the_pixels():
    for clip, rendered in clips("same_color"):
        assert 2 <= len(clip.sprites) <= 4
        assert len({color for sprite in clip.sprites for color in sprite.color}) == 1
        inner = rendered.video[rendered.masks > 0]
        assert (inner == clip.sprites[0].color[0]).all(axis=1).mean() > 0.6


def test_rotation_is_constant_and_between_5_and_40_degrees():
    signs = set()
    for clip, _ in clips("rotation"):
        for sprite in clip.sprites:
            steps = np.degrees(np.diff(sprite.orientation))
            assert np.ptp(steps) < 1e-3
            assert 5 - 1e-3 <= abs(steps[0]) <= 40 + 1e-3
            signs.add(math.copysign(1, steps[0]))
    assert signs == {-1, 1}


def test_rotation_is_seen_in_the_pixels():
    """The principal axis of a lone ellipse turns with the record, counter-clockwise."""
    checked = 0
    for clip, rendered in clips("rotation", sprites=[1, 1], count=30):
        if clip.sprites[0].shape != "ellipse":
            continue
        for t in range(10):
            rows, columns = np.nonzero(rendered.amodal[t, 0])
            if rows.min() == 0 or columns.min() == 0 or rows.max() == 63 or columns.max() == 63:
                continue
            _, vectors = np.linalg.eigh(np.cov(columns, -rows))
            seen = math.atan2(vectors[1, -1], vectors[0, -1])
            gap = (seen - clip.sprites[0].orientation[t]) % math.pi
            assert min(gap, math.pi - gap) < math.radians(6)
            checked += 1
    assert checked > 20


def test_color_has_constant_hue_steps_and_fixed_saturation_and_value():
    for clip, _ in clips("color"):
        for sprite in clip.sprites:
            hsv = np.array([colorsys.rgb_to_hsv(*(c / 255 for c in rgb)) for rgb in sprite.color])
            steps = (np.diff(hsv[:, 0]) * 360 + 180) % 360 - 180
            assert np.ptp(steps) < 2.5  # what rounding to 8 bits leaves at the palest colors
            assert 5 - 1.5 <= abs(steps.mean()) <= 36 + 1.5
            assert np.ptp(hsv[:, 1]) < 0.012
            assert np.ptp(hsv[:, 2]) < 0.005


def test_size_goes_from_one_end_to_the_other_a_scale_a_frame():
    for clip, _ in clips("size"):
        for sprite in clip.sprites:
            steps = [SCALES.index(scale) for scale in sprite.scale]
            if steps[0] == 5:
                steps = [5 - step for step in steps]
            first = steps.index(1)
            assert steps == [0] * first + [1, 2, 3, 4, 5] + [5] * (5 - first)


def test_mixed_changes_color_size_and_orientation_of_every_sprite():
    for clip, _ in clips("mixed"):
        assert set(clip.scenario) == {"color", "size", "rotation"}
        for sprite in clip.sprites:
            for values in (sprite.color, sprite.scale, sprite.orientation):
                assert len(set(values)) > 1


def test_low_contrast_colors_are_near_the_background():
    for clip, _ in clips("low_contrast"):
        for sprite in clip.sprites:
            gap = np.linalg.norm(np.subtract(sprite.color[0], clip.background))
            assert 15 <= gap <= 49
            assert len(set(sprite.color)) == 1


def test_crowd_has_5_to_10_sprites():
    counts = [len(clip.sprites) for clip, _ in clips("crowd")]
    assert set(counts) == set(range(5, 11))


def test_swap_two_of_one_color_cross():
    for clip, _ in clips("swap"):
        i, j = (int(n) - 1 for n in clip.scenario["swap"]["sprites"])
        assert clip.sprites[i].color == clip.sprites[j].color
        gaps = positions(clip)[i] - positions(clip)[j]
        assert (gaps == 0).all(axis=1).any()
        axis = int(clip.scenario["swap"]["axis"][0])
        assert gaps[0, axis] <= -8.7
        assert gaps[-1, axis] >= 8.7


def test_enter_exit_every_sprite_is_wholly_outside_and_inside_once():
    sides = set()
    for clip, rendered in clips("enter_exit", sprites=[1, 2]):
        sides |= set(clip.scenario["enter_exit"]["side"])
        for i, sprite in enumerate(clip.sprites):
            x, y = np.array(sprite.position).T
            inside = (x >= 0) & (x <= 64) & (y >= 0) & (y <= 64)
            seen = rendered.amodal[:, i].any(axis=(1, 2))
            assert not seen.all()
            assert inside.any()
            changes = np.flatnonzero(np.diff(seen))
            enters = clip.scenario["enter_exit"]["enters"][i] == 1.0
            assert len(changes) == 1
            assert seen[-1] == enters
    assert sides == {0, 1, 2, 3}


def test_large_sprites_enter_and_exit_too():
    assert clips("enter_exit", "large", count=100)


def test_composed_scenarios_keep_each_property():
    for clip, _ in clips("occlusion", "enter_exit", "same_color", "rotation", "small", count=20):
        assert len(clip.sprites) >= 3
        assert len({color for s in clip.sprites for color in s.color}) == 1
        i, j = (int(n) - 1 for n in clip.scenario["occlusion"]["sprites"])
        assert (positions(clip)[i] == positions(clip)[j]).all(axis=1).any()
        others = set(range(1, len(clip.sprites) + 1)) - {i + 1, j + 1}
        assert {int(n) for n in clip.scenario["enter_exit"]["sprites"]} == others


def test_order_of_scenarios_in_a_file_does_not_matter():
    assert resolve("vmds", {}, {"size": {}, "color": {}}) == resolve(
        "vmds", {}, {"color": {}, "size": {}}
    )


def test_a_scenario_shifts_nothing_it_does_not_set():
    plain, small = (clips(*names, count=10) for names in ((), ("small",)))
    for (one, _), (other, _) in zip(plain, small, strict=True):
        for a, b in zip(one.sprites, other.sprites, strict=True):
            assert (a.position, a.color, a.orientation) == (b.position, b.color, b.orientation)


def test_options_of_scenarios_are_followed():
    for clip, _ in clips("rotation", options={"rotation": {"step_deg": [90, 90]}}, count=10):
        for sprite in clip.sprites:
            steps = np.abs(np.degrees(np.diff(sprite.orientation)))
            np.testing.assert_allclose(steps, 90, atol=1e-3)


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (("small", "large"), "both set the scale"),
        (("low_contrast", "color"), "both set the color"),
    ],
)
def test_contradicting_scenarios_are_refused(names, word):
    with pytest.raises(SpecError, match=word):
        resolve("vmds", {}, {name: {} for name in names})


def test_every_scenario_says_what_it_is():
    for scenario in SCENARIOS.values():
        assert scenario.summary
        for option in scenario.options.values():
            assert option.meaning
            assert option.least <= min(option.default) <= max(option.default) <= option.most
