"""Labels that follow the pixels, and what can be read off them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Footprint:
    """What one image shows of one object.

    Attributes
    ----------
    box : tuple of 4 ints, or None
        Column and row of the first pixel, column and row after the last: x0 <= x < x1,
        y0 <= y < y1. None if nothing is visible. [px]
    visible_pixels : int
    visible_fraction : float or None
        Visible pixels over the pixels that the object would cover in the image if it stood
        alone, at most 1. None if those are not known or are none.
    """

    box: tuple[int, int, int, int] | None
    visible_pixels: int
    visible_fraction: float | None


def warp_labels(labels: NDArray[np.uint8], source: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Carry labels along with pixels that moved.

    Parameters
    ----------
    labels : ndarray of uint8, shape (H, W)
        Of the image before.
    source : ndarray of int32, shape (H', W')
        Flat index into ``labels`` of the pixel that is seen there, -1 for none.

    Returns
    -------
    ndarray of uint8, shape (H', W')
        0 where nothing is seen.
    """
    padded = np.append(labels.reshape(-1), np.uint8(0))  # index -1 finds the background
    return padded[source]


def warp_amodal(amodal: NDArray[np.bool_], source: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Carry amodal masks along with pixels that moved.

    Parameters
    ----------
    amodal : ndarray of bool, shape (N, H, W)
    source : ndarray of int32, shape (H', W')
        As for :func:`warp_labels`.

    Returns
    -------
    ndarray of bool, shape (N, H', W')
        False where nothing is seen.
    """
    count, height, width = amodal.shape
    flat = amodal.reshape(count, height * width)
    padded = np.append(flat, np.zeros((count, 1), np.bool_), axis=1)
    return padded[:, source]


def boxes_and_fractions(
    labels: NDArray[np.uint8], n_objects: int, *, amodal_pixels: Sequence[int] | None = None
) -> tuple[Footprint, ...]:
    """Return box, visible pixels and visible fraction of every object.

    Parameters
    ----------
    labels : ndarray of uint8, shape (H, W)
        0 background, i = object i.
    n_objects : int
        Number of objects.
    amodal_pixels : sequence of int, optional
        Per object, the pixels of the same image that it would cover if it stood alone.

    Returns
    -------
    tuple of Footprint
        Element i - 1 is object i's.
    """
    counts = np.bincount(labels.reshape(-1), minlength=n_objects + 1)
    wholes = [None] * n_objects if amodal_pixels is None else amodal_pixels
    return tuple(
        Footprint(
            box=_box(labels == index) if visible else None,
            visible_pixels=visible,
            visible_fraction=min(1.0, visible / whole) if whole else None,
        )
        for index, visible, whole in zip(
            range(1, n_objects + 1), counts[1 : n_objects + 1].tolist(), wholes, strict=True
        )
    )


def _box(mask: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    rows = np.flatnonzero(mask.any(axis=1))
    columns = np.flatnonzero(mask.any(axis=0))
    return (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
