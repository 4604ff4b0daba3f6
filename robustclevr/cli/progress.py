"""Progress: one bar on a terminal, one line now and then elsewhere; all of it on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from robustclevr.run.job import Event, OnEvent

_LINE_EVERY_S = 30.0  # chosen: a log of a day stays under 3,000 lines


@contextmanager
def progress() -> Iterator[OnEvent]:
    """Yield the function that hears of a run's events and shows them."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("samples"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True)) as display:
        yield Bar(display)


@contextmanager
def counting(total: int, noun: str = "samples") -> Iterator[Callable[[int], None]]:
    """Yield the function that hears how many more of ``total`` things are done."""
    if sys.stderr.isatty():
        with click.progressbar(length=total, label=noun, file=sys.stderr) as bar:
            yield bar.update
        return
    lines = _Every(_LINE_EVERY_S)
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        if lines.due():
            click.echo(f"{done} of {total} {noun}", err=True)

    yield count


class _Every:
    """Tells when some time has passed since it last did. [s]."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._last = time.monotonic()

    def due(self) -> bool:
        now = time.monotonic()
        if now - self._last < self._seconds:
            return False
        self._last = now
        return True


class _Counter:
    """Counts samples, and knows the rate at which they were made in this run."""

    def __init__(self) -> None:
        self.total = self.done = self.made = 0
        self._started = time.monotonic()

    def hear(self, event: Event) -> bool:
        """Take an event; return whether a sample was finished."""
        from robustclevr.run.job import RunStarted, SampleDone

        if isinstance(event, RunStarted):
            self.total, self.done = event.samples, event.samples_done
            self._started = time.monotonic()
        if not isinstance(event, SampleDone) or event.found:
            return False
        self.done += 1
        self.made += 1
        return True

    @property
    def rate_per_s(self) -> float:
        """Samples a second."""
        return self.made / max(time.monotonic() - self._started, 1e-9)

    @property
    def rate(self) -> str:
        """The rate in words."""
        if not self.made:
            return ""
        per_s = self.rate_per_s
        return f"{per_s:.1f} samples/s" if per_s >= 1 else f"{1 / per_s:.1f} s/sample"

    @property
    def left_s(self) -> float:
        """Time left at this rate. [s]."""
        return (self.total - self.done) / self.rate_per_s


class Bar:
    """Shows events on a terminal."""

    def __init__(self, display: Progress) -> None:
        self._display, self._counter = display, _Counter()
        self._task: TaskID | None = None

    def __call__(self, event: Event) -> None:
        """Take one event."""
        finished = self._counter.hear(event)
        notice = _notice(event)
        if notice:
            self._display.console.print(notice, markup=False, highlight=False)
        if self._task is None:
            if self._counter.total > self._counter.done:
                self._task = self._display.add_task(
                    "", total=self._counter.total, completed=self._counter.done, rate=""
                )
        elif finished:
            self._display.update(self._task, completed=self._counter.done, rate=self._counter.rate)


class Lines:
    """Writes events as lines, at most one of progress every half minute."""

    def __init__(self) -> None:
        self._counter = _Counter()
        self._lines = _Every(_LINE_EVERY_S)

    def __call__(self, event: Event) -> None:
        """Take one event."""
        from robustclevr.cli.words import duration

        notice = _notice(event)
        if notice:
            click.echo(notice, err=True)
        if not self._counter.hear(event):
            return
        if self._lines.due():
            counter = self._counter
            click.echo(
                f"{counter.done} of {counter.total} samples, {counter.rate}, "
                f"{duration(counter.left_s)} left",
                err=True,
            )


def _notice(event: Event) -> str:
    """Return what is said of an event beside the count, or nothing."""
    from robustclevr.cli.words import duration, plural, size
    from robustclevr.run.job import LongRun, Notice, RunStarted

    if isinstance(event, RunStarted) and event.shards_done < event.shards:
        left = event.samples - event.samples_done
        found = f", {event.samples_done} are there already" if event.samples_done else ""
        return f"{plural(left, 'sample')} to make with {plural(event.workers, 'worker')}{found}"
    if isinstance(event, Notice):
        return event.text
    if isinstance(event, LongRun):
        return (
            f"this will take about {duration(event.seconds)} and {size(event.size_bytes)}; "
            "it may be stopped at any time and goes on with the same command"
        )
    return _trouble(event)


def _trouble(event: Event) -> str:
    """Return what is said of an event that nobody wished for."""
    from robustclevr.run.job import SampleFailed, SampleRetried, ShardBroken, WorkerGaveUp
    from robustclevr.run.shards import sample_name

    if isinstance(event, ShardBroken):
        return f"{event.split}/shard {event.shard} will be made again: {event.reason}"
    if isinstance(event, SampleFailed):
        # The whole reason stands in the report at the end of the run.
        return f"failed: {str(event.failure).splitlines()[0]}"
    if isinstance(event, SampleRetried):
        name = sample_name(event.split, event.retry.sample)
        return f"tried again: {name}: {event.retry.reason}"
    if isinstance(event, WorkerGaveUp):
        return f"warning: {event.reason}"
    return ""
