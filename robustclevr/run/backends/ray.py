"""The Ray back end: one task a shard, on the nodes of a Ray cluster.

The cluster is that of ``RAY_ADDRESS``; without one, a local one is started. Nodes may come and go:
a shard whose node is lost is sent to another one, where it goes on from its parked samples.
"""

from __future__ import annotations

import os
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from robustclevr.errors import SetupError
from robustclevr.run.backends import refuse_settings
from robustclevr.run.cores import require_positive
from robustclevr.run.interrupts import terminate_like_interrupt
from robustclevr.run.job import Job, Notice, OnEvent, Outcome, SampleFailure, ShardOrder
from robustclevr.run.local import revived
from robustclevr.run.node_task import LEASED_WAIT_S, NodeTask, Report
from robustclevr.run.renderer import MAX_LOST
from robustclevr.run.renderer_command import RendererCommand
from robustclevr.run.shards import ShardTask
from robustclevr.run.watched import Losses, Watched

INSTALL_LINE = "pip install 'robustclevr[ray]'"

RENDER_THREADS = 2
"""Cores of a task that renders without a GPU: more leave its serial parts idle for longer."""

_POLL_S = 0.5
_ANSWER_TIMEOUT_S = 20.0  # chosen: a network that is slow, not one that is gone
_CANCEL_TIMEOUT_S = 20.0  # chosen: a task ends as soon as its file is written
_PROBE_TIMEOUT_S = 300.0  # chosen: a first worker on a loaded node takes tens of seconds
_QUEUED_PER_WORKER = 2  # so that a node that joins finds work, and Ctrl-C little to take back
_VISIBLE_TIMEOUT_S = 90.0  # nfs(5): attributes of a folder are cached for up to 60 s
_OBJECT_STORE_BYTES = 100 << 20  # chosen: only tasks and reports pass through it

# Ray reads these when it is imported.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


@dataclass(frozen=True)
class Need:
    """What one task takes of a node.

    Attributes
    ----------
    cpus, gpus : int
    """

    cpus: int
    gpus: int

    def slots(self, node: dict[str, Any]) -> int:
        """Return how many tasks a node runs at once."""
        have = node["Resources"]
        slots = int(have.get("CPU", 0)) // self.cpus
        return min(slots, int(have.get("GPU", 0))) if self.gpus else slots


def need_of(nodes: Sequence[dict[str, Any]], *, clips: bool, device: str) -> Need:
    """Return what a task takes: one core, or some to render, or a GPU with its share of the cores.

    Parameters
    ----------
    nodes : sequence of dict
        As ``ray.nodes()`` gives them.
    clips : bool
        Whether samples are clips or pictures, which one thread makes.
    device : str
        ``auto`` takes GPUs where any node has one.
    """
    if clips:
        return Need(cpus=1, gpus=0)
    with_gpu = [node["Resources"] for node in nodes if node["Resources"].get("GPU", 0) >= 1]
    if device == "cpu" or (device == "auto" and not with_gpu):
        most = max((int(node["Resources"].get("CPU", 0)) for node in nodes), default=0)
        return Need(cpus=max(1, min(RENDER_THREADS, most)), gpus=0)
    cores = [int(have.get("CPU", 0)) // int(have["GPU"]) for have in with_gpu]
    return Need(cpus=max(1, min(cores, default=RENDER_THREADS)), gpus=1)


class RayBackend:
    """See :class:`robustclevr.run.backends.Backend`.

    Parameters
    ----------
    ray : module
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._connected = self._started = False
        self._need = Need(cpus=1, gpus=0)
        self._asked: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._connected:
            self._ray.shutdown()

    def share(
        self,
        workers: int | None,
        shards: int,
        *,
        clips: bool,
        device: str,
        command: RendererCommand,  # noqa: ARG002 - part of the protocol
    ) -> tuple[int, int]:
        """Connect, and return how many tasks run at once and the threads of each."""
        require_positive(workers)
        self._connect()
        nodes = self._nodes()
        self._need = need_of(nodes, clips=clips, device=device)
        slots = sum(self._need.slots(node) for node in nodes)
        self._asked = workers
        return max(1, min(workers or slots, shards)), self._need.cpus

    def run(
        self,
        tasks: Sequence[ShardTask],
        job: Job,
        *,
        workers: int,  # noqa: ARG002 - nodes may join: what was asked for counts
        on_event: OnEvent,
    ) -> tuple[SampleFailure, ...]:
        """Make shards with tasks of the cluster."""
        self._tell(on_event)
        run = _Run(self._ray, self._need, job, on_event)
        with terminate_like_interrupt():
            try:
                run.probe([node["NodeID"] for node in self._nodes() if self._need.slots(node)])
                run.make(tasks, self._at_once)
            except BaseException:
                run.cancel()
                raise
        return tuple(run.failures)

    def _connect(self) -> None:
        if self._ray.is_initialized():
            return
        address = os.environ.get("RAY_ADDRESS")
        address = None if address == "local" else address
        options: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
        if not address:
            options |= {
                "address": "local",
                "num_cpus": len(os.sched_getaffinity(0)),
                "include_dashboard": False,
                "object_store_memory": _OBJECT_STORE_BYTES,
            }
        try:
            _require_answer(address or "")
            self._ray.init(**options)
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            place = f"no Ray cluster answers at RAY_ADDRESS={address}" if address else "no Ray here"
            raise SetupError(
                f"{place}: {error}; start one with 'ray start --head', or unset RAY_ADDRESS to "
                "use this machine alone"
            ) from error
        self._connected, self._started = True, not address

    def _nodes(self) -> list[dict[str, Any]]:
        return [node for node in self._ray.nodes() if node["Alive"]]

    def _at_once(self) -> int:
        """Return how many tasks are given to the cluster at a time."""
        slots = sum(self._need.slots(node) for node in self._nodes())
        return self._asked or max(1, slots) * _QUEUED_PER_WORKER

    def _tell(self, on_event: OnEvent) -> None:
        nodes, need = self._nodes(), self._need
        where = (
            "RAY_ADDRESS is not set: started a local Ray cluster"
            if self._started
            else f"Ray cluster of {len(nodes)} nodes"
        )
        gpu = " and a GPU" if need.gpus else ""
        on_event(Notice(f"{where}; a task takes {need.cpus} cores{gpu}"))
        if not any(need.slots(node) for node in nodes):
            on_event(Notice("no node has that much: tasks wait until one joins"))


class _Run:
    """The tasks of one run, on their way."""

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


def _require_answer(address: str) -> None:
    """Raise OSError if nothing listens at ``host:port``; Ray itself would try for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        with socket.create_connection((host.strip("[]"), int(port)), _ANSWER_TIMEOUT_S):
            pass


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


def backend(settings: Sequence[str]) -> RayBackend:
    """Return the Ray back end.

    Raises
    ------
    SetupError
        If Ray is not installed.
    SpecError
        If it is given settings.
    """
    refuse_settings("ray", settings)
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise SetupError(
            f"--backend ray needs Ray; install it with:\n    {INSTALL_LINE}"
        ) from error
    return RayBackend(ray)
