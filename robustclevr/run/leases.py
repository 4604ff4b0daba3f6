"""Leases: which process works on which shard, so that two runs on one folder share the work.

A lease is a small file made exclusively and rewritten by a heartbeat. Where its owner is dead, or
silent for too long, it is taken over. A lease only saves double work: publishing is safe without
it, since a shard is put in place at once and the same bytes come out whoever makes it.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from robustclevr.errors import StoreError
from robustclevr.store.atomic import disk_error, write_atomic
from robustclevr.store.layout import LEASE_SUFFIX, Layout
from robustclevr.store.owner import Owner

HEARTBEAT_S = 10.0
EXPIRES_S = 120.0  # chosen: twelve missed beats, more than a slow network disk delays
_TRIES = 5


@dataclass(frozen=True)
class LeaseState:
    """What a lease file says.

    Attributes
    ----------
    owner : Owner or None
        None where the file is only just being made.
    samples : int
        Samples its owner made since it started.
    seconds : float
        Time that took. [s]
    age_s : float
        Since the last heartbeat. [s]
    """

    owner: Owner | None
    samples: int
    seconds: float
    age_s: float

    @property
    def expired(self) -> bool:
        """True if nobody works under it any more."""
        dead = self.owner is not None and self.owner.is_dead()
        return dead or self.age_s > EXPIRES_S


def read_lease(path: Path) -> LeaseState | None:
    """Return what a lease file says, or None if there is none."""
    try:
        text = path.read_text(encoding="utf-8")
        age_s = time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return None
    try:
        content = json.loads(text)
        owner = Owner.from_text(content["owner"])
        return LeaseState(owner, content["samples"], content["seconds"], age_s)
    except (ValueError, KeyError, TypeError):
        return LeaseState(None, 0, 0.0, age_s)


def live_leases(layout: Layout) -> tuple[LeaseState, ...]:
    """Return the leases of a folder under which somebody works."""
    found = (read_lease(path) for path in sorted(layout.leases.rglob(f"*{LEASE_SUFFIX}")))
    return tuple(state for state in found if state is not None and not state.expired)


def remove_expired_leases(layout: Layout) -> None:
    """Remove the leases that nobody works under any more."""
    for path in sorted(layout.leases.rglob(f"*{LEASE_SUFFIX}")):
        state = read_lease(path)
        if state is not None and state.expired:
            path.unlink(missing_ok=True)


class Lease:
    """Our claim on one shard; a context manager that beats while it is held.

    Use :meth:`acquire`.
    """

    def __init__(self, path: Path, layout: Layout) -> None:
        self._path, self._layout = path, layout
        self._samples, self._seconds = 0, 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="lease", daemon=True)

    @classmethod
    def acquire(cls, split: str, shard: int, layout: Layout) -> Lease | None:
        """Claim a shard; None if another process works on it.

        Raises
        ------
        StoreError
            If the file cannot be written.
        """
        path = layout.lease(split, shard)
        lease = cls(path, layout)
        try:
            for _ in range(_TRIES):
                if lease._create():
                    return lease
                state = read_lease(path)
                if state is not None and not state.expired:
                    return None
                if state is not None:
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise disk_error(path, error) from error
        return None

    def note(self, samples: int, seconds: float) -> None:
        """Tell ``status`` how many samples this process made, in what time; at the next beat."""
        self._samples, self._seconds = samples, seconds

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        if self._is_ours():
            self._path.unlink(missing_ok=True)

    def _create(self) -> bool:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # "x": of two processes that try at once, one gets it.
            file = self._path.open("xb")
        except (FileExistsError, FileNotFoundError):
            return False  # taken; or another run just removed the empty folder: try again
        try:
            with file:
                file.write(self._content())
        except OSError:  # an empty lease would keep everybody out until it expires
            self._path.unlink(missing_ok=True)
            raise
        return True

    def _content(self) -> bytes:
        state = {
            "owner": str(Owner.current()),
            "samples": self._samples,
            "seconds": round(self._seconds, 3),
        }
        return json.dumps(state).encode()

    def _is_ours(self) -> bool:
        state = read_lease(self._path)
        return state is not None and state.owner == Owner.current()

    def _beat(self) -> None:
        while not self._stop.wait(HEARTBEAT_S):
            # A full disk is the worker's to report; a missed beat harms nothing.
            with contextlib.suppress(OSError, StoreError):
                if self._is_ours():
                    write_atomic(self._path, self._content(), self._layout)
