"""Sheets and animations of clips: every frame where it belongs, colors kept."""

import io

import numpy as np
import pytest
from PIL import Image

from robustclevr.report import clip_animation, clip_sheet

COLORS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]], np.uint8)


def clip(first, frames=4, side=64):
    """One color a frame."""
    order = np.roll(COLORS, -first, axis=0)[np.arange(frames) % 4]
    return np.broadcast_to(order[:, None, None, :], (frames, side, side, 3)).copy()


def test_frames_stand_in_rows_and_are_enlarged():
    sheet = clip_sheet([clip(0), clip(1)], ["a", "b"])
    for color in COLORS:
        found = np.argwhere((sheet == color).all(axis=-1))
        assert len(found) == 2 * 128 * 128
    assert sheet.shape[0] > 2 * 128


def test_long_clips_show_ten_frames_from_the_first_to_the_last():
    long = clip(0, frames=40)
    long[-1] = 7
    sheet = clip_sheet([long], ["a"])
    assert sheet.shape[1] < 11 * 132 + 40
    assert (sheet == 7).all(axis=-1).sum() == 128 * 128


def test_an_animation_has_every_frame_and_runs_on():
    with Image.open(io.BytesIO(clip_animation([clip(0), clip(1), clip(2)]))) as picture:
        assert picture.n_frames == 4
        assert picture.info["loop"] == 0
        for t in range(4):
            picture.seek(t)
            assert picture.info["duration"] == 100
            frame = np.asarray(picture.convert("RGB"))
            assert frame.shape == (2 * 128 + 4, 2 * 128 + 4, 3)
            for number, (top, left) in enumerate([(0, 0), (0, 132), (132, 0)]):
                seen = frame[top + 5, left + 5].astype(int)
                assert np.abs(seen - COLORS[(number + t) % 4]).max() <= 4


@pytest.mark.parametrize("draw", [lambda: clip_sheet([], []), lambda: clip_animation([])])
def test_nothing_to_show(draw):
    with pytest.raises(ValueError, match="at least one clip"):
        draw()
