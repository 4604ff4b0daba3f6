"""The local backend: worker processes of this machine, each with a Blender of its own.

Shard tasks go out one at a time over a pipe; events and outcomes come back. Workers end when told,
when a signal says so, and when this process is gone, however it went.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import wait

import robustclevr.errors
from robustclevr.errors import Problem, RobustClevrError, SpecError
from robustclevr.records import Retry
from robustclevr.run.interrupts import terminate_like_interrupt
from robustclevr.run.job import (
    Fatal,
    Job,
    OnEvent,
    Outcome,
    SampleDone,
    SampleFailed,
    SampleFailure,
    SampleRetried,
    SampleStarted,
    ShardOrder,
    WorkerGaveUp,
)
from robustclevr.run.local_process import LocalProcess
from robustclevr.run.memory import fair_limit_bytes
from robustclevr.run.seats import Seat
from robustclevr.run.shards import ShardTask

_LEASED_WAIT_S = 1.0
_MAX_LOST = 20
"""Losses in a row of samples, or of workers that never came to one, after which no other worker is
started. Chosen: a bad recipe may cost several samples in a row though nothing else is wrong, and
each takes some seconds."""
_STOP_TIMEOUT_S = 15.0  # chosen: a worker ends as soon as its file is written


def run_local(
    tasks: Sequence[ShardTask], job: Job, *, seats: Sequence[Seat], on_event: OnEvent
) -> tuple[SampleFailure, ...]:
    """Make shards with worker processes.

    Parameters
    ----------
    tasks : sequence of ShardTask
    job : Job
    seats : sequence of Seat
        One for each worker process, at least one.
    on_event : callable
        Called in this process.

    Returns
    -------
    tuple of SampleFailure
        Empty if every shard was made, here or by another run on the folder.

    Raises
    ------
    StoreError, SetupError
        What stops everything: a disk that refuses, no Blender.
    KeyboardInterrupt
        On SIGINT and SIGTERM, after all workers have ended.
    """
    pool = _Pool(tasks, job, on_event)
    with terminate_like_interrupt():
        try:
            pool.run(seats)
        finally:
            pool.stop()
    return tuple(pool.failures)


class _Pool:
    def __init__(self, tasks: Sequence[ShardTask], job: Job, on_event: OnEvent) -> None:
        self.failures: list[SampleFailure] = []
        self._job, self._on_event = job, on_event
        self._waiting = deque(ShardOrder(task) for task in tasks)
        self._leased: deque[tuple[float, ShardOrder]] = deque()
        self._workers: list[LocalProcess] = []
        self._lost = 0  # samples, or workers without one, lost in a row
        self._memory_limit_bytes = 0
        self._free: deque[Seat] = deque()

    def run(self, seats: Sequence[Seat]) -> None:
        count = min(len(seats), len(self._waiting))
        self._free.extend(seats[:count])
        setup = self._job.renderer
        self._memory_limit_bytes = setup.memory_limit_bytes or fair_limit_bytes(1 / max(1, count))
        for _ in range(count):
            self._start()
        while self._workers:
            self._release_leased()
            for worker in list(self._workers):
                if worker.order is None:
                    self._dispatch(worker)
            self._listen()

    def stop(self) -> None:
        """End all workers: ask first, then kill."""
        for worker in self._workers:
            worker.process.terminate()
        deadline = time.monotonic() + _STOP_TIMEOUT_S
        try:
            for worker in self._workers:
                worker.wait(deadline - time.monotonic())
        finally:
            for worker in self._workers:
                worker.end()
            self._workers.clear()

    def _start(self) -> None:
        limit_bytes = self._memory_limit_bytes
        seat = self._free.popleft()
        renderer = replace(seat.setup(self._job.renderer), memory_limit_bytes=limit_bytes)
        job = replace(self._job, renderer=renderer)
        self._workers.append(LocalProcess(job, limit_bytes, seat))

    def _release_leased(self) -> None:
        while self._leased and self._leased[0][0] <= time.monotonic():
            self._waiting.append(self._leased.popleft()[1])

    def _dispatch(self, worker: LocalProcess) -> None:
        if self._waiting:
            worker.give(self._waiting.popleft())
        elif not self._leased:
            self._retire(worker)

    def _retire(self, worker: LocalProcess) -> None:
        worker.dismiss()
        self._workers.remove(worker)

    def _listen(self) -> None:
        """Wait for what comes next: a message, a death, a time limit."""
        limits_s = [worker.overdue_in_s() for worker in self._workers]
        if self._leased:
            limits_s.append(self._leased[0][0] - time.monotonic())
        counted = [max(0.0, limit_s) for limit_s in limits_s if limit_s is not None]
        by_pipe = {worker.pipe: worker for worker in self._workers}
        ready = wait(list(by_pipe), min(counted, default=None)) if by_pipe else ()
        for pipe in ready:
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                message = worker.pipe.recv()
            except (EOFError, OSError):
                self._mourn(worker)
            else:
                self._hear(worker, message)
        if not ready:
            for worker in self._workers:
                worker.end_if_overdue()

    def _hear(self, worker: LocalProcess, message: object) -> None:
        if isinstance(message, Fatal):
            raise revived(message)
        if isinstance(message, Outcome):
            self._settle(worker, message)
            return
        if isinstance(message, SampleStarted):
            worker.begin(message.index)
        if isinstance(message, SampleFailed):
            worker.rest()
            self.failures.append(message.failure)
        if isinstance(message, SampleDone) and not message.found:
            worker.rest()
            self._lost = 0
        self._on_event(message)  # type: ignore[arg-type]

    def _settle(self, worker: LocalProcess, outcome: Outcome) -> None:
        order, worker.order = worker.order, None
        worker.rest()
        if outcome.leased and order is not None:
            self._leased.append((time.monotonic() + _LEASED_WAIT_S, order))
        if outcome.gave_up:
            self._retire(worker)

    def _mourn(self, worker: LocalProcess) -> None:
        """Let another worker go on where one died."""
        reason, tail = worker.obituary()
        worker.end()
        self._workers.remove(worker)
        self._free.append(worker.seat)
        if worker.order is not None and worker.sample is not None:
            self._waiting.appendleft(self._blame(worker.order, worker.sample, reason, tail))
        else:
            self._lost += 1
            if worker.order is not None:
                self._waiting.appendleft(worker.order)
        if not (self._waiting or self._leased):
            return
        if self._lost < _MAX_LOST:
            self._start()
        else:
            text = f"{self._lost} samples or workers were lost in a row; no other worker is started"
            self._on_event(WorkerGaveUp(f"{text}; the last: {reason}"))

    def _blame(self, order: ShardOrder, index: int, reason: str, tail: str) -> ShardOrder:
        """Return the order for the next worker: with another try at a sample, or without it."""
        split = order.task.split
        tries = 1 + sum(retry.sample == index for retry in order.lost)
        if tries <= self._job.retries:
            retry = Retry(index, tries, reason)
            self._on_event(SampleRetried(split, retry, tail))
            return replace(order, lost=(*order.lost, retry))
        self._lost += 1
        failure = SampleFailure(split, index, reason, tail, tries)
        self.failures.append(failure)
        self._on_event(SampleFailed(failure))
        return replace(order, skip=(*order.skip, index))


def revived(fatal: Fatal) -> RobustClevrError:
    """Return the error that a worker sent."""
    kind = getattr(robustclevr.errors, fatal.kind, RobustClevrError)
    error = RobustClevrError(fatal.message)
    if isinstance(kind, type) and issubclass(kind, SpecError):
        error = kind(Problem(line) for line in fatal.message.splitlines())
    elif isinstance(kind, type) and issubclass(kind, RobustClevrError):
        error = kind(fatal.message)
    for note in fatal.notes:
        error.add_note(note)
    return error
