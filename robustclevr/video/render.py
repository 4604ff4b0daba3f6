"""A Clip to pixels: nothing is drawn at random here."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from robustclevr.records import Clip, RenderedClip, VideoOptions
from robustclevr.video.composite import Touched, label, paint, touched
from robustclevr.video.dsprites import load_rasters
from robustclevr.video.flow import optical_flow
from robustclevr.video.options import unit_of
from robustclevr.video.rasters import shifted_stamps
from robustclevr.video.stamps import Poses, Stamps, hard_stamps, poses, soft_stamps
from robustclevr.video.templates import template_stamps
from robustclevr.video.textures import crop_side, texture_pixels


def render_clip(clip: Clip, options: VideoOptions, *, flow: bool = False) -> RenderedClip:
    """Make the pixels of a clip.

    Parameters
    ----------
    clip : Clip
        From :func:`robustclevr.video.sample_clip` with the same options, or from its record.
    options : VideoOptions
    flow : bool
        Whether optical flow is wanted too.

    Returns
    -------
    RenderedClip

    Raises
    ------
    SamplingError
        If a picture of its textures is gone or has changed.
    SpecError
        If the dSprites file or the folder of textures cannot be read.
    """
    shape = (options.frames, len(clip.sprites), options.height, options.width)
    background = _background(clip, options)
    stand = poses(clip.sprites, unit_of(options))
    colored = touched(_stamps(clip, options, stand), stand, options.height, options.width)
    labeled = colored
    if options.family == "spmot" and options.sampling == "odd-even":
        even = template_stamps(clip.sprites, stand, options.height, odd_pixels=False)
        labeled = touched(even, stand, options.height, options.width)
    masks, amodal, visibility = label(labeled, stand, shape, threshold=options.mask_threshold)
    return RenderedClip(
        video=paint(background, colored, stand, _colors(clip, options, stand, colored)),
        masks=masks,
        amodal=amodal,
        visibility=visibility,
        background=background,
        flow=optical_flow(masks, clip.sprites, clip.background_step) if flow else None,
    )


def _stamps(clip: Clip, options: VideoOptions, stand: Poses) -> Stamps:
    sprites, edges = clip.sprites, options.edges
    if options.family == "spmot":
        odd = options.sampling == "odd-even"
        return template_stamps(sprites, stand, options.height, odd_pixels=odd)
    if options.dsprites is not None:
        return shifted_stamps(sprites, stand, edges, load_rasters(options.dsprites))
    if edges == "coverage":
        return soft_stamps(sprites, stand, unit_of(options))
    if edges == "hard":
        return hard_stamps(sprites, stand)
    return shifted_stamps(sprites, stand, edges, None)


def _background(clip: Clip, options: VideoOptions) -> NDArray[np.uint8]:
    """Return shape (T, H, W, 3): one color, or a crop that moves by a pixel a frame."""
    frames, height, width = options.frames, options.height, options.width
    shape = (frames, height, width, 3)
    if clip.background_texture is None:
        # Bytes repeat some ten times faster than an array is filled with three of them.
        flat = np.frombuffer(bytes(clip.background) * (frames * height * width), np.uint8)
        return flat.reshape(shape)
    video = np.empty(shape, np.uint8)
    side = max(height, width) + frames - 1
    picture = texture_pixels(clip.background_texture, options.textures, side)
    for t in range(frames):
        # Content moves by +step if the window moves by -step.
        left, top = (_window(step, t, frames) for step in clip.background_step)
        video[t] = picture[top : top + height, left : left + width]
    return video


def _window(step: int, t: int, frames: int) -> int:
    return frames - 1 - t if step > 0 else t * -step


def _colors(clip: Clip, options: VideoOptions, stand: Poses, pixels: Touched) -> NDArray[np.uint8]:
    """Return the sprite's color at each touched pixel, shape (M, 3)."""
    if clip.background_texture is None:
        table = np.array([sprite.color for sprite in clip.sprites], dtype=np.uint8)
        table = table.reshape(len(clip.sprites), options.frames, 3)
        counts = np.bincount(pixels.stamp, minlength=len(stand.sprite))
        return np.repeat(table[stand.sprite, stand.frame], counts, axis=0)
    colors = np.empty((len(pixels.stamp), 3), np.uint8)
    owner = stand.sprite[pixels.stamp]
    for index in range(len(clip.sprites)):
        these = np.flatnonzero(owner == index)
        colors[these] = _textured(clip, options, stand, pixels, index, these) + 0.5
    return colors


def _textured(
    clip: Clip,
    options: VideoOptions,
    stand: Poses,
    pixels: Touched,
    index: int,
    these: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return a sprite's texture at some touched pixels: it moves, turns and grows along."""
    sprite = clip.sprites[index]
    side = crop_side(sprite.shape, unit_of(options))
    if sprite.texture is None:
        return np.zeros((len(these), 3))
    crop = texture_pixels(sprite.texture, options.textures, side).astype(np.float64)
    stamp = pixels.stamp[these]
    turned = [angle - sprite.orientation[0] for angle in sprite.orientation]
    largest = max(sprite.scale)
    shrink = np.array([largest / scale for scale in sprite.scale])[stand.frame[stamp]]
    cosine = np.array([math.cos(angle) for angle in turned])[stand.frame[stamp]] * shrink
    sine = np.array([math.sin(angle) for angle in turned])[stand.frame[stamp]] * shrink
    row, column = np.divmod(pixels.place[these], options.width)
    x = column + 0.5 - stand.center[stamp, 0]
    y = row + 0.5 - stand.center[stamp, 1]
    return _bilinear(crop, cosine * x - sine * y, sine * x + cosine * y)


def _bilinear(
    picture: NDArray[np.float64], x: NDArray[np.float64], y: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Interpolate a square picture at places counted from its centre, clamped to it."""
    last = len(picture) - 1
    column = np.clip(x + last / 2, 0, last)
    row = np.clip(y + last / 2, 0, last)
    left = np.minimum(column.astype(np.int64), last - 1)
    top = np.minimum(row.astype(np.int64), last - 1)
    across, down = (column - left)[:, np.newaxis], (row - top)[:, np.newaxis]
    above = picture[top, left] * (1 - across) + picture[top, left + 1] * across
    below = picture[top + 1, left] * (1 - across) + picture[top + 1, left + 1] * across
    blended: NDArray[np.float64] = above * (1 - down) + below * down
    return blended
