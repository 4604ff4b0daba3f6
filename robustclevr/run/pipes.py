"""Lines of JSON over two pipes, with a time limit on reading."""

from __future__ import annotations

import contextlib
import json
import os
import select
import time
from collections.abc import Mapping
from typing import Any

_CHUNK_BYTES = 1 << 16


class PipeClosedError(Exception):
    """The other side is gone."""


class LinePipe:
    """Our side of a conversation in JSON objects, one a line.

    Parameters
    ----------
    in_fd, out_fd : int
        What we read from and write to; owned from now on.
    """

    def __init__(self, in_fd: int, out_fd: int) -> None:
        self._in_fd, self._out_fd = in_fd, out_fd
        self._buffer = bytearray()
        self._closed = False

    def send(self, message: Mapping[str, Any]) -> None:
        """Write one object; PipeClosedError if nobody reads any more."""
        data = memoryview(json.dumps(message).encode() + b"\n")
        try:
            while data:
                data = data[os.write(self._out_fd, data) :]
        except OSError as error:
            raise PipeClosedError from error

    def receive(self, limit_s: float) -> dict[str, Any]:
        """Wait for one object.

        Raises
        ------
        PipeClosedError
            If the other side ended before it wrote a whole line, or wrote no JSON.
        TimeoutError
            If nothing came within ``limit_s``.
        """
        deadline = time.monotonic() + limit_s
        while b"\n" not in self._buffer:
            left_s = deadline - time.monotonic()
            ready, _, _ = select.select([self._in_fd], [], [], max(left_s, 0.0))
            if not ready:
                raise TimeoutError
            chunk = os.read(self._in_fd, _CHUNK_BYTES)
            if not chunk:
                raise PipeClosedError
            self._buffer += chunk
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        try:
            message: dict[str, Any] = json.loads(line)
        except ValueError as error:
            raise PipeClosedError from error
        return message

    def close(self) -> None:
        """Close both ends; harmless when repeated."""
        if not self._closed:
            self._closed = True
            for descriptor in (self._in_fd, self._out_fd):
                with contextlib.suppress(OSError):
                    os.close(descriptor)
