"""K-means on colors: the simplest method that finds objects in images and clips.

Images enter, label maps leave. Each pixel is a sample of three features; a clip is clustered
frame by frame, and clusters of consecutive frames are linked by the overlap of their pixels.
This is the baseline of Weis et al. (2021), appendix D.1, which says no more than that. Where it
is silent, what reproduces its row on Sprites-MOT was chosen: scikit-learn's defaults of the time
(k-means++, the best of 10 starts; with one start MOTA is 1.3 points higher), and linking of all
clusters, those of the background and empty ones included, however little they overlap.

References
----------
.. [1] M. A. Weis et al., "Benchmarking unsupervised object representations for video
   sequences", JMLR 22(183), 2021.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from robustclevr.errors import SpecError
from robustclevr.metrics.overlap import iou, pair_counts

CLUSTERS = {"spmot": 5, "vmds": 6, "texvmds": 6, "vor": 8}
"""Clusters by data set: the slots of the models that [1]_ compares with. For texVMDS the paper
gives none; 6 fits its false positives, which are about 4 kept clusters a frame."""

_STARTS = 10  # scikit-learn's default until 1.3, and so that of the paper
_TOLERANCE = 1e-4  # scikit-learn's default: steps smaller than this share of the spread end it
_MAX_CLUSTERS = 255  # labels are bytes and 0 is no object
_SEEDS = 2**32  # scikit-learn takes seeds below this


def kmeans_labels(
    frames: NDArray[np.uint8], clusters: int, *, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Segment a clip, or a single image, by color.

    Parameters
    ----------
    frames : ndarray of uint8, shape (T, H, W, 3)
        sRGB. An image is a clip of one frame.
    clusters : int
        Segments, the background's included. In [1, 255].
    rng : numpy.random.Generator
        Consumed: one seed a frame.

    Returns
    -------
    ndarray of uint8, shape (T, H, W)
        Labels 1 to ``clusters``; a label is one segment in all frames. A frame of fewer colors
        has fewer labels. The same whatever the number of processors.

    Raises
    ------
    SpecError
        If ``clusters`` is out of range.
    ValueError
        If ``frames`` is not a clip of 8-bit RGB frames.
    """
    if not 1 <= clusters <= _MAX_CLUSTERS:
        raise SpecError.single(f"{clusters} clusters", hint=f"1 to {_MAX_CLUSTERS} are possible")
    if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[3] != 3:
        raise ValueError(f"frames are {frames.dtype} {frames.shape}, not uint8 (T, H, W, 3)")
    seeds = rng.integers(_SEEDS, size=len(frames)).tolist()
    segments = np.zeros(frames.shape[:3], np.uint8)
    with _one_thread():
        for index, seed in enumerate(seeds):
            segments[index] = _clusters(frames[index], clusters, seed)
    return link_segments(segments, clusters) + np.uint8(1)


def link_segments(segments: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Give segments of consecutive frames the same label where they overlap most.

    Each frame's segments are paired with those of the frame before so that the sum of their
    IoU is greatest; every segment gets a partner, whatever their overlap.

    Parameters
    ----------
    segments : ndarray of uint8, shape (T, H, W)
        Labels 0 to ``count`` - 1 of each frame by itself.
    count : int
        Labels that a frame may have.

    Returns
    -------
    ndarray of uint8, shape (T, H, W)
        Labels of the first frame, carried on.
    """
    linked = segments.copy()
    for before, frame in itertools.pairwise(linked):
        names = np.zeros(count, np.uint8)
        old, new = linear_sum_assignment(_similarity(before, frame, count), maximize=True)
        names[new] = old
        frame[...] = names[frame]
    return linked


def _similarity(before: NDArray[np.uint8], frame: NDArray[np.uint8], count: int) -> Any:
    shared = np.zeros((count, count), np.int64)
    counts = pair_counts(before[np.newaxis], frame[np.newaxis]).counts[0]
    shared[: counts.shape[0], : counts.shape[1]] = counts
    return iou(shared, shared.sum(axis=1), shared.sum(axis=0))


def _clusters(image: NDArray[np.uint8], count: int, seed: int) -> NDArray[np.uint8]:
    """Cluster the colors of one image, shape (H, W, 3); return labels from 0, shape (H, W).

    Pixels of one color fall into one cluster, so colors are clustered, weighted by how many
    pixels have them: the same objective, much sooner.
    """
    colors, members, pixels = _colors(image)
    if len(colors) <= count:
        labels = np.arange(len(colors))
    else:
        labels = _kmeans(colors, pixels, count, seed)
    return np.asarray(labels, np.uint8)[members].reshape(image.shape[:2])


def _colors(
    image: NDArray[np.uint8],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the colors of an image, which of them each pixel has, and pixels a color."""
    red, green, blue = np.moveaxis(image.reshape(-1, 3).astype(np.int64), 1, 0)
    codes, members, pixels = np.unique(
        (red << 16) | (green << 8) | blue, return_inverse=True, return_counts=True
    )
    colors = np.stack([codes >> 16, (codes >> 8) & 0xFF, codes & 0xFF], axis=1)
    return colors.astype(np.float64), members, pixels


def _kmeans(
    colors: NDArray[np.float64], pixels: NDArray[np.int64], count: int, seed: int
) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans

    mean = np.average(colors, axis=0, weights=pixels)
    spread = np.average((colors - mean) ** 2, axis=0, weights=pixels).mean()
    # scikit-learn multiplies this by the spread of the samples without their weights; here it
    # shall stop where it would with a sample for every pixel.
    tolerance = _TOLERANCE * spread / colors.var(axis=0).mean()
    model = KMeans(count, init="k-means++", n_init=_STARTS, tol=tolerance, random_state=seed)
    return np.asarray(model.fit(colors, sample_weight=pixels).labels_, np.int64)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let scikit-learn use one thread.

    Several add up their shares in the order in which they finish, and bits depend on it.
    """
    import sklearn.cluster  # noqa: F401  limits hold for libraries that are loaded by now
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        yield
