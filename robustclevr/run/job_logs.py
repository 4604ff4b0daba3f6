"""Folders for what the jobs of a cluster print: below the dataset's ``.work``, one a run.

They go when their run ends well. Those of a run that failed stay for the user to read, until the
dataset is finished.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from robustclevr.errors import StoreError
from robustclevr.store.atomic import FOREIGN_TEMP_AGE_S, disk_error
from robustclevr.store.layout import Layout
from robustclevr.store.owner import Owner

_NAME = "slurm"


def new_job_logs(layout: Layout) -> Path:
    """Make a folder for the logs of this run.

    Raises
    ------
    StoreError
        If it cannot be made.
    """
    folder = layout.work / _NAME / f"{Owner.current()}~{time.monotonic_ns()}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise disk_error(folder, error) from error
    return folder


def sweep_job_logs(layout: Layout) -> None:
    """Remove the logs of runs that are over."""
    for folder in sorted((layout.work / _NAME).glob("*")):
        owner = Owner.from_text(folder.name)
        try:
            age_s = time.time() - folder.stat().st_mtime
        except OSError:
            continue
        if owner is None or owner.is_dead() or age_s > FOREIGN_TEMP_AGE_S:
            shutil.rmtree(folder, ignore_errors=True)


def last_words(log: Path, lines: int = 5) -> str:
    """Return the last lines of a log, indented; nothing where there is none.

    Raises
    ------
    StoreError
        If it is there but cannot be read.
    """
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(f"{log}: cannot be read: {error.strerror}") from error
    return "\n".join(f"    {line}" for line in text.strip().splitlines()[-lines:])
