"""What comes back from the renderer, and what is stored of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LinearImage:
    """One image as it leaves the compositor.

    Attributes
    ----------
    variant : str
    pixels : ndarray of float32, shape (H, W, 3)
        Scene-linear Rec.709, unclipped, row 0 on top.
    source : ndarray of int32, shape (H, W), or None
        For images whose recipes move pixels: flat index (row * W + column) of the pixel of the
        clean image that is seen there, -1 for none. None where nothing moved.
    labels : ndarray of uint8, shape (H, W), or None
        Labels moved along, more exactly than ``source`` can. None where nothing moved, or where
        no finer labels are known.
    """

    variant: str
    pixels: NDArray[np.float32]
    source: NDArray[np.int32] | None
    labels: NDArray[np.uint8] | None = None


@dataclass(frozen=True)
class Render:
    """All pixels of one sample.

    Attributes
    ----------
    images : tuple of LinearImage
        In the order of ``Plan.images``.
    labels : ndarray of uint8, shape (H, W)
        Clean label pass: 0 background, i = object i.
    amodal : ndarray of bool, shape (N, H, W), or None
    depth : ndarray of float32, shape (H, W), or None
        Distance from the camera's centre along the ray. [m]
    normal : ndarray of float32, shape (H, W, 3), or None
        World space, unit length.
    seconds : mapping of str to float
        ``cycles``, ``labels``, ``compositor``, ``other``: wall time in each. [s]
    renders : int
        Number of Cycles renders, the label passes not counted.
    versions : mapping of str to str
        ``blender``, ``numpy``, ``python`` of the process that rendered.
    device : str
        What rendered, such as ``cpu``.
    """

    images: tuple[LinearImage, ...]
    labels: NDArray[np.uint8]
    amodal: NDArray[np.bool_] | None
    depth: NDArray[np.float32] | None
    normal: NDArray[np.float32] | None
    seconds: Mapping[str, float]
    renders: int
    versions: Mapping[str, str]
    device: str


@dataclass(frozen=True)
class Variant:
    """One stored image.

    Attributes
    ----------
    name : str
        ``clean``, ``joint`` or a node id.
    image : ndarray of uint8, shape (H, W, 3)
        sRGB.
    labels : ndarray of uint8, shape (H, W)
        0 background, i = object i; moved along with the pixels.
    """

    name: str
    image: NDArray[np.uint8]
    labels: NDArray[np.uint8]


@dataclass(frozen=True)
class Retry:
    """A try at a sample that gave no picture, after which the sample was tried again.

    Attributes
    ----------
    sample : int
        Its index.
    attempt : int
        Which try failed, from 1.
    reason : str
        One line.
    """

    sample: int
    attempt: int
    reason: str


@dataclass(frozen=True)
class Receipt:
    """Proof that a shard is complete; written after it, by renaming.

    Attributes
    ----------
    split, shard : str, int
    start, count : int
        Index of the first sample, and number of samples.
    sha256 : str
        Of the tar.
    size_bytes : int
        Of the tar.
    fingerprint : str
        Of the split's spec.
    dataset_version : int
    versions : mapping of str to str
        ``robustclevr``, ``python``, ``numpy``, ``blender``.
    device : str
    denoise : bool
        True if pixels may differ in the last bits when made again.
    seconds : mapping of str to float
        ``total`` (planning to parking, start-up of Blender left out), ``startup``, ``cycles``,
        ``labels``, ``compositor``, ``encode``, ``other``. [s]
    renders : int
        Cycles renders.
    retries : tuple of Retry
        Tries that failed before the samples were made; empty in an undisturbed run.
    """

    split: str
    shard: int
    start: int
    count: int
    sha256: str
    size_bytes: int
    fingerprint: str
    dataset_version: int
    versions: Mapping[str, str]
    device: str
    denoise: bool
    seconds: Mapping[str, float]
    renders: int
    retries: tuple[Retry, ...] = ()
