"""``--log-file``: what a run tells a machine that watches it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robustclevr.run.generate import Summary
    from robustclevr.run.job import OnEvent


@contextmanager
def logged(
    path: Path | None, on_event: OnEvent
) -> Iterator[tuple[OnEvent, Callable[[Summary], None]]]:
    """Let a file hear of a run's events too.

    Parameters
    ----------
    path : Path or None
        None for no file.
    on_event : callable
        Who hears of them anyway.

    Yields
    ------
    on_event : callable
        Tells both.
    end : callable
        Takes the run's summary, for the last line of a run that was not stopped.
    """
    if path is None:
        yield on_event, _ignore
        return
    from robustclevr.run.event_log import EventLog, both

    with EventLog(path) as log:

        def end(summary: Summary) -> None:
            log.write(
                "run_ended",
                shards=summary.shards,
                samples=summary.samples,
                unfinished_shards=summary.unfinished_shards,
                failed=len(summary.failures),
                exit_code=summary.exit_code,
            )

        yield both(log, on_event), end


def _ignore(summary: Summary) -> None:
    del summary
