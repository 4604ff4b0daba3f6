"""One function over many inputs, in worker processes of this machine; results keep their order.

For work that ends by itself and leaves nothing half done, such as scoring. Datasets are made by
:mod:`robustclevr.run.local`, whose workers hold leases and survive the death of one of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from robustclevr.errors import RobustClevrError
from robustclevr.run.job import Fatal
from robustclevr.run.limits import usable_cores
from robustclevr.run.local import revived
from robustclevr.run.local_worker import die_with_parent

Task = TypeVar("Task")
Result = TypeVar("Result")

# A fresh interpreter, and not multiprocessing's: that one runs the caller's main module again.
_WORKER_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from robustclevr.run.parallel import serve; serve(*map(int, sys.argv[2:]))"
)
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_END_TIMEOUT_S = 5.0  # chosen: a worker that was told to end has nothing to finish


def ordered_results(
    function: Callable[[Task], Result], tasks: Sequence[Task], *, workers: int | None = None
) -> Iterator[Result]:
    """Yield ``function(task)`` of each task, in the order of the tasks.

    Parameters
    ----------
    function : callable
        At the top level of a module of this project.
    tasks : sequence
        What can be pickled.
    workers : int, optional
        Processes, each with one thread. None: one a core. With one, or one task, all is done in
        this process.

    Yields
    ------
    object
        As soon as it and all before it are done.

    Raises
    ------
    RobustClevrError
        What the function raised, of the first task that failed; or that a worker died.
    """
    count = min(workers or usable_cores(), len(tasks))
    if count <= 1:
        yield from map(function, tasks)
        return
    pool = _Pool(function, tasks)
    try:
        yield from pool.results(count)
    finally:
        pool.stop()


class _Pool:
    def __init__(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> None:
        self._function, self._tasks = function, tasks
        self._next = 0
        self._done: dict[int, Any] = {}
        self._workers: dict[Connection, subprocess.Popen[bytes]] = {}

    def results(self, count: int) -> Iterator[Any]:
        for _ in range(count):
            self._start()
        for index in range(len(self._tasks)):
            while index not in self._done:
                self._listen()
            result = self._done.pop(index)
            if isinstance(result, Fatal):
                raise revived(result)
            yield result

    def stop(self) -> None:
        for pipe, process in self._workers.items():
            process.terminate()
            pipe.close()
        for process in self._workers.values():
            try:
                process.wait(_END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._workers.clear()

    def _start(self) -> None:
        ours, theirs = Pipe()
        command = [sys.executable, "-c", _WORKER_CODE, json.dumps(sys.path)]
        with theirs:
            process = subprocess.Popen(
                [*command, str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, **_ONE_THREAD},
            )
        self._workers[ours] = process
        ours.send(self._function)
        self._dispatch(ours)

    def _dispatch(self, pipe: Connection) -> None:
        if self._next < len(self._tasks):
            pipe.send((self._next, self._tasks[self._next]))
            self._next += 1

    def _listen(self) -> None:
        for pipe in wait(list(self._workers)):
            worker: Connection = pipe  # type: ignore[assignment]
            try:
                index, result = worker.recv()
            except (EOFError, OSError) as error:
                process = self._workers.pop(worker)
                code = process.wait()
                message = f"a worker process ended with exit code {code} before it was done"
                raise RobustClevrError(message) from error
            self._done[index] = result
            self._dispatch(worker)


def serve(descriptor: int, parent: int) -> None:
    """Run tasks that come over a pipe until it closes: the life of one worker.

    Parameters
    ----------
    descriptor : int
        Our end of the pipe.
    parent : int
        Process id of the other end.
    """
    die_with_parent(parent)
    pipe = Connection(descriptor)
    try:
        function = pipe.recv()
        while True:
            index, task = pipe.recv()
            pipe.send((index, _attempt(function, task)))
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _attempt(function: Callable[[Any], Any], task: Any) -> Any:
    try:
        return function(task)
    except Exception as error:  # noqa: BLE001 - the parent reports it, with its traceback
        return Fatal.of(error)
