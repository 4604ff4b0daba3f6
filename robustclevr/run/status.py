"""``robustclevr status``: how far a dataset is, from its files alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from robustclevr.run.leases import LeaseState, live_leases
from robustclevr.run.whole import split_state
from robustclevr.store.dataset import Dataset
from robustclevr.store.parking import parked_indices
from robustclevr.store.receipts import Check


@dataclass(frozen=True)
class SplitStatus:
    """One split.

    Attributes
    ----------
    split : str
    shards, shards_done : int
    samples, samples_done : int
        Done: in finished shards.
    parked : int
        Finished samples of unfinished shards.
    missing : tuple of str
        Shards that are not there.
    broken : tuple of str
        Shards that are there but are not what their receipts say, and why.
    """

    split: str
    shards: int
    shards_done: int
    samples: int
    samples_done: int
    parked: int
    missing: tuple[str, ...]
    broken: tuple[str, ...]

    @property
    def samples_left(self) -> int:
        """Samples that nobody has made yet."""
        return max(0, self.samples - self.samples_done - self.parked)


@dataclass(frozen=True)
class Status:
    """A dataset.

    Attributes
    ----------
    name : str
    splits : tuple of SplitStatus
    workers : int
        Processes that work on it now.
    samples_per_s : float or None
        Of all of them together; None where nobody works, or has finished a sample yet.
    seconds_left : float or None
        For the samples that are missing, at that rate. [s]
    """

    name: str
    splits: tuple[SplitStatus, ...]
    workers: int
    samples_per_s: float | None
    seconds_left: float | None

    @property
    def complete(self) -> bool:
        """True if every shard of every split is done."""
        return all(split.shards_done == split.shards for split in self.splits)


def dataset_status(root: Path, check: Check = Check.SIZE) -> Status:
    """Return how far the dataset in a folder is.

    Parameters
    ----------
    root : Path
    check : Check
        How thoroughly shards are compared with their receipts.

    Raises
    ------
    StoreError
        If there is no dataset.
    """
    dataset = Dataset.open(root)
    splits = tuple(_split_status(dataset, split, check) for split in dataset.splits)
    leases = live_leases(dataset.layout)
    rate = _rate(leases)
    left = sum(split.samples_left for split in splits)
    return Status(
        name=dataset.content["name"],
        splits=splits,
        workers=len(leases),
        samples_per_s=rate,
        seconds_left=None if rate is None else left / rate,
    )


def _split_status(dataset: Dataset, split: str, check: Check) -> SplitStatus:
    state = split_state(dataset, split, check)
    places = dataset.shards(split)
    unfinished = [place for place in places if place.tar.name not in state.tars]
    parked = (
        index
        for place in unfinished
        for index in parked_indices(split, place.shard, dataset.layout)
    )
    return SplitStatus(
        split=split,
        shards=state.shards,
        shards_done=len(state.tars),
        samples=dataset.split(split).samples,
        samples_done=sum(place.count for place in places if place.tar.name in state.tars),
        parked=sum(1 for _ in parked),
        missing=state.missing,
        broken=state.broken,
    )


def _rate(leases: Sequence[LeaseState]) -> float | None:
    rate = sum(lease.samples / lease.seconds for lease in leases if lease.seconds > 0)
    return rate or None
