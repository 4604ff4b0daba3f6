"""Looks at this machine: what works, what is missing, what to do about it."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from robustclevr.errors import RobustClevrError
from robustclevr.run.blender_process import BlenderProcess, RendererSetup

_GIB = 2**30
_LOW_MEMORY_GIB = 2.0  # chosen: one Blender process holds about 0.5 GiB at 320x240
_LOW_DISK_GIB = 5.0  # chosen: about 5,000 samples with nine images each


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report.

    Attributes
    ----------
    what, state : str
    works : bool
    needed : bool
        False for what only slows a run down or limits it.
    advice : str
        What to do, if it does not work.
    """

    what: str
    state: str
    works: bool
    needed: bool
    advice: str = ""


def examine(setup: RendererSetup, folder: Path) -> Iterator[Finding]:
    """Yield what is found, the slow look at Blender last.

    Parameters
    ----------
    setup : RendererSetup
        Which Blender to try, and the device to ask it for.
    folder : Path
        Where a dataset would be written.
    """
    version = platform.python_version()
    yield Finding("python", f"{version} ({sys.executable})", works=True, needed=True)
    yield Finding("numpy", np.__version__, works=True, needed=True)
    free = psutil.virtual_memory().available / _GIB
    yield Finding(
        "memory",
        f"{free:.1f} GiB free of {psutil.virtual_memory().total / _GIB:.1f}",
        works=free >= _LOW_MEMORY_GIB,
        needed=False,
        advice="a Blender process needs about 0.5 GiB: run fewer with --workers",
    )
    space = shutil.disk_usage(folder).free / _GIB
    yield Finding(
        "disk",
        f"{space:.1f} GiB free in {folder.resolve()}",
        works=space >= _LOW_DISK_GIB,
        needed=False,
        advice="generate --dry-run says how much a dataset takes",
    )
    yield Finding("cores", f"{len(psutil.Process().cpu_affinity())}", works=True, needed=False)
    yield _blender(setup)


def _blender(setup: RendererSetup) -> Finding:
    try:
        with BlenderProcess(setup) as process:
            versions = process.versions
            return Finding(
                "blender",
                f"{versions['blender']} on Python {versions['python']}, numpy {versions['numpy']}; "
                f"renders on {process.device}; started in {process.startup_s:.1f} s",
                works=True,
                needed=True,
            )
    except RobustClevrError as error:
        return Finding("blender", "cannot be started", works=False, needed=True, advice=str(error))
