"""Who wrote a temporary file or a lease, and whether that process still lives.

Process ids are reused, so an owner is named by host, process id and the time the process
started. Nothing but the owner's name is stored; the kernel is asked for the rest.
"""

from __future__ import annotations

import functools
import os
import re
import socket
from dataclasses import dataclass

import psutil

_TEXT = re.compile(r"(?P<host>[\w.-]+)~(?P<pid>\d+)~(?P<started>\d+)")


@dataclass(frozen=True)
class Owner:
    """A process on some host.

    Attributes
    ----------
    host : str
    pid : int
    started_ms : int
        Start of the process. [ms since the epoch]
    """

    host: str
    pid: int
    started_ms: int

    @classmethod
    def current(cls) -> Owner:
        """Return this process."""
        return _owner_of(os.getpid())

    @classmethod
    def from_text(cls, text: str) -> Owner | None:
        """Read the owner at the start of ``text``; None if there is none."""
        match = _TEXT.match(text)
        if match is None:
            return None
        return cls(match["host"], int(match["pid"]), int(match["started"]))

    def __str__(self) -> str:
        return f"{self.host}~{self.pid}~{self.started_ms}"

    def is_dead(self) -> bool:
        """Return True if the process surely is gone; False if it lives or is elsewhere."""
        if self.host != _host():
            return False
        try:
            return _started_ms(self.pid) != self.started_ms
        except psutil.NoSuchProcess:
            return True
        except psutil.AccessDenied:
            return False


def _host() -> str:
    return re.sub(r"[^\w.-]", "-", socket.gethostname()) or "localhost"


def _started_ms(pid: int) -> int:
    created_s: float = psutil.Process(pid).create_time()
    return round(created_s * 1000)


@functools.lru_cache(maxsize=2)
def _owner_of(pid: int) -> Owner:
    return Owner(_host(), pid, _started_ms(pid))
