"""A shard's way from parked samples to its place, and what is found there already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from robustclevr import DATASET_VERSION
from robustclevr.errors import StoreError
from robustclevr.records import Receipt
from robustclevr.run.job import Job
from robustclevr.run.shards import ShardTask
from robustclevr.store.layout import sample_key
from robustclevr.store.parking import ParkedSample, Provenance, park, unpark
from robustclevr.store.receipts import Check, verified_receipt, write_receipt
from robustclevr.store.shard import Members, iter_samples, write_shard

SECONDS = ("total", "startup", "cycles", "labels", "compositor", "encode", "other")
"""Keys of :attr:`robustclevr.records.Receipt.seconds`."""


def finished(task: ShardTask, job: Job, check: Check) -> Receipt | None:
    """Return the receipt of a shard that is done as the task wants it, else None.

    A shard that is there but not what its receipt says counts as not there: it is made again.
    """
    receipt = published(task, job, check)
    if receipt is None or (receipt.start, receipt.count) != (task.start, task.count):
        return None
    return receipt


def published(
    task: ShardTask, job: Job, check: Check, on_broken: Callable[[str], None] | None = None
) -> Receipt | None:
    """Return the receipt of a sound shard in the task's place, however many samples it has.

    Parameters
    ----------
    task, job, check : ShardTask, Job, Check
    on_broken : callable, optional
        Hears why a shard that is there does not count.
    """
    try:
        return verified_receipt(
            task.split,
            task.shard,
            job.layout,
            fingerprint=job.fingerprints[task.split],
            check=check,
        )
    except StoreError as error:
        if on_broken is not None:
            on_broken(str(error))
        return None


def reuse_published(task: ShardTask, job: Job) -> None:
    """Park the samples of a partial last shard that the split has outgrown.

    A sample does not depend on how many there are, so those of the shorter split are the first
    of the longer one.
    """
    receipt = published(task, job, Check.SHA256)
    if receipt is None or receipt.start != task.start:
        return
    share = {name: value / receipt.count for name, value in receipt.seconds.items()}
    renders = receipt.renders // receipt.count
    by_key = {sample_key(index): index for index in task.indices}
    for key, members in iter_samples(job.layout.tar(task.split, task.shard)):
        if key in by_key:
            index = by_key[key]
            retries = tuple(retry for retry in receipt.retries if retry.sample == index)
            provenance = Provenance(receipt.versions, receipt.device, share, renders, retries)
            sample = ParkedSample(index, receipt.fingerprint, provenance, members)
            park(sample, task.split, task.shard, job.layout)


def publish(task: ShardTask, job: Job) -> Receipt:
    """Put a shard of parked samples in place, then its receipt.

    A receipt that vouches for these very bytes already stays: only the tar was broken.

    Raises
    ------
    StoreError
        If the disk refuses, or a parked sample was altered since it was looked at.
    """
    layout = job.layout
    made: list[Provenance] = []

    def members() -> Iterator[tuple[str, Members]]:
        for index in task.indices:
            sample = unpark_of(task, index, job)
            if sample is None:
                raise StoreError(
                    f"{layout.parked(task.split, task.shard, index)}: is gone or was altered; "
                    "run the same command again"
                )
            made.append(sample.provenance)
            yield sample_key(index), sample.members

    sha256, size_bytes = write_shard(layout.tar(task.split, task.shard), members(), layout)
    before = finished(task, job, Check.SIZE)
    if before is not None and before.sha256 == sha256:
        return before
    receipt = Receipt(
        split=task.split,
        shard=task.shard,
        start=task.start,
        count=task.count,
        sha256=sha256,
        size_bytes=size_bytes,
        fingerprint=job.fingerprints[task.split],
        dataset_version=DATASET_VERSION,
        versions=_joined([provenance.versions for provenance in made]),
        device=_joined([{"device": provenance.device} for provenance in made])["device"],
        denoise=job.split(task.split).render.denoise,
        seconds={
            name: round(sum(provenance.seconds[name] for provenance in made), 6) for name in SECONDS
        },
        renders=sum(provenance.renders for provenance in made),
        retries=tuple(retry for provenance in made for retry in provenance.retries),
    )
    write_receipt(receipt, layout)
    return receipt


def unpark_of(task: ShardTask, index: int, job: Job) -> ParkedSample | None:
    """Return a parked sample of a shard, None where there is none that counts."""
    fingerprint = job.fingerprints[task.split]
    return unpark(task.split, task.shard, index, job.layout, fingerprint=fingerprint)


def _joined(mappings: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return one mapping; where samples disagree, as after a move to another machine, all."""
    names = sorted({name for mapping in mappings for name in mapping})
    return {
        name: ", ".join(sorted({mapping[name] for mapping in mappings if name in mapping}))
        for name in names
    }
