"""Stamps to pixels: the video, the label maps, the amodal masks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robustclevr.video.stamps import Poses, Stamps

_PIXEL = np.dtype("V3")


@dataclass(frozen=True)
class Touched:
    """The M pixels of a clip that stamps touch, stamp by stamp.

    Attributes
    ----------
    pixel : ndarray of int64, shape (M,)
        Flat index into (T, H, W).
    place : ndarray of int64, shape (M,)
        Flat index into (H, W).
    stamp : ndarray of int64, shape (M,)
        Which stamp.
    alpha : ndarray of float64, shape (M,)
        In (0, 1].
    """

    pixel: NDArray[np.int64]
    place: NDArray[np.int64]
    stamp: NDArray[np.int64]
    alpha: NDArray[np.float64]


def touched(stamps: Stamps, poses: Poses, height: int, width: int) -> Touched:
    """Return the pixels inside the picture at which alpha is above 0."""
    alpha, (left, top) = stamps.alpha, (stamps.left, stamps.top)
    size = alpha.shape[-1]
    crossing = (left < 0) | (top < 0) | (left + size > width) | (top + size > height)
    if crossing.any():
        alpha = alpha * _on_picture(top, size, height)[:, :, np.newaxis]
        alpha *= _on_picture(left, size, width)[:, np.newaxis, :]
    flat = alpha.reshape(len(left), size * size)
    shown = flat > 0.0
    counts = np.count_nonzero(shown, axis=1)
    stamp = np.repeat(np.arange(len(left)), counts)
    cell = np.flatnonzero(shown)
    within = cell - stamp * (size * size)
    offset = (np.arange(size)[:, np.newaxis] * width + np.arange(size)).reshape(-1)
    place = np.repeat(top * width + left, counts) + offset[within]
    pixel = place + np.repeat(poses.frame * (height * width), counts)
    return Touched(pixel, place, stamp, flat.reshape(-1)[cell])


def _on_picture(corner: NDArray[np.int64], size: int, length: int) -> NDArray[np.bool_]:
    """Return which rows (or columns) of each window lie on the picture, shape (S, P)."""
    along = corner[:, np.newaxis] + np.arange(size)
    return (along >= 0) & (along < length)


def paint(
    background: NDArray[np.uint8],
    touched: Touched,
    poses: Poses,
    colors: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Blend sprites over a background, rearmost first.

    Parameters
    ----------
    background : ndarray of uint8, shape (T, H, W, 3)
    touched : Touched
    poses : Poses
    colors : ndarray of uint8, shape (M, 3)
        sRGB of the sprite at each touched pixel.

    Returns
    -------
    ndarray of uint8, shape (T, H, W, 3)
        ``alpha * color + (1 - alpha) * what lies behind`` in sRGB values, as sprite datasets
        blend; rounded after each sprite, as a painter on 8 bits does.
    """
    video = background.copy()
    pixels = video.reshape(-1, 3)
    # Whole pixels as items of three bytes move twice as fast as rows of three numbers.
    items, solid = (array.view(_PIXEL)[:, 0] for array in (pixels, colors))
    soft = touched.alpha < 1.0
    for group in _groups(poses.rank[touched.stamp]):
        where, edge = touched.pixel[group], np.flatnonzero(soft[group])
        behind = pixels[where[edge]].astype(np.float64)
        items[where] = solid[group]
        alpha = touched.alpha[group][edge, np.newaxis]
        pixels[where[edge]] = behind + alpha * (colors[group][edge] - behind) + 0.5
    return video


def label(
    touched: Touched, poses: Poses, shape: tuple[int, int, int, int], *, threshold: float
) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.float64]]:
    """Return masks, amodal masks and visibility.

    Parameters
    ----------
    touched : Touched
    poses : Poses
    shape : 4 ints
        T, N, H, W.
    threshold : float
        A mask holds the pixels whose alpha is greater. [0, 1)

    Returns
    -------
    masks : ndarray of uint8, shape (T, H, W)
        The foremost of the sprites whose amodal mask holds a pixel: i for sprite i - 1, else 0.
    amodal : ndarray of bool, shape (T, N, H, W)
    visibility : ndarray of float64, shape (T, N)
        Pixels of a sprite in ``masks`` over those in ``amodal``, 0 where there are none.
    """
    frames, count, height, width = shape
    held = touched.alpha > threshold
    pixel, stamp = touched.pixel[held], touched.stamp[held]
    row = poses.frame[stamp] * count + poses.sprite[stamp]
    name = (poses.sprite[stamp] + 1).astype(np.uint8)
    masks = np.zeros(frames * height * width, np.uint8)
    for group in _groups(poses.rank[stamp]):
        masks[pixel[group]] = name[group]
    amodal = np.zeros(frames * count * height * width, np.bool_)
    amodal[row * (height * width) + touched.place[held]] = True
    whole = np.bincount(row, minlength=frames * count)
    seen = np.bincount(row, masks[pixel] == name, frames * count)
    visibility = seen / np.maximum(whole, 1)
    return (
        masks.reshape(frames, height, width),
        amodal.reshape(shape),
        visibility.reshape(frames, count),
    )


def _groups(ranks: NDArray[np.int64]) -> Iterator[slice]:
    """Yield the runs of equal rank; no two sprites of one rank share a frame."""
    if ranks.size:
        borders = [0, *(np.flatnonzero(np.diff(ranks)) + 1).tolist(), len(ranks)]
        yield from (slice(a, b) for a, b in itertools.pairwise(borders))
