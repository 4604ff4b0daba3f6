"""Private folders for what passes between us and a Blender process.

In shared memory where there is room: the arrays of a sample are written once and read once.
A folder bears its owner's name, so that what a killed process left is removed by the next.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from robustclevr.store.owner import Owner

_PREFIX = f"robustclevr-{os.getuid()}-"
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - mkdtemp makes a private folder below it
_ROOM_BYTES = 512 << 20  # chosen: some hundred samples of 320x240 with eight corruptions


def make_scratch() -> Path:
    """Make an empty folder that only this user can read.

    Raises
    ------
    OSError
        If there is no room for it anywhere.
    """
    root = _roots()[0]
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{Owner.current()}~", dir=root))


def sweep_scratch() -> int:
    """Remove the folders of processes of this user that are gone; return how many."""
    removed = 0
    for root in _roots():
        for folder in sorted(root.glob(f"{_PREFIX}*")):
            owner = Owner.from_text(folder.name.removeprefix(_PREFIX))
            if owner is not None and owner.is_dead():
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
    return removed


def _roots() -> list[Path]:
    usual = Path(tempfile.gettempdir())
    with contextlib.suppress(OSError):
        if (
            os.access(_SHARED_MEMORY, os.W_OK)
            and shutil.disk_usage(_SHARED_MEMORY).free >= _ROOM_BYTES
        ):
            return [_SHARED_MEMORY, usual]
    return [usual]
