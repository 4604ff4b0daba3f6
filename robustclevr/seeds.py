"""Named random streams: every random number of a sample follows from four names.

A stream is a Philox generator keyed by (root seed, split, stage) and started at the block of
the sample's index, so sample 17 can be drawn alone and a new stage shifts no other.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

_WORDS_PER_BLOCK = 4  # Philox4x64 yields four 64-bit words a counter value


def _philox_key(root_seed: int, split: str, stage: str) -> NDArray[np.uint64]:
    text = f"robustclevr\0{root_seed}\0{split}\0{stage}"
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64)


def stream(root_seed: int, split: str, stage: str, index: int) -> np.random.Generator:
    """Return the generator of one stage of one sample.

    Parameters
    ----------
    root_seed : int
        Root seed of the dataset; 0 is a seed like any other.
    split : str
        Name of the split.
    stage : str
        What the numbers are for, such as ``"scene"``.
    index : int
        Sample index, >= 0.

    Returns
    -------
    numpy.random.Generator
        Independent of the generators of all other (root seed, split, stage, index).
    """
    # The index stands in the counter's highest word: 2**192 blocks lie between two samples.
    counter = np.array([0, 0, 0, index], dtype=np.uint64)
    key = _philox_key(root_seed, split, stage)
    return np.random.Generator(np.random.Philox(counter=counter, key=key))


def uniforms(
    root_seed: int, split: str, name: str, *, start: int, count: int
) -> NDArray[np.float64]:
    """Return the uniform numbers of one noise variable for consecutive samples.

    Parameters
    ----------
    root_seed, split : int, str
        As in :func:`stream`.
    name : str
        ``node.noise``.
    start, count : int
        First sample index and number of samples.

    Returns
    -------
    ndarray of float64, shape (count,)
        Strictly inside (0, 1), on the centres of a grid of 2**-52. Element k depends on
        ``start + k`` alone.
    """
    bits = np.random.Philox(key=_philox_key(root_seed, split, f"noise\0{name}"))
    skipped = start % _WORDS_PER_BLOCK
    bits.advance(start // _WORDS_PER_BLOCK)
    raw = np.asarray(bits.random_raw(skipped + count), dtype=np.uint64)[skipped:]
    # 52 bits and not 53: with 53 the largest centre, 1 - 2**-54, would round to 1. Signed, because
    # processors convert signed integers to float an order of magnitude faster.
    raw >>= np.uint64(12)
    values = raw.view(np.int64).astype(np.float64)
    values += 0.5  # in place: fresh memory costs more than the arithmetic
    values *= 2.0**-52
    return values


def pixel_seed(root_seed: int, split: str, name: str, index: int) -> int:
    """Return the seed of the pixel noise of one node of one sample.

    Returns
    -------
    int
        In [0, 2**24): Blender's white noise takes it as a float32, in which larger integers
        collide (measured on bpy 4.5).
    """
    return int(stream(root_seed, split, f"pixels.{name}", index).integers(2**24))
