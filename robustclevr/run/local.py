"""The local backend: worker processes of this machine, each with a Blender of its own.

Shard tasks go out one at a time over a pipe; events and outcomes come back. Workers end when told,
when a signal says so, and when this process is gone, however it went.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait

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
from robustclevr.run.makers import holds_clips
from robustclevr.run.renderer import MAX_LOST
from robustclevr.run.shards import ShardTask

# A fresh interpreter, and not multiprocessing's: that one runs the caller's main module again,
# which a notebook or a script without a guard does not survive.
_WORKER_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from robustclevr.run.local_worker import main; main(*map(int, sys.argv[2:]))"
)
# Each core has a worker that makes clips: numpy's own threads would only stand in its way.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_LEASED_WAIT_S = 1.0
_STOP_TIMEOUT_S = 15.0  # chosen: a worker ends as soon as its file is written


@dataclass
class _Worker:
    """One worker process as we see it."""

    process: subprocess.Popen[bytes]
    pipe: Connection
    order: ShardOrder | None = None
    sample: int | None = None


def run_local(
    tasks: Sequence[ShardTask], job: Job, *, workers: int, on_event: OnEvent
) -> tuple[SampleFailure, ...]:
    """Make shards with worker processes.

    Parameters
    ----------
    tasks : sequence of ShardTask
    job : Job
    workers : int
        Processes, >= 1.
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
            pool.run(workers)
        finally:
            pool.stop()
    return tuple(pool.failures)


class _Pool:
    def __init__(self, tasks: Sequence[ShardTask], job: Job, on_event: OnEvent) -> None:
        self.failures: list[SampleFailure] = []
        self._job, self._on_event = job, on_event
        self._waiting = deque(ShardOrder(task) for task in tasks)
        self._leased: deque[tuple[float, ShardOrder]] = deque()
        self._workers: list[_Worker] = []
        self._lost = 0  # samples, or workers without one, lost in a row

    def run(self, count: int) -> None:
        for _ in range(min(count, len(self._waiting))):
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
                _wait(worker.process, deadline - time.monotonic())
        finally:
            for worker in self._workers:
                _end(worker)
            self._workers.clear()

    def _start(self) -> None:
        ours, theirs = Pipe()
        command = [sys.executable, "-c", _WORKER_CODE, json.dumps(sys.path)]
        with theirs:
            process = subprocess.Popen(
                [*command, str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={**_ONE_THREAD, **os.environ} if holds_clips(self._job.splits) else None,
            )
        worker = _Worker(process, ours)
        self._workers.append(worker)
        with contextlib.suppress(OSError):  # a dead worker is noticed when we listen
            ours.send(self._job)

    def _release_leased(self) -> None:
        while self._leased and self._leased[0][0] <= time.monotonic():
            self._waiting.append(self._leased.popleft()[1])

    def _dispatch(self, worker: _Worker) -> None:
        if self._waiting:
            worker.order, worker.sample = self._waiting.popleft(), None
            with contextlib.suppress(OSError):  # a dead worker is noticed when we listen
                worker.pipe.send(worker.order)
        elif not self._leased:
            self._retire(worker)

    def _retire(self, worker: _Worker) -> None:
        with contextlib.suppress(OSError):
            worker.pipe.send(None)
        _wait(worker.process, _STOP_TIMEOUT_S)
        _end(worker)
        self._workers.remove(worker)

    def _listen(self) -> None:
        timeout_s = None
        if self._leased:
            timeout_s = max(0.0, self._leased[0][0] - time.monotonic())
        by_pipe = {worker.pipe: worker for worker in self._workers}
        for pipe in wait(list(by_pipe), timeout_s) if by_pipe else ():
            worker = by_pipe[pipe]  # type: ignore[index]
            try:
                message = worker.pipe.recv()
            except (EOFError, OSError):
                self._mourn(worker)
            else:
                self._hear(worker, message)

    def _hear(self, worker: _Worker, message: object) -> None:
        if isinstance(message, Fatal):
            raise revived(message)
        if isinstance(message, Outcome):
            self._settle(worker, message)
            return
        if isinstance(message, SampleStarted):
            worker.sample = message.index
        if isinstance(message, SampleFailed):
            worker.sample = None
            self.failures.append(message.failure)
        if isinstance(message, SampleDone) and not message.found:
            worker.sample, self._lost = None, 0
        self._on_event(message)  # type: ignore[arg-type]

    def _settle(self, worker: _Worker, outcome: Outcome) -> None:
        order, worker.order, worker.sample = worker.order, None, None
        if outcome.leased and order is not None:
            self._leased.append((time.monotonic() + _LEASED_WAIT_S, order))
        if outcome.gave_up:
            self._retire(worker)

    def _mourn(self, worker: _Worker) -> None:
        """Let another worker go on where one died."""
        _wait(worker.process, _STOP_TIMEOUT_S)
        _end(worker)
        self._workers.remove(worker)
        reason = (
            f"the worker process that made it ended with {_exit_text(worker.process.returncode)}"
        )
        if worker.order is not None and worker.sample is not None:
            self._waiting.appendleft(self._blame(worker.order, worker.sample, reason))
        else:
            self._lost += 1
            if worker.order is not None:
                self._waiting.appendleft(worker.order)
        if not (self._waiting or self._leased):
            return
        if self._lost < MAX_LOST:
            self._start()
        else:
            text = f"{self._lost} samples or workers were lost in a row; no other worker is started"
            self._on_event(WorkerGaveUp(text))

    def _blame(self, order: ShardOrder, index: int, reason: str) -> ShardOrder:
        """Return the order for the next worker: with another try at a sample, or without it."""
        split = order.task.split
        tries = 1 + sum(retry.sample == index for retry in order.lost)
        if tries <= self._job.retries:
            retry = Retry(index, tries, reason)
            self._on_event(SampleRetried(split, retry))
            return replace(order, lost=(*order.lost, retry))
        self._lost += 1
        failure = SampleFailure(split, index, reason, tries=tries)
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


def _wait(process: subprocess.Popen[bytes], limit_s: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, limit_s))


def _end(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.wait()
    worker.pipe.close()


def _exit_text(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"
