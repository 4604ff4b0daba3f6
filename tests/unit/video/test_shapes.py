"""The closed forms against dSprites' numbers, a finer raster, and one another."""

import math

import numpy as np
import pytest

from robustclevr.records import Sprite
from robustclevr.video import stamps
from robustclevr.video.shapes import (
    AREAS_PX,
    HEART_CENTROID_Y_PX,
    ORIENTATIONS,
    SCALES,
    SHAPES,
    inside,
    outline,
    reach,
)
from robustclevr.video.stamps import hard_stamps, poses

# Counted in the pictures of dSprites, whose anchor lies on a corner of pixels.
DSPRITES_AREAS = {
    "square": (100, 144, 196, 256, 324, 400),
    "ellipse": (76, 104, 144, 184, 228, 288),
    "heart": (58, 84, 108, 140, 182, 222),
}
SIDE = 64


def sprite(shape, scale=1.0, angle=0.0, place=(32.0, 32.0)):
    return Sprite(shape, (scale,), (angle,), ((0, 0, 0),), (place,), (0,))


def whole(make, thing):
    """Return one sprite's alpha on a 64x64 picture; the sprite must lie inside."""
    made = make([thing], poses([thing], 1.0))
    picture = np.zeros((SIDE, SIDE))
    size = made.alpha.shape[-1]
    top, left = int(made.top[0]), int(made.left[0])
    picture[top : top + size, left : left + size] = made.alpha[0]
    return picture


def soft_stamps(sprites, stand):
    return stamps.soft_stamps(sprites, stand, 1.0)


def supersampled(thing, factor=16):
    """Rasterize hard at a finer grid, in one's own words, and average."""
    grid = (np.arange(SIDE * factor) + 0.5) / factor
    (x0, y0), scale, angle = thing.position[0], thing.scale[0], thing.orientation[0]
    x, y = np.meshgrid(grid - x0, grid - y0)
    # Counter-clockwise on the screen: a point right of the centre goes up, so undo that.
    back_x = (math.cos(angle) * x - math.sin(angle) * y) / scale
    back_y = (math.sin(angle) * x + math.cos(angle) * y) / scale
    fine = inside(thing.shape, back_x, back_y)
    return fine.reshape(SIDE, factor, SIDE, factor).mean(axis=(1, 3))


@pytest.mark.parametrize("shape", SHAPES)
def test_areas_at_orientation_0_are_those_of_dsprites(shape):
    drop = HEART_CENTROID_Y_PX if shape == "heart" else 0.0
    areas = tuple(
        int(whole(hard_stamps, sprite(shape, scale, place=(32.0, 32.0 + drop * scale))).sum())
        for scale in SCALES
    )
    assert areas == DSPRITES_AREAS[shape]


def test_heart_points_down_and_orientation_turns_counter_clockwise():
    upright = whole(hard_stamps, sprite("heart"))
    lowest, highest = np.flatnonzero(upright.any(axis=1))[[-1, 0]]
    assert upright[lowest].sum() <= 2 < upright[highest].sum()
    quarter = whole(hard_stamps, sprite("heart", angle=math.pi / 2))
    # The tip, which points down, turns by a quarter counter-clockwise: to the right.
    rightmost = np.flatnonzero(quarter.any(axis=0))[-1]
    assert quarter[:, rightmost].sum() <= 2


def test_there_are_40_orientations_and_the_last_is_the_first():
    assert len(ORIENTATIONS) == 40
    assert ORIENTATIONS[-1] == pytest.approx(math.tau)


@pytest.mark.parametrize("shape", SHAPES)
def test_outline_has_the_area_the_centroid_and_the_reach_of_the_shape(shape):
    points = outline(shape, 96)
    x, y = points.T
    cross = x[:-1] * y[1:] - x[1:] * y[:-1]
    area = cross.sum() / 2
    assert area == pytest.approx(AREAS_PX[shape], rel=1e-12)
    assert ((x[:-1] + x[1:]) * cross).sum() / 6 / area == pytest.approx(0, abs=0.01)
    assert ((y[:-1] + y[1:]) * cross).sum() / 6 / area == pytest.approx(0, abs=0.01)
    assert np.hypot(x, y).max() <= reach(shape) * 1.01
    assert np.abs(np.diff(points, axis=0)).max() < 1.0  # what exact coverage asks for


@pytest.mark.parametrize("shape", SHAPES)
def test_coverage_agrees_with_supersampling_and_keeps_area_and_centroid(shape):
    rng = np.random.default_rng(5)
    errors = []
    for _ in range(8):
        scale, angle = float(rng.choice(SCALES)), float(rng.uniform(0, 7))
        place = tuple(rng.uniform(20, 44, 2).tolist())
        thing = sprite(shape, scale, angle, place)
        alpha, reference = whole(soft_stamps, thing), supersampled(thing)
        edge = (reference > 0) & (reference < 1)  # the grid misses slivers of 1/32 px
        errors.append(np.abs(alpha - reference)[edge].mean())
        assert (alpha[reference == 1] > 0.97).all()
        assert (alpha[reference == 0] < 0.03).all()
        assert alpha.sum() == pytest.approx(AREAS_PX[shape] * scale**2, rel=1e-9)
        centre = np.arange(SIDE) + 0.5
        assert (alpha.sum(axis=0) * centre).sum() / alpha.sum() == pytest.approx(place[0], abs=0.02)
        assert (alpha.sum(axis=1) * centre).sum() / alpha.sum() == pytest.approx(place[1], abs=0.02)
    assert max(errors) < 0.02


def test_coverage_of_a_square_on_whole_and_half_pixels_is_exact():
    half = whole(soft_stamps, sprite("square", 10 / 19.2, place=(32.5, 32.0)))
    assert half[27:37, 28:37].min() == 1.0
    np.testing.assert_allclose(half[27:37, [27, 37]], 0.5, atol=1e-12)
    assert half.sum() == pytest.approx(100)
