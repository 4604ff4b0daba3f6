"""The original file's layout, made small: every sprite at one place."""

import itertools
import math

import numpy as np
import pytest

from robustclevr.errors import SpecError
from robustclevr.records import Sprite
from robustclevr.video import render_clip, resolve, sample_clip
from robustclevr.video.dsprites import load_rasters
from robustclevr.video.shapes import ORIENTATIONS, SCALES, SHAPES
from robustclevr.video.stamps import hard_stamps, poses


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Closed forms in dSprites' layout: 720 sprites at three places."""
    sprites = [
        Sprite(shape, (scale,), (angle,), (), ((32.0, 32.0),), (0,))
        for shape, scale, angle in itertools.product(SHAPES, SCALES, ORIENTATIONS)
    ]
    stamps = [hard_stamps([s], poses([s], 1.0)) for s in sprites]
    pictures, classes = [], []
    for key, stamp in zip(itertools.product(range(3), range(6), range(40)), stamps, strict=True):
        size = stamp.alpha.shape[-1]
        for x in range(3):
            left, top = int(stamp.left[0]) + 2 * (x - 1), int(stamp.top[0])
            picture = np.zeros((64, 64), np.uint8)
            picture[top : top + size, left : left + size] = stamp.alpha[0]
            pictures.append(picture)
            classes.append((0, *key, x, 0))
    path = tmp_path_factory.mktemp("dsprites") / "dsprites.npz"
    metadata = np.array({"pickled": True}, dtype=object)
    np.savez_compressed(
        path, imgs=np.array(pictures), latents_classes=np.array(classes), metadata=metadata
    )
    return path


def test_the_720_sprites_at_the_middle_place_are_read(archive):
    rasters = load_rasters(str(archive))
    assert set(rasters) == set(itertools.product(range(3), range(6), range(40)))
    assert rasters[0, 5, 0].pixels.sum() == 400
    assert rasters[0, 5, 0].centroid == (32.0, 32.0)


def test_clips_of_the_file_are_clips_of_the_closed_forms_by_interpolation(archive):
    for edges in ("bilinear", "cubic"):
        own = resolve("vmds", {"edges": edges})
        theirs = resolve("vmds", {"edges": edges, "dsprites": str(archive)})
        for index in range(4):
            clip = sample_clip(theirs, root_seed=0, split="s", index=index)
            assert clip == sample_clip(own, root_seed=0, split="s", index=index)
            one, other = render_clip(clip, own), render_clip(clip, theirs)
            # Rasters were cut at other places between pixels; their edges differ by a pixel.
            assert (one.masks != other.masks).mean() < 0.01


def test_hard_edges_of_the_file_are_whole_pixel_moves(archive):
    options = resolve("vmds", {"edges": "hard", "dsprites": str(archive), "sprites": [1, 1]})
    clip = sample_clip(options, root_seed=0, split="s", index=0)
    rendered = render_clip(clip, options)
    areas = {int(mask.sum()) for mask in rendered.amodal[:, 0]}
    x, y = np.array(clip.sprites[0].position).T
    if min(x.min(), y.min(), 64 - x.max(), 64 - y.max()) > 14:
        assert len(areas) == 1


@pytest.mark.parametrize(
    ("arrays", "word"),
    [
        ({"imgs": np.zeros((2, 64, 64), np.uint8)}, "has no latents_classes"),
        ({"latents_classes": np.zeros((2, 6), np.int64)}, "has no imgs"),
        (
            {"imgs": np.zeros((2, 32, 32), np.uint8), "latents_classes": np.zeros((2, 6), int)},
            "not of uint8",
        ),
        (
            {"imgs": np.zeros((2, 64, 64), np.uint8), "latents_classes": np.zeros((2, 5), int)},
            "not \\(M, 6\\)",
        ),
    ],
)
def test_other_files_are_refused_with_the_way_out(tmp_path, arrays, word):
    path = tmp_path / "other.npz"
    np.savez(path, **arrays)
    with pytest.raises(SpecError, match=word) as error:
        load_rasters(str(path))
    assert "dsprites_ndarray" in str(error.value)


def test_missing_and_broken_files_are_refused(tmp_path, archive):
    with pytest.raises(SpecError, match="cannot be read: No such file"):
        load_rasters(str(tmp_path / "none.npz"))
    (tmp_path / "cut.npz").write_bytes(archive.read_bytes()[:5000])
    with pytest.raises(SpecError, match="not a whole NPZ"):
        load_rasters(str(tmp_path / "cut.npz"))


def test_turning_sprites_of_a_file_are_refused(archive):
    with pytest.raises(SpecError, match="have 40 orientations"):
        resolve("vmds", {"dsprites": str(archive)}, {"rotation": {}})


def test_orientations_of_a_record_find_their_raster(archive):
    rasters = load_rasters(str(archive))
    for k in (0, 1, 17, 38):
        options = resolve("vmds", {"dsprites": str(archive)})
        angle = round(math.tau * k / 39, 6)
        sprite = Sprite("heart", (0.7,), (angle,), (), ((32.0, 32.0),), (0,))
        from robustclevr.video.rasters import raster_key

        assert raster_key(sprite.shape, 0.7, angle) == (2, 2, k)
        assert rasters[2, 2, k].pixels.sum() > 90
        assert options.dsprites == str(archive)
