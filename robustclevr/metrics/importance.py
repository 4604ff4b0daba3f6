"""Object importance: how much of what people say about an image is about each object.

Captions and the objects of an image enter; a weight for each object leaves. A class is as
typical as the share of captions that name it; its objects share that by their areas; then the
weights spread to objects near by, as heat does on a graph whose edges are strong where boxes are
close. Objects above a threshold are those to evaluate detections on. From [1]_; what the paper
leaves open is as in its public code (JoshuaFeinglass/VL-detector-eval): edges of
1 / max(distance in pixels, 1) and the combinatorial Laplacian.

Two things differ. The code estimates the largest eigenvalue to within some percent and filters
by a polynomial; here both are exact. It finds classes in captions by a parser and word vectors;
here a class is found by its words.

References
----------
.. [1] J. Feinglass, Y. Yang, "Towards addressing the misalignment of object proposal evaluation
   for vision-language tasks via semantic grounding", WACV 2024.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.metrics.boxes import box_gaps
from robustclevr.metrics.overlap import FloatArray

_NEAREST_PX = 1.0  # as in the public code: without it, boxes that touch would be infinitely near


def caption_typicality(
    captions: Sequence[str], words: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Return the share of captions that name each class.

    Parameters
    ----------
    captions : sequence of str
        Of one image.
    words : mapping of str to sequence of str
        By class, the words that stand for it. Whole words count, in any case, and their
        plurals in -s and -es.

    Returns
    -------
    dict of str to float
        For every class of ``words``, in [0, 1]; 0 without captions.

    Examples
    --------
    >>> caption_typicality(["Two cubes.", "A red cube and a ball"], {"cube": ["cube", "box"]})
    {'cube': 1.0}
    """
    patterns = {name: _pattern(synonyms) for name, synonyms in words.items()}
    return {
        name: sum(bool(pattern.search(caption)) for caption in captions) / max(len(captions), 1)
        for name, pattern in patterns.items()
    }


def object_importance(
    classes: Sequence[str],
    areas: NDArray[Any],
    boxes: NDArray[Any],
    typicality: Mapping[str, float],
    *,
    time: float = 1.0,
) -> FloatArray:
    """Return the importance of each object of an image.

    Parameters
    ----------
    classes : sequence of str
        Class of each of N objects.
    areas : ndarray of float, shape (N,)
        > 0. [px^2]
    boxes : ndarray of float, shape (N, 4)
        (left, top, width, height). [px]
    typicality : mapping of str to float
        By class; one that is not there has none.
    time : float
        How far importance spreads; 0 is not at all. 1 in [1]_ of the module.

    Returns
    -------
    ndarray of float64, shape (N,)
        Sums to 1. All nan if no object's class has typicality: captions and objects do not
        belong together, and [1]_ leaves the image out.

    Raises
    ------
    ValueError
        If the lengths differ or an area is not positive.
    """
    areas = np.asarray(areas, np.float64)
    if not len(classes) == len(areas) == len(boxes):
        raise ValueError(f"{len(classes)} classes, {len(areas)} areas and {len(boxes)} boxes")
    if not (areas > 0.0).all():
        raise ValueError(f"areas go down to {areas.min()}; an object has at least some")
    shares = _shares(classes, areas, typicality)
    if not shares.any():
        return np.full(len(areas), np.nan)
    spread = heat_kernel(_closeness(boxes), time) @ shares
    return np.asarray(spread / spread.sum())


def important(importance: FloatArray, threshold: float) -> NDArray[np.bool_]:
    """Tell which objects are more important than ``threshold``; none where it is nan."""
    return importance > threshold


def heat_kernel(weights: FloatArray, time: float) -> FloatArray:
    """Return exp(-t L / lambda_max), L being the combinatorial Laplacian of a graph.

    Eigenvalues are divided by the largest one, as PyGSP does.

    Parameters
    ----------
    weights : ndarray of float64, shape (N, N)
        Symmetric, >= 0, diagonal 0.
    time : float
        t >= 0.

    Returns
    -------
    ndarray of float64, shape (N, N)
        Rows sum to 1. The identity for a graph without edges.
    """
    laplacian = np.diag(weights.sum(axis=1)) - weights
    eigenvalues, vectors = np.linalg.eigh(laplacian)
    largest = eigenvalues[-1] if eigenvalues.size else 0.0
    if largest <= 0.0:
        return np.eye(len(weights))
    damping = np.exp(-time * np.maximum(eigenvalues, 0.0) / largest)
    return np.asarray((vectors * damping) @ vectors.T)


def _shares(
    classes: Sequence[str], areas: FloatArray, typicality: Mapping[str, float]
) -> FloatArray:
    """Return each object's part of the typicality of its class, by area, shape (N,)."""
    _, members = np.unique(np.array(classes, dtype=str), return_inverse=True)
    totals = np.bincount(members, weights=areas)
    weights = np.array([typicality.get(name, 0.0) for name in classes])
    return np.asarray(weights * areas / totals[members])


def _closeness(boxes: NDArray[Any]) -> FloatArray:
    """Return the weight of the edge between every two boxes, shape (N, N)."""
    weights = 1.0 / np.maximum(box_gaps(boxes), _NEAREST_PX)
    np.fill_diagonal(weights, 0.0)
    return np.asarray(weights)


def _pattern(synonyms: Sequence[str]) -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in synonyms)
    # Without words there is nothing to find, and an empty group would find everything.
    return re.compile(rf"\b(?:{words})(?:e?s)?\b" if words else r"(?!)", re.IGNORECASE)
