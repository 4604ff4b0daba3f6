"""How many pixels true and predicted segments share: what every score of masks is made of.

Label maps or stacks of masks enter, integer counts leave. Counts are exact, so that scores that
are ratios of them are right to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

_DENSE_LABELS = 256
"""Up to here labels index the table of counts directly; larger ones are renumbered first."""


@dataclass(frozen=True)
class PairCounts:
    """Pixels by true and predicted label, for a batch of maps.

    Attributes
    ----------
    counts : ndarray of int64, shape (B, I, J)
        Pixels of map b with true label ``truth_ids[i]`` and predicted label
        ``predicted_ids[j]``.
    truth_ids : ndarray of int64, shape (I,)
        Ascending.
    predicted_ids : ndarray of int64, shape (J,)
        Ascending.
    """

    counts: IntArray
    truth_ids: IntArray
    predicted_ids: IntArray


@dataclass(frozen=True)
class Overlaps:
    """The overlaps of the masks of one clip; a mask of no pixels is one that is not there.

    Attributes
    ----------
    shared : ndarray of int64, shape (T, G, P)
        Pixels that a true and a predicted object share in a frame.
    truth_pixels : ndarray of int64, shape (T, G)
    predicted_pixels : ndarray of int64, shape (T, P)
    background_shared : ndarray of int64, shape (T, B, P)
        Pixels that a segment of the true background and a predicted object share.
    background_pixels : ndarray of int64, shape (T, B)
    """

    shared: IntArray
    truth_pixels: IntArray
    predicted_pixels: IntArray
    background_shared: IntArray
    background_pixels: IntArray


def pair_counts(truth: NDArray[Any], predicted: NDArray[Any]) -> PairCounts:
    """Count the pixels of each pair of labels.

    Parameters
    ----------
    truth, predicted : ndarray of int, shape (B, ...)
        Label maps, labels >= 0. What follows the first axis is one map.

    Returns
    -------
    PairCounts
        Labels that occur nowhere may have rows and columns of zeros.

    Raises
    ------
    ValueError
        If the shapes differ, or labels are not integers >= 0.
    """
    if truth.shape != predicted.shape:
        raise ValueError(f"true labels of shape {truth.shape}, predicted {predicted.shape}")
    truth_ids, rows = _indices(truth, "true")
    predicted_ids, columns = _indices(predicted, "predicted")
    batch, height, width = truth.shape[0], truth_ids.size, predicted_ids.size
    maps = np.arange(batch).reshape(-1, *[1] * (truth.ndim - 1))
    flat = (maps * height + rows) * width + columns
    counts = np.bincount(flat.reshape(-1), minlength=batch * height * width)
    return PairCounts(counts.reshape(batch, height, width), truth_ids, predicted_ids)


def label_overlaps(
    truth: NDArray[Any], predicted: NDArray[Any], *, background: Sequence[int] = (0,)
) -> Overlaps:
    """Count overlaps in a clip of two label maps.

    Parameters
    ----------
    truth : ndarray of int, shape (T, H, W)
        The label of each pixel; a label is one object in all frames.
    predicted : ndarray of int, shape (T, H, W)
        Likewise; 0 is no object.
    background : sequence of int
        Which true labels are background; the others are objects.

    Returns
    -------
    Overlaps
        Objects in the order of their labels.

    Raises
    ------
    ValueError
        As :func:`pair_counts`.
    """
    pairs = pair_counts(truth, predicted)
    is_background = np.isin(pairs.truth_ids, background)
    truth_pixels = pairs.counts.sum(axis=2)
    counts = pairs.counts[:, :, pairs.predicted_ids != 0]
    return Overlaps(
        shared=counts[:, ~is_background],
        truth_pixels=truth_pixels[:, ~is_background],
        predicted_pixels=counts.sum(axis=1),
        background_shared=counts[:, is_background],
        background_pixels=truth_pixels[:, is_background],
    )


def mask_overlaps(
    truth: NDArray[np.bool_],
    predicted: NDArray[np.bool_],
    background: NDArray[np.bool_] | None = None,
) -> Overlaps:
    """Count overlaps in a clip of masks, which may lie over each other.

    Parameters
    ----------
    truth : ndarray of bool, shape (T, G, H, W)
        True objects; all False where an object is not seen.
    predicted : ndarray of bool, shape (T, P, H, W)
    background : ndarray of bool, shape (T, B, H, W), optional
        Segments of the true background.

    Returns
    -------
    Overlaps

    Raises
    ------
    ValueError
        If frames differ in number or size.
    """
    if background is None:
        background = np.zeros((truth.shape[0], 0, *truth.shape[2:]), np.bool_)
    for other in (predicted, background):
        if (other.shape[0], *other.shape[2:]) != (truth.shape[0], *truth.shape[2:]):
            raise ValueError(f"masks of shape {other.shape} beside true ones of {truth.shape}")
    return Overlaps(
        shared=_shared(truth, predicted),
        truth_pixels=truth.sum(axis=(2, 3)),
        predicted_pixels=predicted.sum(axis=(2, 3)),
        background_shared=_shared(background, predicted),
        background_pixels=background.sum(axis=(2, 3)),
    )


def iou(shared: IntArray, a_pixels: IntArray, b_pixels: IntArray) -> FloatArray:
    """Return intersection over union of every pair.

    Parameters
    ----------
    shared : ndarray of int64, shape (..., I, J)
    a_pixels : ndarray of int64, shape (..., I)
    b_pixels : ndarray of int64, shape (..., J)

    Returns
    -------
    ndarray of float64, shape (..., I, J)
        In [0, 1]; 0 where neither mask has a pixel.
    """
    union = a_pixels[..., :, np.newaxis] + b_pixels[..., np.newaxis, :] - shared
    return np.asarray(shared / np.maximum(union, 1))


def _indices(labels: NDArray[Any], whose: str) -> tuple[IntArray, IntArray]:
    """Return the labels that may occur, ascending, and the map of their indices."""
    if labels.dtype.kind not in "iub":
        raise ValueError(f"{whose} labels are {labels.dtype}, not integers")
    if labels.size == 0:
        return np.zeros(0, np.int64), np.zeros(labels.shape, np.int64)
    lowest, highest = int(labels.min()), int(labels.max())
    if lowest < 0:
        raise ValueError(f"{whose} labels go down to {lowest}; they begin at 0")
    if highest < _DENSE_LABELS:
        return np.arange(highest + 1), labels.astype(np.int64)
    ids, inverse = np.unique(labels, return_inverse=True)
    return ids.astype(np.int64), inverse.reshape(labels.shape)


def _shared(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> IntArray:
    """Return the pixels that masks share, shape (T, I, J)."""
    frames, pixels = a.shape[0], int(np.prod(a.shape[2:]))
    left = a.reshape(frames, a.shape[1], pixels).astype(np.float64)
    right = b.reshape(frames, b.shape[1], pixels).astype(np.float64)
    # A matrix product of zeros and ones is exact in float64, and faster than of integers.
    return np.asarray(left @ right.transpose(0, 2, 1)).astype(np.int64)
