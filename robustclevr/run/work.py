"""What every backend runs in a worker: one shard from its missing samples to its receipt.

A task enters, an outcome leaves. Each finished sample is parked at once; when all are there, the
shard is put in place, its receipt after it, and the parked files go.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from robustclevr.errors import StoreError
from robustclevr.recipe import LoadedRecipe, load_recipe
from robustclevr.records import Retry
from robustclevr.run.job import (
    Job,
    OnEvent,
    Outcome,
    SampleDone,
    SampleFailed,
    SampleFailure,
    ShardDone,
    ShardOrder,
    WorkerGaveUp,
)
from robustclevr.run.leases import Lease, LeaseWatch
from robustclevr.run.makers import sample_maker
from robustclevr.run.publish import finished, publish, reuse_published, unpark_of
from robustclevr.run.renderer import GaveUpError
from robustclevr.run.shards import ShardTask, sample_name
from robustclevr.store.parking import ParkedSample, clear_parked, park, parked_indices
from robustclevr.store.receipts import Check


def execute_shard(
    task: ShardTask | ShardOrder, job: Job, on_event: OnEvent | None = None
) -> Outcome:
    """Make one shard in this process, with a Blender of its own.

    Parameters
    ----------
    task : ShardTask or ShardOrder
        An order where a worker before this one died on it.
    job : Job
    on_event : callable, optional
        Hears of every sample.

    Returns
    -------
    Outcome

    Raises
    ------
    StoreError
        If the disk refuses; says which file and which sample.
    SetupError
        If there is no Blender.
    """
    order = task if isinstance(task, ShardOrder) else ShardOrder(task)
    with ShardWorker(job, on_event or _ignore) as worker:
        return worker.execute(order)


class ShardWorker:
    """Makes one shard after the other with one Blender process; a context manager.

    Parameters
    ----------
    job : Job
    on_event : callable
    """

    def __init__(self, job: Job, on_event: OnEvent) -> None:
        self._job, self._layout, self._on_event = job, job.layout, on_event
        self._stack, self._watch = ExitStack(), LeaseWatch()
        self._maker = sample_maker(job, load_job_recipes(job), on_event)
        self._samples, self._started = 0, time.monotonic()

    def __enter__(self) -> Self:
        self._stack.enter_context(self._maker)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def execute(self, order: ShardOrder) -> Outcome:
        """Make a shard, or finish one; see :func:`execute_shard`."""
        task = order.task
        with _naming_samples(task):
            lease = Lease.acquire(task.split, task.shard, self._layout, self._watch)
        if lease is None:
            return Outcome(task, leased=True)
        with lease:
            receipt = finished(task, self._job, Check.SHA256)
            found = receipt is not None
            if receipt is None:
                failures, gave_up = self._make_missing(order, lease)
                if failures or gave_up or not self._all_parked(task):
                    return Outcome(task, failures=failures, gave_up=gave_up)
                # Another run may have taken the lease over, and been faster.
                receipt = finished(task, self._job, Check.SHA256)
                found = receipt is not None
                with _naming_samples(task):
                    receipt = receipt or publish(task, self._job)
            clear_parked(task.split, task.shard, self._layout)
        self._on_event(ShardDone(task.split, task.shard, task.count, found))
        return Outcome(task, receipt)

    def _make_missing(
        self, order: ShardOrder, lease: Lease
    ) -> tuple[tuple[SampleFailure, ...], bool]:
        """Park every sample of a shard that is not there yet; return what failed."""
        task, split = order.task, self._job.split(order.task.split)
        failures: list[SampleFailure] = []
        try:
            for made in self._maker.make(split, self._missing(order)):
                if isinstance(made, SampleFailure):
                    failures.append(made)
                    self._on_event(SampleFailed(made))
                else:
                    self._park(_with_retries(made, order.lost), task)
                    lease.note(self._samples, time.monotonic() - self._started)
        except GaveUpError as error:
            self._on_event(WorkerGaveUp(str(error)))
            return tuple(failures), True
        return tuple(failures), False

    def _missing(self, order: ShardOrder) -> list[int]:
        """Return the samples to make, and tell of those that are there."""
        task = order.task
        reuse_published(task, self._job)
        missing = []
        for index in task.indices:
            sample = unpark_of(task, index, self._job)
            if sample is not None:
                size = sum(map(len, sample.members.values()))
                device = sample.provenance.device
                self._on_event(SampleDone(task.split, index, 0.0, size, found=True, device=device))
            elif index not in order.skip and self._job.wants(task.split, index):
                missing.append(index)
        return missing

    def _all_parked(self, task: ShardTask) -> bool:
        parked = parked_indices(task.split, task.shard, self._layout)
        return set(task.indices) <= set(parked)

    def _park(self, sample: ParkedSample, task: ShardTask) -> None:
        try:
            size = park(sample, task.split, task.shard, self._layout)
        except StoreError as error:
            name = sample_name(task.split, sample.index)
            raise StoreError(f"sample {name} could not be kept: {error}") from error
        self._samples += 1
        seconds = sample.provenance.seconds["total"]
        device = sample.provenance.device
        self._on_event(SampleDone(task.split, sample.index, seconds, size, device=device))


def _with_retries(sample: ParkedSample, lost: Sequence[Retry]) -> ParkedSample:
    """Return a sample that also tells of the tries that a worker did not survive."""
    before = tuple(retry for retry in lost if retry.sample == sample.index)
    provenance = sample.provenance
    return replace(sample, provenance=replace(provenance, retries=before + provenance.retries))


@contextmanager
def _naming_samples(task: ShardTask) -> Iterator[None]:
    """Let a StoreError say which samples it concerns."""
    try:
        yield
    except StoreError as error:
        first, last = (sample_name(task.split, task.indices[end]) for end in (0, -1))
        raise StoreError(f"samples {first} to {last} could not be stored: {error}") from error


def load_job_recipes(job: Job) -> dict[str, LoadedRecipe]:
    """Load the recipe files that a job names."""
    files = (load_recipe(Path(path), shipped=shipped) for path, shipped in job.renderer.recipes)
    return {loaded.recipe.id: loaded for loaded in files}


def _ignore(event: object) -> None:
    del event
