"""Interpreter, cores, memory and disk, each as much as this process may use of it."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil

from robustclevr.run.doctor.finding import Finding
from robustclevr.run.limits import cpu_limit, usable_cores, usable_memory

_GIB = 2**30
_LOW_MEMORY_GIB = 2.0  # chosen: one Blender process holds about 0.5 GiB at 320x240
_LOW_DISK_GIB = 5.0  # chosen: about 5,000 samples with nine images each


def machine_findings(folder: Path) -> Iterator[Finding]:
    """Yield what is quick to find.

    Parameters
    ----------
    folder : Path
        Where a dataset would be written.
    """
    version = platform.python_version()
    yield Finding("python", f"{version} ({sys.executable})", needed=True)
    yield Finding("numpy", np.__version__, needed=True)
    yield _cores()
    yield _memory()
    space = shutil.disk_usage(folder).free / _GIB
    yield Finding(
        "disk",
        f"{space:.1f} GiB free in {folder.resolve()}",
        works=space >= _LOW_DISK_GIB,
        advice="generate --dry-run says how much a dataset takes",
    )


def processor_name(root: Path = Path("/")) -> str:
    """Return what the processor is called, such as ``AMD EPYC 9554``."""
    try:
        lines = (root / "proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


def _cores() -> Finding:
    usable, there, share = usable_cores(), psutil.cpu_count(), cpu_limit()
    state = f"{usable}"
    if usable < there:
        why = "the container allows" if share is not None and int(share) <= usable else "allowed"
        state = f"{usable} {why}, of the machine's {there}"
    return Finding("cores", state, facts={"usable": usable, "machine": there})


def _memory() -> Finding:
    memory = usable_memory()
    free, limit = memory.free_bytes / _GIB, memory.limit_bytes / _GIB
    whose = " that the container allows" if memory.grouped else ""
    return Finding(
        "memory",
        f"{free:.1f} GiB free of {limit:.1f}{whose}",
        works=free >= _LOW_MEMORY_GIB,
        advice="a Blender process needs about 0.5 GiB: run fewer with --workers",
        facts={"free_bytes": memory.free_bytes, "limit_bytes": memory.limit_bytes},
    )
