"""A split as a stream of shards, for data sets larger than memory: disks read in one direction.

The order is a function of seed and epoch; processes and machines share the shards among them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from torch.utils.data import IterableDataset, get_worker_info

from robustclevr.errors import SpecError
from robustclevr.seeds import stream
from robustclevr.store.dataset import Dataset, Sample
from robustclevr.store.shard import ShardReader
from robustclevr.torch.items import Item, sample_items


class SplitStream(IterableDataset[Any]):
    """The images or clips of a split, shard by shard; an iterable data set.

    With ``shuffle`` the shards come in random order, and the samples of each in random order;
    variants of a sample stay together. Reader r of R, of all ranks and their worker processes,
    takes shards r, r + R, … of that order, so each sample comes once an epoch, from one of them.

    Parameters
    ----------
    root : Path or str
        The dataset's folder.
    split : str
    variants : collection of str
        Which images of a sample; empty for all. By default ``clean`` alone.
    shuffle : bool
    seed : int
        Of the shuffle. Together with the epoch, and nothing else, it decides the order.
    rank, ranks : int, int
        Of this process in distributed training. Ranks may yield different numbers of items.
    transform : callable, optional
        Applied to each item.

    Raises
    ------
    StoreError
        If there is no such dataset or split.
    SpecError
        If the rank is not one of the ranks.

    Examples
    --------
    ::

        data = SplitStream("data", "train", shuffle=True, seed=0)
        for epoch in range(10):
            data.set_epoch(epoch)
            for batch in DataLoader(data, batch_size=64, num_workers=8, collate_fn=collate):
                ...
    """

    def __init__(
        self,
        root: Path | str,
        split: str,
        *,
        variants: Collection[str] = ("clean",),
        shuffle: bool = False,
        seed: int = 0,
        rank: int = 0,
        ranks: int = 1,
        transform: Callable[[Item], Any] | None = None,
    ) -> None:
        if not 0 <= rank < ranks:
            raise SpecError.single(f"rank {rank} of {ranks}", hint="0 to ranks - 1 are possible")
        self.dataset = Dataset.open(Path(root))
        self.split, self.variants = split, tuple(variants)
        self.shuffle, self.seed, self.epoch = shuffle, seed, 0
        self.rank, self.ranks = rank, ranks
        self.transform = transform
        self.shards = self.dataset.shards(split)

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the next iteration.

        A DataLoader with ``persistent_workers`` copies the data set once and does not hear of it.
        """
        self.epoch = epoch

    def __iter__(self) -> Iterator[Any]:
        worker = get_worker_info()
        inner, inners = (0, 1) if worker is None else (worker.id, worker.num_workers)
        mine = self._order("shards", len(self.shards))[
            self.rank * inners + inner :: self.ranks * inners
        ]
        for number in mine:
            for item in self._shard(int(number)):
                yield item if self.transform is None else self.transform(item)

    def _shard(self, number: int) -> Iterator[Item]:
        with ShardReader(self.shards[number].tar) as reader:
            keys = reader.keys()
            for place in self._order(f"samples.{number}", len(keys)):
                key = keys[place]
                members = {suffix: reader.read(key, suffix) for suffix in reader.suffixes(key)}
                yield from sample_items(Sample(self.split, key, members), self.variants)

    def _order(self, stage: str, count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        if not self.shuffle:
            return np.arange(count)
        return stream(self.seed, self.split, f"torch.{stage}", self.epoch).permutation(count)
