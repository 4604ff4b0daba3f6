"""The local back end: worker processes of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from robustclevr.run.backends import refuse_settings
from robustclevr.run.cores import share_cores
from robustclevr.run.job import Job, OnEvent, SampleFailure
from robustclevr.run.local import run_local
from robustclevr.run.shards import ShardTask


class LocalBackend:
    """See :class:`robustclevr.run.backends.Backend`; holds nothing between runs."""

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
        device: str,  # noqa: ARG002 - part of the protocol
    ) -> tuple[int, int]:
        """Return how many worker processes run, and how many threads each has."""
        return share_cores(workers, shards, clips=clips)

    def run(
        self, tasks: Sequence[ShardTask], job: Job, *, workers: int, on_event: OnEvent
    ) -> tuple[SampleFailure, ...]:
        """Make shards with worker processes; see :func:`robustclevr.run.local.run_local`."""
        return run_local(tasks, job, workers=workers, on_event=on_event)


def backend(settings: Sequence[str]) -> LocalBackend:
    """Return the local back end; SpecError if it is given settings."""
    refuse_settings("local", settings)
    return LocalBackend()
