"""Textures: folders with everything wrong, crops, and the statistics of procedural ones."""

import numpy as np
import pytest
from PIL import Image

from robustclevr.errors import SamplingError, SpecError
from robustclevr.video import list_pictures, render_clip, resolve, sample_clip
from robustclevr.video.natural import natural_texture
from robustclevr.video.textures import choose_textures, texture_pixels


def save(path, height, width, seed=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return pixels


def clip_of(folder, index=0, **video):
    options = resolve("texvmds", {"textures": str(folder), **video})
    clip = sample_clip(options, root_seed=0, split="train", index=index)
    return options, clip


def test_pictures_of_a_tree_are_listed_sorted_and_not_opened(tmp_path):
    for name in ("n02/b.JPEG", "n01/a.JPEG"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"not opened")
    (tmp_path / "notes.txt").write_text("x")
    assert list_pictures(str(tmp_path)) == ("n01/a.JPEG", "n02/b.JPEG")


def test_backgrounds_are_crops_that_move_a_pixel_a_frame(tmp_path):
    pixels = {name: save(tmp_path / name, 150, 200, k) for k, name in enumerate(("a.png", "b.png"))}
    steps = set()
    for index in range(30):
        options, clip = clip_of(tmp_path, index)
        rendered = render_clip(clip, options)
        texture, (dx, dy) = clip.background_texture, clip.background_step
        steps.add((dx, dy))
        source = pixels[texture.picture]
        for t in (0, 4, 9):
            # The content moves by (dx, dy), so the window moves the other way.
            left = texture.left + (9 - t if dx > 0 else t if dx < 0 else 0)
            top = texture.top + (9 - t if dy > 0 else t if dy < 0 else 0)
            window = source[top : top + 64, left : left + 64]
            np.testing.assert_array_equal(rendered.background[t], window)
    assert steps == {(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)} - {(0, 0)}


def test_sprites_carry_their_texture_along(tmp_path):
    save(tmp_path / "a.png", 150, 150)
    options = resolve("texvmds", {"textures": str(tmp_path), "sprites": [1, 1], "edges": "hard"})
    for index in range(5):
        clip = sample_clip(options, root_seed=0, split="s", index=index)
        rendered = render_clip(clip, options)
        texture = clip.sprites[0].texture
        for t in range(10):
            # The bilinear value of the crop at each pixel, looked up another way.
            crop = texture_pixels(texture, str(tmp_path), 2 * 14 + 3).astype(float)
            rows, columns = np.nonzero(rendered.masks[t])
            x, y = clip.sprites[0].position[t]
            if clip.sprites[0].shape != "square":
                continue
            k = len(rows) // 2
            u, v = columns[k] + 0.5 - x + 15, rows[k] + 0.5 - y + 15
            i, j = int(v), int(u)
            fv, fu = v - i, u - j
            value = (
                crop[i, j] * (1 - fv) * (1 - fu)
                + crop[i, j + 1] * (1 - fv) * fu
                + crop[i + 1, j] * fv * (1 - fu)
                + crop[i + 1, j + 1] * fv * fu
            )
            assert np.abs(rendered.video[t, rows[k], columns[k]] - value).max() <= 0.5 + 1e-6


def test_a_folder_without_pictures_is_an_error_with_a_way_out(tmp_path):
    (tmp_path / "readme.md").write_text("nothing")
    with pytest.raises(SpecError, match=r"no picture in or below .*procedural"):
        clip_of(tmp_path)
    with pytest.raises(SpecError, match="is not a folder"):
        clip_of(tmp_path / "missing")


def test_a_broken_picture_is_named_and_left_out(tmp_path):
    save(tmp_path / "good.png", 150, 150)
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 cut")
    whole = (tmp_path / "good.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    left_out = set()
    for index in range(12):
        options, clip = clip_of(tmp_path, index)
        used = {clip.background_texture, *(sprite.texture for sprite in clip.sprites)}
        assert {texture.picture for texture in used} == {"good.png"}
        render_clip(clip, options)
        left_out |= {line.split(":")[0] for line in clip.left_out}
    assert left_out == {"broken.jpg", "cut.png"}


def test_only_broken_or_tiny_pictures_are_an_error_that_names_them(tmp_path):
    (tmp_path / "broken.jpg").write_bytes(b"no")
    save(tmp_path / "dot.png", 1, 1)
    with pytest.raises(SamplingError) as error:
        clip_of(tmp_path)
    message = str(error.value)
    assert "broken.jpg: cannot be decoded" in message
    assert "dot.png: 1x1 px, needs at least 19x19" in message
    assert "leave video.textures out" in message
    assert "clip 0 of split 'train'" in message


def test_small_pictures_are_enlarged(tmp_path):
    save(tmp_path / "small.png", 32, 40)
    options, clip = clip_of(tmp_path)
    assert clip.background_texture.zoom == pytest.approx(73 / 32)
    assert render_clip(clip, options).video.shape == (10, 64, 64, 3)


def test_a_picture_that_changed_is_an_error(tmp_path):
    (texture,) = choose_textures(None, [40], np.random.default_rng(0)).textures
    assert texture_pixels(texture, None, 40).shape == (40, 40, 3)
    save(tmp_path / "a.png", 90, 90)
    chosen = choose_textures(str(tmp_path), [60], np.random.default_rng(0)).textures[0]
    with pytest.raises(SamplingError, match="has changed since the clip was drawn"):
        texture_pixels(chosen, str(tmp_path), 91)


def test_procedural_textures_differ_in_every_clip_and_sprite():
    options = resolve("texvmds")
    seeds = []
    for index in range(40):
        clip = sample_clip(options, root_seed=0, split="s", index=index)
        seeds += [clip.background_texture.seed, *(s.texture.seed for s in clip.sprites)]
    assert len(set(seeds)) == len(seeds)


def test_procedural_textures_have_the_statistics_of_natural_pictures():
    side, power, correlations = 128, 0.0, []
    window = np.outer(np.hanning(side), np.hanning(side))
    for seed in range(24):
        pixels = natural_texture(seed, side).astype(float)
        gray = pixels.mean(axis=2)
        power = power + np.abs(np.fft.fft2((gray - gray.mean()) * window)) ** 2
        correlations.append(np.corrcoef(pixels.reshape(-1, 3).T)[np.triu_indices(3, 1)])
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(side), np.fft.fftfreq(side)))
    edges = np.geomspace(2 / side, 0.2, 10)
    band = np.digitize(frequency, edges)
    x = [np.log(frequency[band == k].mean()) for k in range(1, 10)]
    y = [np.log(power[band == k].mean()) for k in range(1, 10)]
    slope = np.polyfit(x, y, 1)[0]
    # Power of natural pictures falls as f^-2, give or take a half.
    assert -2.6 < slope < -1.5
    # Red, green and blue of natural pictures are correlated by 0.7 and more.
    assert np.mean(correlations) > 0.7
