"""Leases: which process works on which shard, so that two runs on one folder share the work.

A lease is a small file made exclusively and rewritten by a heartbeat. Where its owner is dead, or
silent for too long, it is taken over. Hosts that share a folder need not agree on the time: how
long a lease has not changed is told by the clock of the process that looks at it. A lease only
saves double work: publishing is safe without it, since a shard is put in place at once and the
same bytes come out whoever makes it.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from robustclevr.errors import StoreError
from robustclevr.store.atomic import disk_error, write_atomic
from robustclevr.store.layout import LEASE_SUFFIX, TEMP_SUFFIX, Layout
from robustclevr.store.owner import Owner

HEARTBEAT_S = 10.0
EXPIRES_S = 120.0  # chosen: twelve missed beats, more than a slow network disk delays
SKEW_S = 600.0
"""How far the clocks of two hosts may be apart. Munge and Kerberos, on which clusters stand, refuse
to work beyond five minutes; twice that."""
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
        Since the last heartbeat, if this host's clock agrees with the file's. [s]
    stamp : str
        Differs after each heartbeat.
    """

    owner: Owner | None
    samples: int
    seconds: float
    age_s: float
    stamp: str

    @property
    def expired(self) -> bool:
        """True if nobody works under it any more, whatever clocks say."""
        dead = self.owner is not None and self.owner.is_dead()
        return dead or self.age_s > EXPIRES_S + SKEW_S


class LeaseWatch:
    """Looks at leases time and again, and knows how long each has not changed."""

    def __init__(self) -> None:
        self._seen: dict[Path, tuple[str, float]] = {}

    def is_over(self, path: Path, state: LeaseState) -> bool:
        """Tell whether nobody works under a lease any more.

        Parameters
        ----------
        path : Path
        state : LeaseState
            What the file says now.
        """
        now_s = time.monotonic()
        stamp, since_s = self._seen.get(path, ("", now_s))
        if stamp != state.stamp:
            since_s = now_s
        self._seen[path] = state.stamp, since_s
        return state.expired or now_s - since_s > EXPIRES_S


def read_lease(path: Path) -> LeaseState | None:
    """Return what a lease file says, or None if there is none."""
    try:
        text = path.read_text(encoding="utf-8")
        changed_ns = path.stat().st_mtime_ns
    except FileNotFoundError:
        return None
    age_s, stamp = time.time() - changed_ns / 1e9, f"{changed_ns} {text}"
    try:
        content = json.loads(text)
        owner = Owner.from_text(content["owner"])
        return LeaseState(owner, content["samples"], content["seconds"], age_s, stamp)
    except (ValueError, KeyError, TypeError):
        return LeaseState(None, 0, 0.0, age_s, stamp)


def all_leases(layout: Layout) -> dict[str, LeaseState]:
    """Return the leases of a folder by shard, such as ``test/shard-00003``."""
    paths = sorted(layout.leases.rglob(f"*{LEASE_SUFFIX}"))
    found = {path: read_lease(path) for path in paths}
    return {
        str(path.relative_to(layout.leases).with_suffix("")): state
        for path, state in found.items()
        if state is not None
    }


def live_leases(layout: Layout) -> tuple[LeaseState, ...]:
    """Return the leases of a folder under which somebody works."""
    return tuple(state for state in all_leases(layout).values() if not state.expired)


def remove_expired_leases(layout: Layout) -> None:
    """Remove the leases that nobody works under any more."""
    for path in sorted(layout.leases.rglob(f"*{LEASE_SUFFIX}")):
        state = read_lease(path)
        if state is not None and state.expired:
            _set_aside(path, state, layout)


def remove_lease(split: str, shard: int, layout: Layout) -> None:
    """Remove the lease of a shard that is done; whoever still holds it does not miss it."""
    layout.lease(split, shard).unlink(missing_ok=True)


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
    def acquire(
        cls, split: str, shard: int, layout: Layout, watch: LeaseWatch | None = None
    ) -> Lease | None:
        """Claim a shard; None if another process works on it.

        Parameters
        ----------
        split, shard, layout : str, int, Layout
        watch : LeaseWatch, optional
            Of this process, if it tries more than once.

        Raises
        ------
        StoreError
            If the file cannot be written.
        """
        path = layout.lease(split, shard)
        lease, watch = cls(path, layout), watch or LeaseWatch()
        try:
            for _ in range(_TRIES):
                if lease._create():
                    return lease
                state = read_lease(path)
                if state is not None and not watch.is_over(path, state):
                    return None
                if state is not None:
                    _set_aside(path, state, layout)
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


def _set_aside(path: Path, state: LeaseState, layout: Layout) -> None:
    """Remove a lease, unless it is another than the one that was looked at.

    Of two processes that find a lease expired, the slower one must not remove the new lease of the
    faster one: so the file is first taken where nobody looks, and put back if it is not the one.
    """
    aside = layout.temp / f"{Owner.current()}~{time.monotonic_ns()}~{path.name}{TEMP_SUFFIX}"
    aside.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.rename(aside)
    except FileNotFoundError:
        return
    taken = read_lease(aside)
    if taken is not None and taken.stamp != state.stamp:
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    aside.unlink(missing_ok=True)
