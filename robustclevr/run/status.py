"""``robustclevr status``: how far a dataset is, from its files alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from robustclevr.run.leases import LeaseState, all_leases
from robustclevr.run.whole import split_state, unsound_files
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
    unsound_files : tuple of str
        Files of the whole split that are missing or altered though all of its shards are done.
    """

    split: str
    shards: int
    shards_done: int
    samples: int
    samples_done: int
    parked: int
    missing: tuple[str, ...]
    broken: tuple[str, ...]
    unsound_files: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """True if nothing of it is missing."""
        return self.shards_done == self.shards and not self.unsound_files

    @property
    def samples_left(self) -> int:
        """Samples that nobody has made yet."""
        return max(0, self.samples - self.samples_done - self.parked)


@dataclass(frozen=True)
class WorkerStatus:
    """A process that works on a shard, or did before it was killed.

    Attributes
    ----------
    shard : str
        Such as ``test/shard-00003``.
    host : str
    pid : int
    samples : int
        That it made since it started.
    seconds : float
        In what time. [s]
    beat_age_s : float
        Since it gave a sign of life, if this host's clock agrees with the file's. [s]
    gone : bool
        True if it surely lives no more.
    """

    shard: str
    host: str
    pid: int
    samples: int
    seconds: float
    beat_age_s: float
    gone: bool


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
    leases : tuple of WorkerStatus
        Who works on which shard, those that are gone included.
    """

    name: str
    splits: tuple[SplitStatus, ...]
    workers: int
    samples_per_s: float | None
    seconds_left: float | None
    leases: tuple[WorkerStatus, ...] = ()

    @property
    def complete(self) -> bool:
        """True if every shard of every split is done, and the files of whole splits are there."""
        return all(split.complete for split in self.splits)


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
    leases = all_leases(dataset.layout)
    live = [lease for lease in leases.values() if not lease.expired]
    rate = _rate(live)
    left = sum(split.samples_left for split in splits)
    return Status(
        name=dataset.content["name"],
        splits=splits,
        workers=len(live),
        samples_per_s=rate,
        seconds_left=None if rate is None else left / rate,
        leases=tuple(_worker(shard, lease) for shard, lease in leases.items()),
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
        unsound_files=unsound_files(dataset, state),
    )


def _worker(shard: str, lease: LeaseState) -> WorkerStatus:
    owner = lease.owner
    return WorkerStatus(
        shard=shard,
        host="" if owner is None else owner.host,
        pid=0 if owner is None else owner.pid,
        samples=lease.samples,
        seconds=lease.seconds,
        beat_age_s=round(lease.age_s, 1),
        gone=lease.expired,
    )


def _rate(leases: Sequence[LeaseState]) -> float | None:
    rate = sum(lease.samples / lease.seconds for lease in leases if lease.seconds > 0)
    return rate or None
