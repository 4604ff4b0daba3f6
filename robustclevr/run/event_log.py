"""A run's events as lines of JSON in a file, for machines to read: one event a line.

Each line is a JSON object with ``time`` (UTC, ISO 8601), ``event`` (its name), ``host``, ``pid``,
and the event's own fields. Lines are appended and written at once, so that several runs may share
a file, and a run that is killed leaves whole lines.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from robustclevr.records import to_json
from robustclevr.run.job import Event, OnEvent
from robustclevr.store.atomic import disk_error

_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NESTED = ("failure", "retry")
"""Fields of events that are records themselves; theirs stand in the line."""


class EventLog:
    """Appends events to a file; a context manager.

    Parameters
    ----------
    path : Path
        Made where it is missing.

    Raises
    ------
    StoreError
        If the file cannot be opened, and later if it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise disk_error(path, error) from error
        self._sender = {"host": socket.gethostname(), "pid": os.getpid()}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is not None:
                self.write("run_stopped", reason=str(error) or type(error).__name__)
        finally:
            os.close(self._descriptor)

    def __call__(self, event: Event) -> None:
        """Write one event."""
        self.write(event_name(event), **event_fields(event))

    def write(self, name: str, **fields: Any) -> None:
        """Write one line."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"time": now, "event": name, **self._sender, **fields}) + "\n"
        try:
            # One call a line: O_APPEND then keeps the lines of two processes apart.
            os.write(self._descriptor, line.encode())
        except OSError as error:
            raise disk_error(self._path, error) from error


def both(first: OnEvent, second: OnEvent) -> OnEvent:
    """Return the function that lets two hear of each event, in this order."""
    listeners: tuple[Callable[[Event], None], ...] = (first, second)

    def on_event(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return on_event


def event_name(event: Event) -> str:
    """Return an event's name in a log.

    Examples
    --------
    >>> from robustclevr.run.job import SampleStarted
    >>> event_name(SampleStarted("test", 3))
    'sample_started'
    """
    return _INNER_CAPITAL.sub("_", type(event).__name__).lower()


def event_fields(event: Event) -> dict[str, Any]:
    """Return an event's fields in a log, all at one level.

    Examples
    --------
    >>> from robustclevr.run.job import SampleStarted
    >>> event_fields(SampleStarted("test", 3))
    {'split': 'test', 'sample': 3}
    """
    fields: dict[str, Any] = to_json(event)
    for name in _NESTED:
        fields |= fields.pop(name, {})
    if "index" in fields:  # of a sample; a shard's number is called "shard"
        fields["sample"] = fields.pop("index")
    return fields
