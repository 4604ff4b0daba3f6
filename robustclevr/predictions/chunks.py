"""A split cut into runs of samples that can be read apart: the tasks of worker processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from robustclevr.store.dataset import Dataset, Sample
from robustclevr.store.layout import sample_key
from robustclevr.store.shard import ShardReader

_CHUNKS_A_CORE = 8  # chosen: the last chunk to end delays all by at most an eighth


@dataclass(frozen=True)
class Chunk:
    """Consecutive samples of one shard.

    Attributes
    ----------
    split : str
    tar : Path
    start, stop : int
        Indices ``start <= i < stop``.
    """

    split: str
    tar: Path
    start: int
    stop: int


def chunks(dataset: Dataset, split: str) -> list[Chunk]:
    """Cut a split into chunks, in order, several for each core.

    Raises
    ------
    StoreError
        If the dataset has no such split.
    """
    cores = len(os.sched_getaffinity(0))
    size = max(1, -(-dataset.split(split).samples // (cores * _CHUNKS_A_CORE)))
    return [
        Chunk(split, place.tar, start, min(start + size, place.start + place.count))
        for place in dataset.shards(split)
        for start in range(place.start, place.start + place.count, size)
    ]


def chunk_samples(chunk: Chunk) -> Iterator[Sample]:
    """Yield the samples of a chunk in order.

    Raises
    ------
    StoreError
        If the shard or a sample is missing or unreadable.
    """
    with ShardReader(chunk.tar) as reader:
        for index in range(chunk.start, chunk.stop):
            key = sample_key(index)
            members = {suffix: reader.read(key, suffix) for suffix in reader.suffixes(key)}
            yield Sample(chunk.split, key, members)
