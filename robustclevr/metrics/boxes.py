"""Boxes of images: their overlap in the sense of COCO, and the gaps between them.

A box is (left, top, width, height) in pixels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.metrics.overlap import FloatArray


def box_areas(boxes: NDArray[Any]) -> FloatArray:
    """Return width times height of boxes, shapes (N, 4) and (N,), in squared pixels."""
    return np.asarray(boxes[:, 2] * boxes[:, 3], np.float64)


def box_iou(
    detected: NDArray[Any], truth: NDArray[Any], crowd: NDArray[np.bool_] | None = None
) -> FloatArray:
    """Return intersection over union of every pair of boxes.

    Parameters
    ----------
    detected : ndarray of float, shape (D, 4)
    truth : ndarray of float, shape (G, 4)
    crowd : ndarray of bool, shape (G,), optional
        Boxes around many objects: for these the intersection is taken over the detected box
        alone, so that a detection inside one overlaps fully, as COCO defines it.

    Returns
    -------
    ndarray of float64, shape (D, G)
        In [0, 1]; 0 where there is no area.
    """
    width, height = _sides(detected, truth)
    shared = np.maximum(width, 0.0) * np.maximum(height, 0.0)
    detected_areas = box_areas(detected)[:, np.newaxis]
    whole = detected_areas + box_areas(truth) - shared
    if crowd is not None:
        whole = np.where(crowd, detected_areas, whole)
    overlap = np.divide(shared, whole, out=np.zeros_like(shared), where=shared > 0.0)
    return np.asarray(overlap)


def box_gaps(boxes: NDArray[Any]) -> FloatArray:
    """Return the least Euclidean distance between the regions of every two boxes.

    Parameters
    ----------
    boxes : ndarray of float, shape (N, 4)

    Returns
    -------
    ndarray of float64, shape (N, N)
        0 where boxes touch or overlap. [px]
    """
    width, height = _sides(boxes, boxes)
    return np.asarray(np.hypot(np.maximum(-width, 0.0), np.maximum(-height, 0.0)))


def _sides(a: NDArray[Any], b: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """Return width and height of the intersection of each pair; negative is a gap."""
    starts = np.maximum(a[:, np.newaxis, :2], b[np.newaxis, :, :2])
    ends = np.minimum(
        a[:, np.newaxis, :2] + a[:, np.newaxis, 2:], b[np.newaxis, :, :2] + b[np.newaxis, :, 2:]
    )
    sides = np.asarray(ends - starts, np.float64)
    return sides[..., 0], sides[..., 1]
