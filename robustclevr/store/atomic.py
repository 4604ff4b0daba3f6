"""Files that are either wholly there or not there at all.

Bytes enter; they are written to a temporary file in the dataset's ``.work``, synced, and renamed
into place, so that neither a killed process nor a full disk leaves half a file. Every failure of
the disk leaves as a StoreError that names the file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from robustclevr.errors import StoreError
from robustclevr.store.layout import TEMP_SUFFIX, Layout
from robustclevr.store.owner import Owner

_REMEDIES = {
    errno.ENOSPC: "free some space and run the same command again; finished samples are kept",
    errno.EDQUOT: "free some of your quota and run the same command again; "
    "finished samples are kept",
    errno.EFBIG: "raise the limit on file sizes (ulimit -f), or choose a smaller shard_size",
    errno.EROFS: "choose a folder on a writable file system",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
}
_VANISHED_TRIES = 5  # chosen: another run may remove an empty .work between our mkdir and our open
FOREIGN_TEMP_AGE_S = 24 * 3600.0
"""Temporary files of other hosts go after this time: nobody writes one file for a day. Chosen."""


def disk_error(path: Path, error: OSError) -> StoreError:
    """Put a failed write into words: the file, the reason, what to do."""
    remedy = _REMEDIES.get(error.errno or 0, "run the same command again when that is mended")
    return StoreError(f"{path}: cannot write: {error.strerror or error}; {remedy}")


@contextlib.contextmanager
def replacing(path: Path, layout: Layout, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the place of ``path`` when the block ends well.

    Parameters
    ----------
    path : Path
        Where it shall stand; its folder is made.
    layout : Layout
        Of the dataset: the temporary file stands in its ``.work/tmp``, on the same file system.
    durable : bool
        Whether it must outlast the machine. If not, it outlasts this process, and may be cut
        short after a power failure: only for files that carry their own digest.

    Yields
    ------
    binary file
        Writable and seekable.

    Raises
    ------
    StoreError
        If the disk is full, read-only or otherwise unwilling. ``path`` is as it was.
    """
    temp = layout.temp / f"{Owner.current()}~{time.monotonic_ns()}~{path.name}{TEMP_SUFFIX}"
    try:
        try:
            with _create(temp) as file:
                yield file
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            _rename(temp, path)
            if durable:
                sync_dir(path.parent)
        finally:
            temp.unlink(missing_ok=True)
    except OSError as error:
        raise disk_error(path, error) from error


def write_atomic(path: Path, data: bytes, layout: Layout, *, durable: bool = True) -> None:
    """Write ``data`` to ``path`` at once; see :func:`replacing`."""
    with replacing(path, layout, durable=durable) as file:
        file.write(data)


def sync_dir(path: Path) -> None:
    """Make renames and removals in a folder durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_stale_temps(layout: Layout) -> int:
    """Remove temporary files whose writers are gone.

    Returns
    -------
    int
        How many.
    """
    removed = 0
    for path in sorted(layout.temp.glob(f"*{TEMP_SUFFIX}")):
        with contextlib.suppress(FileNotFoundError):
            owner = Owner.from_text(path.name)
            age_s = time.time() - path.stat().st_mtime
            if owner is None or owner.is_dead() or age_s > FOREIGN_TEMP_AGE_S:
                path.unlink()
                removed += 1
    return removed


def remove_empty_dirs(root: Path) -> None:
    """Remove ``root`` and the folders below it as far as they are empty.

    Only ever removes empty folders, so that a second run that just put a file there keeps it.
    """
    if not root.is_dir():
        return
    for folder, _, _ in os.walk(root, topdown=False):
        with contextlib.suppress(OSError):
            Path(folder).rmdir()


def _create(path: Path) -> BinaryIO:
    for _ in range(_VANISHED_TRIES - 1):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            return path.open("xb")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("xb")


def _rename(temp: Path, path: Path) -> None:
    for _ in range(_VANISHED_TRIES - 1):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            temp.replace(path)
            break
    else:
        temp.replace(path)
