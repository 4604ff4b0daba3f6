"""The Ray back end: one task a shard, on the nodes of a Ray cluster.

The cluster is that of ``RAY_ADDRESS``; without one, a local one is started. Nodes may come and go:
a shard whose node is lost is sent to another one, where it goes on from its parked samples.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from robustclevr.errors import SetupError
from robustclevr.run.backends import refuse_settings
from robustclevr.run.cores import require_positive
from robustclevr.run.interrupts import terminate_like_interrupt
from robustclevr.run.job import Job, Notice, OnEvent, SampleFailure
from robustclevr.run.ray_need import Need, need_of
from robustclevr.run.ray_tasks import RayRun
from robustclevr.run.renderer_command import RendererCommand
from robustclevr.run.shards import ShardTask

INSTALL_LINE = "pip install 'robustclevr[ray]'"

_ANSWER_TIMEOUT_S = 20.0  # chosen: a network that is slow, not one that is gone
_QUEUED_PER_WORKER = 2  # so that a node that joins finds work, and Ctrl-C little to take back
_OBJECT_STORE_BYTES = 100 << 20  # chosen: only tasks and reports pass through it

# Ray reads these when it is imported.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


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
        run = RayRun(self._ray, self._need, job, on_event)
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
        from ray.exceptions import RayError

        try:
            _require_answer(address or "")
            self._ray.init(**options)
        except (ImportError, OSError, RuntimeError, ValueError, RayError) as error:
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


def _require_answer(address: str) -> None:
    """Raise OSError if nothing listens at ``host:port``; Ray itself would try for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        with socket.create_connection((host.strip("[]"), int(port)), _ANSWER_TIMEOUT_S):
            pass


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
