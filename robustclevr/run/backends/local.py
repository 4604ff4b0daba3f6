"""The local back end: worker processes of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from robustclevr.run.backends import refuse_settings
from robustclevr.run.cores import require_positive, share_cores
from robustclevr.run.devices import Devices, find_devices, local_seats
from robustclevr.run.job import Job, Notice, OnEvent, SampleFailure
from robustclevr.run.local import run_local
from robustclevr.run.renderer_command import RendererCommand
from robustclevr.run.seats import Seat
from robustclevr.run.shards import ShardTask


class LocalBackend:
    """See :class:`robustclevr.run.backends.Backend`; from ``share`` on it knows the seats."""

    def __init__(self) -> None:
        self._seats: tuple[Seat, ...] = ()
        self._devices: Devices | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def share(
        self,
        workers: int | None,
        shards: int,
        *,
        clips: bool,
        device: str,
        command: RendererCommand,
    ) -> tuple[int, int]:
        """Return how many worker processes run, and how many threads each has."""
        require_positive(workers)
        if clips:
            return share_cores(workers, shards, clips=True)
        self._devices = find_devices(device, command)
        self._seats = local_seats(self._devices, workers=workers, shards=shards)
        return len(self._seats), self._seats[0].threads

    def run(
        self, tasks: Sequence[ShardTask], job: Job, *, workers: int, on_event: OnEvent
    ) -> tuple[SampleFailure, ...]:
        """Make shards with worker processes; see :func:`robustclevr.run.local.run_local`."""
        if self._devices is not None and job.renderer.device != "cpu":
            on_event(Notice(f"rendering on {self._devices}"))
        seats = self._seats or (Seat(job.renderer.threads),) * workers
        return run_local(tasks, job, seats=seats, on_event=on_event)


def backend(settings: Sequence[str]) -> LocalBackend:
    """Return the local back end; SpecError if it is given settings."""
    refuse_settings("local", settings)
    return LocalBackend()
