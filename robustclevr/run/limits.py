"""What this process may use of the machine: cores and memory, control groups taken into account.

A container, a Slurm job or a systemd slice sees all cores and all memory of its host and is slowed
down or killed when it takes them; what it may have stands in its control group's files. The
smaller of machine and group counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import psutil

_V1_UNLIMITED = (
    1 << 60
)  # bytes; the kernel writes the largest page-aligned 63-bit number for "none"


@dataclass(frozen=True)
class Memory:
    """What may be used of the memory.

    Attributes
    ----------
    limit_bytes : int
        Of the machine, or of the control group if that is less.
    free_bytes : int
        Of the limit.
    grouped : bool
        True if a control group is what limits.
    """

    limit_bytes: int
    free_bytes: int
    grouped: bool = False


def usable_cores(root: Path = Path("/")) -> int:
    """Return how many cores' worth of time this process may use: at least 1.

    Parameters
    ----------
    root : Path
        Where ``proc`` and ``sys`` are.
    """
    cores = len(os.sched_getaffinity(0))
    share = cpu_limit(root)
    return cores if share is None else max(1, min(cores, int(share)))


def cpu_limit(root: Path = Path("/")) -> float | None:
    """Return how many cores' worth of time the control groups allow; None without a limit."""
    shares = [share for folder in _groups(root, "cpu") if (share := _cores_of(folder)) is not None]
    return min(shares, default=None)


def usable_memory(root: Path = Path("/")) -> Memory:
    """Return the memory that this process may use, and what is free of it."""
    machine = psutil.virtual_memory()
    found = Memory(int(machine.total), int(machine.available))
    for folder in _groups(root, "memory"):
        limit = _number(folder, "memory.max", "memory.limit_in_bytes")
        if limit is None or limit >= min(found.limit_bytes, _V1_UNLIMITED):
            continue
        used = _number(folder, "memory.current", "memory.usage_in_bytes") or 0
        used -= _reclaimable(folder)
        free = min(found.free_bytes, max(0, limit - used))
        found = Memory(limit, free, grouped=True)
    return found


def _cores_of(folder: Path) -> float | None:
    words = _words(folder / "cpu.max", 2) or (
        *_words(folder / "cpu.cfs_quota_us", 1),
        *_words(folder / "cpu.cfs_period_us", 1),
    )
    # "max", or -1 in version 1, stands for no limit.
    if len(words) != 2 or not all(word.isdigit() for word in words) or int(words[1]) == 0:
        return None
    return int(words[0]) / int(words[1])


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of this process' control group and of those above it, both versions."""
    mount = root / "sys/fs/cgroup"
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers == "":
            base = mount
        elif controller in controllers.split(","):
            base = mount / controller
        else:
            continue
        inner = PurePosixPath(path.lstrip("/"))
        # In a container the path may be the host's: then only the mount itself is there.
        for part in (inner, *inner.parents):
            yield base / part


def _words(file: Path, count: int) -> tuple[str, ...]:
    """Return the words of a one-line file; nothing if there are others than ``count``."""
    try:
        words = tuple(file.read_text(encoding="ascii").split())
    except (OSError, UnicodeDecodeError):
        return ()
    return words if len(words) == count else ()


def _number(folder: Path, *names: str) -> int | None:
    for name in names:
        for word in _words(folder / name, 1):
            if word.isdigit():
                return int(word)
    return None


def _reclaimable(folder: Path) -> int:
    """Return the bytes of cached files, which count as used but go when memory is asked for."""
    try:
        lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return 0
    stat = dict(line.split(" ", 1) for line in lines if " " in line)
    return int(stat.get("total_inactive_file", stat.get("inactive_file", "0")))
