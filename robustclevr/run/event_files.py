"""Events over a shared folder: a worker elsewhere writes lines, the process that waits reads them.

A file needs no connection that can break: whatever becomes of node or network, what was written
stays to be read. The files are temporary ones of the process that waits, so that its death leaves
none behind for long.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import typing
from collections.abc import Iterator
from pathlib import Path

from robustclevr.errors import StoreError
from robustclevr.records import from_json, to_json
from robustclevr.run.job import Event
from robustclevr.store.atomic import disk_error
from robustclevr.store.layout import TEMP_SUFFIX, Layout
from robustclevr.store.owner import Owner

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_VANISHED_TRIES = 5
_KINDS = {kind.__name__: kind for kind in typing.get_args(Event)}


def new_event_file(layout: Layout, name: str) -> Path:
    """Return the path of an event file that nobody has; the writer makes it."""
    return layout.temp / f"{Owner.current()}~{time.monotonic_ns()}~{name}.events{TEMP_SUFFIX}"


class EventWriter:
    """Appends events to a file; a callable, closed by :meth:`close`.

    Parameters
    ----------
    path : Path
        Where an earlier try wrote to it, the lines stay.

    Raises
    ------
    StoreError
        If it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = _append_to(path)
            # An earlier try may have been killed in the middle of a line.
            os.write(self._file, b"\n")
        except OSError as error:
            raise disk_error(path, error) from error

    def __call__(self, event: Event) -> None:
        """Write one event."""
        line = json.dumps({"event": type(event).__name__, **to_json(event)})
        try:
            os.write(self._file, line.encode() + b"\n")
        except OSError as error:
            raise disk_error(self._path, error) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class EventTail:
    """Reads an event file as it grows.

    Parameters
    ----------
    path : Path
        Need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._read = path, 0

    def new(self) -> Iterator[Event]:
        """Yield the events that were written since the last call; half a line has to wait.

        Raises
        ------
        StoreError
            If the file cannot be read.
        """
        try:
            with self._path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be read: {error.strerror}") from error
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            event = _event(line)
            if event is not None:
                yield event

    def remove(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)


def _append_to(path: Path) -> int:
    """Open a file to append to; another run may remove its empty folder meanwhile."""
    for _ in range(_VANISHED_TRIES - 1):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, _FLAGS, 0o644)
    return os.open(path, _FLAGS, 0o644)


def _event(line: bytes) -> Event | None:
    """Return the event of a line; None for one that was cut short, or is empty."""
    try:
        content = json.loads(line)
        event: Event = from_json(_KINDS[content.pop("event")], content)
    except (ValueError, KeyError, TypeError):
        return None
    return event
