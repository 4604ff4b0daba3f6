"""How long a run will take, from its first finished samples."""

from __future__ import annotations

from collections.abc import Sequence

from robustclevr.run.job import Event, Job, LongRun, OnEvent, SampleDone
from robustclevr.run.shards import ShardTask
from robustclevr.spec import SplitSpec

ANNOUNCED_S = 3600.0
"""Runs longer than this are announced with time and disk space, unasked."""


def relative_cost(split: SplitSpec) -> int:
    """Return a number that grows with the time one sample takes: its paths, or a clip's pixels.

    All existing pictures count alike.
    """
    if split.video is not None:
        return split.video.height * split.video.width * split.video.frames
    if split.pictures is not None:
        return 1
    return split.render.height * split.render.width * split.render.samples


class Forecast:
    """Passes events on, and adds :class:`LongRun` once, after the first measured sample.

    Parameters
    ----------
    tasks : sequence of ShardTask
        What is missing.
    job : Job
    workers : int
    on_event : callable
    """

    def __init__(
        self, tasks: Sequence[ShardTask], job: Job, workers: int, on_event: OnEvent
    ) -> None:
        self._on_event, self._workers = on_event, workers
        self._costs = {split.name: relative_cost(split) for split in job.splits}
        self._missing = {split.name: 0 for split in job.splits}
        for task in tasks:
            self._missing[task.split] += task.count
        self._announced = False

    def __call__(self, event: Event) -> None:
        """Take one event."""
        self._on_event(event)
        if not isinstance(event, SampleDone):
            return
        self._missing[event.split] -= 1
        if not event.found and not self._announced:
            self._announced = True
            self._announce(event)

    def _announce(self, first: SampleDone) -> None:
        missing = sum(self._missing.values())
        cost = sum(self._costs[split] * count for split, count in self._missing.items())
        seconds = first.seconds * cost / self._costs[first.split] / self._workers
        if seconds > ANNOUNCED_S:
            self._on_event(LongRun(missing, seconds, first.size_bytes * missing))
