"""The tasks of one run on a Ray cluster: sent, listened to, sent again where they are lost."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from robustclevr.errors import SetupError
from robustclevr.run.job import Job, Notice, OnEvent, Outcome, SampleFailure, ShardOrder
from robustclevr.run.local import revived
from robustclevr.run.node_task import LEASED_WAIT_S, NodeTask, Report
from robustclevr.run.ray_need import Need
from robustclevr.run.renderer import MAX_LOST
from robustclevr.run.shards import ShardTask
from robustclevr.run.watched import Losses, Watched

_POLL_S = 0.5
_CANCEL_TIMEOUT_S = 20.0  # chosen: a task ends as soon as its file is written
_PROBE_TIMEOUT_S = 300.0  # chosen: a first worker on a loaded node takes tens of seconds
_VISIBLE_TIMEOUT_S = 90.0  # nfs(5): attributes of a folder are cached for up to 60 s


class RayRun:
    """The tasks of one run, on their way.

    Parameters
    ----------
    ray : module
        Connected.
    need : Need
        Of each task.
    job : Job
    on_event : callable
    """

    def __init__(self, ray: Any, need: Need, job: Job, on_event: OnEvent) -> None:
        self._ray, self._need, self._job, self._on_event = ray, need, job, on_event
        self._losses = Losses(on_event)
        self._waiting: deque[ShardOrder] = deque()
        self._leased: deque[tuple[float, ShardOrder]] = deque()
        self._running: dict[Any, Watched] = {}
        self._failures: list[SampleFailure] = []
        self._gave_up = 0  # tasks in a row

    @property
    def failures(self) -> list[SampleFailure]:
        """Samples that could not be made."""
        return [*self._failures, *self._losses.failures]

    def probe(self, nodes: Sequence[str]) -> None:
        """Make sure that all nodes share the folder and have the same package and recipes.

        Raises
        ------
        SetupError
            If one does not; names it.
        """
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        probes = {}
        for node in nodes:
            task = NodeTask.of(self._job, (), f"probe-{node[:8]}", wait_for_leases=False)
            place = NodeAffinitySchedulingStrategy(node, soft=False)
            probes[self._remote(task, num_cpus=0, scheduling_strategy=place)] = task
        late = list(probes)
        if late:
            _, late = self._ray.wait(late, num_returns=len(late), timeout=_PROBE_TIMEOUT_S)
        for ref, task in probes.items():
            # A node that does not answer, or was lost meanwhile, is found out by its tasks.
            report = None if ref in late else self._result(ref)
            if isinstance(report, Report):
                self._require_shared(report, task)
            task.events.unlink(missing_ok=True)
        if late:
            self._on_event(Notice(f"{len(late)} nodes did not answer in {_PROBE_TIMEOUT_S:.0f} s"))

    def make(self, tasks: Sequence[ShardTask], at_once: Callable[[], int]) -> None:
        """Make shards, so many of them sent to the cluster at a time."""
        self._waiting.extend(ShardOrder(task) for task in tasks)
        while self._waiting or self._leased or self._running:
            self._release_leased()
            room = at_once() - len(self._running) if self._gave_up < MAX_LOST else 0
            for _ in range(min(room, len(self._waiting))):
                self._submit(self._waiting.popleft())
            if not self._running and self._gave_up >= MAX_LOST:
                return
            for ref in self._finished():
                self._settle(ref)
            for watched in self._running.values():
                watched.listen()

    def cancel(self) -> None:
        """End all tasks: ask first, then kill."""
        refs = list(self._running)
        for force in (False, True):
            if not refs:
                break
            for ref in refs:
                self._ray.cancel(ref, force=force)
            _, refs = self._ray.wait(refs, num_returns=len(refs), timeout=_CANCEL_TIMEOUT_S)
        for watched in self._running.values():
            watched.close()

    def _remote(self, task: NodeTask, **options: Any) -> Any:
        # Retries are ours: each is told, and goes into the receipt.
        return self._ray.remote(max_retries=0, **options)(make_on_node).remote(task)

    def _submit(self, order: ShardOrder) -> None:
        name = str(order.task).replace("/", "-")
        task = NodeTask.of(self._job, (order,), name, wait_for_leases=False)
        ref = self._remote(task, num_cpus=self._need.cpus, num_gpus=self._need.gpus)
        self._running[ref] = Watched(task, self._on_event)

    def _finished(self) -> Sequence[Any]:
        if not self._running:
            time.sleep(_POLL_S)
            return ()
        refs = list(self._running)
        done: Sequence[Any] = self._ray.wait(refs, num_returns=len(refs), timeout=_POLL_S)[0]
        return done

    def _settle(self, ref: Any) -> None:
        result = self._result(ref)
        watched = self._running.pop(ref)
        watched.close()
        if isinstance(result, str):
            self._waiting.extendleft(self._losses.after(watched, result))
        elif result.fatal is not None:
            raise revived(result.fatal)
        else:
            for outcome in result.outcomes:
                self._hear(outcome, watched.task.orders[0])

    def _hear(self, outcome: Outcome, order: ShardOrder) -> None:
        self._failures.extend(outcome.failures)
        self._gave_up = self._gave_up + 1 if outcome.gave_up else 0
        if outcome.leased:
            self._leased.append((time.monotonic() + LEASED_WAIT_S, order))

    def _release_leased(self) -> None:
        while self._leased and self._leased[0][0] <= time.monotonic():
            self._waiting.append(self._leased.popleft()[1])

    def _result(self, ref: Any) -> Report | str:
        """Return a finished task's report, or why it was lost."""
        from ray import exceptions

        try:
            report: Report = self._ray.get(ref)
        except exceptions.RayTaskError as error:
            lines = str(error.cause or error).strip().splitlines()
            raise SetupError(
                f"a node cannot run a task: {lines[-1]}; install the same Python, robustclevr and "
                "packages on all nodes"
            ) from error
        except exceptions.RayError as error:
            return _loss(error)
        return report

    def _require_shared(self, report: Report, task: NodeTask) -> None:
        if report.fatal is not None:
            raise revived(report.fatal)
        deadline = time.monotonic() + _VISIBLE_TIMEOUT_S
        while not task.events.exists():
            if time.monotonic() > deadline:
                raise SetupError(
                    f"what a node wrote to {task.events.parent} is not seen here; --output must "
                    "name a folder on a file system that all nodes share"
                )
            time.sleep(_POLL_S)


def make_on_node(task: NodeTask) -> Report:
    """Run a task; what Ray calls in a worker process of a node."""
    return task()


def _loss(error: Exception) -> str:
    """Return in one line how a task was lost."""
    from ray import exceptions

    if isinstance(error, exceptions.NodeDiedError | exceptions.LocalRayletDiedError):
        return "its node was lost"
    if isinstance(error, exceptions.OutOfMemoryError):
        return "Ray ended its worker, since the node ran out of memory"
    if isinstance(error, exceptions.WorkerCrashedError):
        return "its worker process on the node died"
    return f"{type(error).__name__}: {str(error).splitlines()[0]}"
