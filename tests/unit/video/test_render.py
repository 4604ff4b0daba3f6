"""Pixels, masks, order and flow against a painter that knows only the record."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import ndimage

from robustclevr.records import Sprite
from robustclevr.video import render_clip, resolve, sample_clip
from robustclevr.video.rasters import own_raster, shifted_stamps
from robustclevr.video.stamps import poses, soft_stamps


def pair(index=0, video=None, scenario=None, *, flow=False, family="vmds"):
    options = resolve(family, video, scenario)
    clip = sample_clip(options, root_seed=0, split="s", index=index)
    return clip, render_clip(clip, options, flow=flow)


def alphas(clip, unit=1.0, height=64, width=64):
    """Return the alpha of each sprite in each frame, shape (T, N, H, W)."""
    stand = poses(clip.sprites, unit)
    stamps = soft_stamps(clip.sprites, stand, unit)
    frames, pad = len(clip.sprites[0].position), stamps.alpha.shape[-1]
    whole = np.zeros((frames, len(clip.sprites), height + 2 * pad, width + 2 * pad))
    for s in range(len(stamps.alpha)):
        top, left = stamps.top[s] + pad, stamps.left[s] + pad
        whole[stand.frame[s], stand.sprite[s], top : top + pad, left : left + pad] = stamps.alpha[s]
    return whole[:, :, pad:-pad, pad:-pad]


@pytest.mark.parametrize("scenario", [{}, {"crowd": {}}, {"size": {}}, {"color": {}}])
def test_video_is_what_a_painter_paints_from_the_record(scenario):
    clip, rendered = pair(3, scenario=scenario)
    alpha = alphas(clip)
    for t in range(10):
        canvas = np.zeros((64, 64, 3)) + clip.background
        for i in sorted(range(len(clip.sprites)), key=lambda n: clip.sprites[n].order[t]):
            a = alpha[t, i][..., None]
            canvas = np.rint(a * clip.sprites[i].color[t] + (1 - a) * canvas)
        assert np.abs(canvas - rendered.video[t]).max() <= 1
        assert (canvas == rendered.video[t]).mean() > 0.999


@pytest.mark.parametrize("edges", ["coverage", "bilinear", "cubic", "hard"])
@pytest.mark.parametrize("scenario", [{}, {"crowd": {}}, {"size": {}}, {"enter_exit": {}}])
def test_masks_amodal_masks_order_and_visibility_agree(edges, scenario):
    for index in range(4):
        clip, rendered = pair(index, {"edges": edges}, scenario)
        expected = np.zeros_like(rendered.masks)
        for t in range(10):
            for i in sorted(range(len(clip.sprites)), key=lambda n: clip.sprites[n].order[t]):
                expected[t][rendered.amodal[t, i]] = i + 1
        np.testing.assert_array_equal(rendered.masks, expected)
        for i in range(len(clip.sprites)):
            modal = (rendered.masks == i + 1).sum(axis=(1, 2))
            whole = rendered.amodal[:, i].sum(axis=(1, 2))
            np.testing.assert_array_equal(
                rendered.visibility[:, i], np.where(whole > 0, modal / np.maximum(whole, 1), 0)
            )


def test_larger_scales_are_in_front_in_every_frame_and_ranks_are_distinct():
    for index in range(20):
        clip, _ = pair(index, {"sprites": [4, 4]}, {"size": {}})
        for t in range(10):
            by_rank = sorted(clip.sprites, key=lambda sprite: sprite.order[t])
            assert [sprite.order[t] for sprite in by_rank] == [0, 1, 2, 3]
            scales = [sprite.scale[t] for sprite in by_rank]
            assert scales == sorted(scales)


def test_amodal_masks_do_not_depend_on_other_sprites():
    options = resolve("vmds", {"sprites": [4, 4]})
    clip = sample_clip(options, root_seed=0, split="s", index=1)
    together = render_clip(clip, options)
    for i, sprite in enumerate(clip.sprites):
        alone = dataclasses.replace(clip, sprites=(sprite,))
        np.testing.assert_array_equal(
            render_clip(alone, options).amodal[:, 0], together.amodal[:, i]
        )


def test_centroids_of_the_alpha_are_the_recorded_places():
    centre = np.arange(64) + 0.5
    for index in range(0, 20, 4):
        clip, _ = pair(index, {"sprites": [1, 1], "margin_px": 14})
        for t, alpha in enumerate(alphas(clip)[:, 0]):
            x, y = clip.sprites[0].position[t]
            assert (alpha.sum(axis=0) * centre).sum() / alpha.sum() == pytest.approx(x, abs=0.05)
            assert (alpha.sum(axis=1) * centre).sum() / alpha.sum() == pytest.approx(y, abs=0.05)


@pytest.mark.parametrize(("edges", "order"), [("bilinear", 1), ("cubic", 3)])
def test_interpolated_edges_are_those_of_scipy(edges, order):
    rng = np.random.default_rng(0)
    for shape in ("square", "ellipse", "heart"):
        angle, place = float(rng.uniform(0, 6)), rng.uniform(30, 34, 2)
        sprite = Sprite(shape, (0.8,), (angle,), (), (tuple(place.tolist()),), (0,))
        stand = poses([sprite], 1.0)
        stamps = shifted_stamps([sprite], stand, edges, None)
        raster = own_raster(shape, 0.8, angle)
        picture = np.zeros((64, 64))
        picture[: len(raster.pixels), : len(raster.pixels)] = raster.pixels
        move = (place - raster.centroid)[::-1]
        # scipy's prefilter assumes a mirror at the border, which is far away once padded.
        expected = ndimage.shift(np.pad(picture, 8), move, order=order)[8:-8, 8:-8]
        size, top, left = stamps.alpha.shape[-1], int(stamps.top[0]), int(stamps.left[0])
        found = np.zeros((64, 64))
        found[top : top + size, left : left + size] = stamps.alpha[0]
        np.testing.assert_allclose(
            found, np.clip(expected, 0, 1), atol=1e-2 if order == 3 else 1e-9
        )


def test_hard_edges_show_only_whole_colors():
    clip, rendered = pair(3, {"edges": "hard"})
    allowed = {clip.background, *(color for sprite in clip.sprites for color in sprite.color)}
    assert {tuple(p) for p in rendered.video.reshape(-1, 3).tolist()} <= allowed


def test_other_sizes_scale_shapes_bounds_and_motion():
    options = resolve("vmds", {"height": 128, "width": 192, "frames": 5})
    assert (options.sigma_px, options.margin_px) == (110.0, 20.0)
    clip = sample_clip(options, root_seed=0, split="s", index=1)
    rendered = render_clip(clip, options)
    assert rendered.video.shape == (5, 128, 192, 3)
    x, y = np.array([sprite.position for sprite in clip.sprites]).reshape(-1, 2).T
    assert 20 <= x.min() <= x.max() <= 172
    assert 20 <= y.min() <= y.max() <= 108
    alpha = alphas(clip, 2.0, 128, 192)
    assert alpha.max() == 1.0
    np.testing.assert_array_equal(alpha > 0.5, rendered.amodal)


def test_a_clip_of_no_sprites_and_one_frame():
    clip, rendered = pair(0, {"sprites": [0, 1], "counts": "balanced", "frames": 1}, flow=True)
    other, _ = pair(1, {"sprites": [0, 1], "counts": "balanced", "frames": 1})
    empty = clip if not clip.sprites else other
    assert {len(clip.sprites), len(other.sprites)} == {0, 1}
    assert empty.sprites == ()
    assert rendered.flow.shape == (0, 64, 64, 2)
    assert rendered.amodal.shape == (1, len(clip.sprites), 64, 64)


def test_flow_carries_each_sprite_and_the_background():
    for scenario in ({}, {"rotation": {}}, {"size": {}}):
        clip, rendered = pair(2, {}, scenario, flow=True)
        assert rendered.flow.dtype == np.float16
        assert (rendered.flow[rendered.masks[:-1] == 0] == 0).all()
        for i, sprite in enumerate(clip.sprites):
            for t in range(9):
                rows, columns = np.nonzero(rendered.masks[t] == i + 1)
                there = rendered.flow[t, rows, columns] + np.stack([columns, rows], 1) + 0.5
                # Polar coordinates about the centroid turn and grow as recorded.
                here = np.stack([columns, rows], 1) + 0.5 - sprite.position[t]
                there = there - sprite.position[t + 1]
                growth = sprite.scale[t + 1] / sprite.scale[t]
                turn = sprite.orientation[t + 1] - sprite.orientation[t]
                z_here, z_there = here @ [1, -1j], there @ [1, -1j]
                np.testing.assert_allclose(z_there, z_here * growth * np.exp(1j * turn), atol=0.05)


def test_flow_of_a_textured_background_moves_its_pixels():
    clip, rendered = pair(1, {"sprites": [1, 1]}, family="texvmds", flow=True)
    dx, dy = clip.background_step
    assert max(abs(dx), abs(dy)) == 1
    for t in range(9):
        moved = np.roll(rendered.background[t], (dy, dx), axis=(0, 1))
        np.testing.assert_array_equal(moved[2:-2, 2:-2], rendered.background[t + 1][2:-2, 2:-2])
        assert (rendered.flow[t][rendered.masks[t] == 0] == (dx, dy)).all()


def test_angles_of_the_record_are_radians():
    clip, _ = pair(0, {"sprites": [4, 4]})
    steps = {round(sprite.orientation[0] / (math.tau / 39), 3) for sprite in clip.sprites}
    assert all(step == round(step) and 0 <= step <= 39 for step in steps)
