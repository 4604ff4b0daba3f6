"""What is there of a run's shards when it begins.

Shards enter; how many samples of each are done leaves. Each tar is compared with the checksum in
its receipt: a shard is done only if these agree, and one that is not is made again now instead of
being found broken by its reader.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from robustclevr.run.job import Job, Notice, OnEvent, ShardBroken
from robustclevr.run.leases import remove_lease
from robustclevr.run.publish import published
from robustclevr.run.shards import ShardTask
from robustclevr.store.parking import clear_parked
from robustclevr.store.receipts import Check

ANNOUNCED_BYTES = 4e9
"""Chosen: more than this takes longer to read than a person waits without a word."""


def shards_there(
    tasks: Sequence[ShardTask], job: Job, on_event: OnEvent
) -> dict[ShardTask, int | None]:
    """Return the number of samples of each shard that is done; None where it is not.

    Parameters
    ----------
    tasks : sequence of ShardTask
    job : Job
    on_event : callable
        Hears of shards that are broken, and of a comparison that takes long.
    """
    total = sum(_size(task, job) for task in tasks)
    if total > ANNOUNCED_BYTES:
        on_event(Notice(f"comparing {total / 1e9:.0f} GB of finished shards with their checksums"))
    there: dict[ShardTask, int | None] = {}
    # Threads, as hashing leaves the interpreter to others.
    pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    try:
        for task, (count, reason) in zip(
            tasks, pool.map(lambda task: _look(task, job), tasks), strict=True
        ):
            there[task] = count
            if reason:
                on_event(ShardBroken(task.split, task.shard, reason))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # so that Ctrl-C need not wait for them
    return there


def _look(task: ShardTask, job: Job) -> tuple[int | None, str]:
    """Return the number of samples of a finished shard, or None and why it does not count."""
    reasons: list[str] = []
    receipt = published(task, job, Check.SHA256, reasons.append)
    if receipt is None or (receipt.start, receipt.count) != (task.start, task.count):
        return None, "".join(reasons)
    # A run that was stopped between receipt and clearing leaves these.
    clear_parked(task.split, task.shard, job.layout)
    remove_lease(task.split, task.shard, job.layout)
    return receipt.count, ""


def _size(task: ShardTask, job: Job) -> int:
    tar = job.layout.tar(task.split, task.shard)
    return tar.stat().st_size if tar.is_file() else 0
