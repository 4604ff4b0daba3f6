"""A folder or a tar as names with bytes behind them."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Protocol

from robustclevr.errors import SpecError, StoreError

TAR_SUFFIXES = (".tar",)
"""Uncompressed only: members of a compressed tar cannot be read one by one."""


class Files(Protocol):
    """Files by name: paths below a root, with ``/`` between their parts."""

    def sizes(self) -> dict[str, int]:
        """Return the size of every file. [byte]."""

    def read(self, name: str) -> bytes:
        """Return a file's content; StoreError if it cannot be read."""


def open_files(path: Path, option: str) -> Files:
    """Return the files of a folder or a tar.

    Parameters
    ----------
    path : Path
    option : str
        What named it, for messages.

    Raises
    ------
    SpecError
        If there is no such folder, and no such tar.
    """
    if path.is_dir():
        return FolderFiles(path)
    if path.suffix in TAR_SUFFIXES and path.is_file():
        return TarFiles(path)
    what = f"{path} is neither a folder nor a .tar file"
    raise SpecError.single(what, file=option, hint="unpack compressed archives first")


class FolderFiles:
    """All files below a folder; hidden ones and those in hidden folders are left out."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def sizes(self) -> dict[str, int]:
        """Return the size of every file. [byte]."""
        found = {}
        for path in self._root.rglob("*"):
            parts = path.relative_to(self._root).parts
            if path.is_file() and not any(part.startswith(".") for part in parts):
                found["/".join(parts)] = path.stat().st_size
        return found

    def read(self, name: str) -> bytes:
        """Return a file's content."""
        try:
            return (self._root / name).read_bytes()
        except OSError as error:
            raise StoreError(f"{self._root / name}: cannot be read: {error.strerror}") from error


class TarFiles:
    """The members of a tar."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._members: dict[str, tuple[int, int]] = {}
        try:
            with tarfile.open(path, "r:") as archive:
                for member in archive:
                    if member.isfile():
                        name = member.name.removeprefix("./")
                        self._members[name] = (member.offset_data, member.size)
        except (tarfile.TarError, OSError) as error:
            raise StoreError(f"{path}: cannot be read as a tar: {error}") from error

    def sizes(self) -> dict[str, int]:
        """Return the size of every member. [byte]."""
        return {name: size for name, (_, size) in self._members.items()}

    def read(self, name: str) -> bytes:
        """Return a member's content."""
        offset, size = self._members[name]
        try:
            with self._path.open("rb") as file:
                file.seek(offset)
                return file.read(size)
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be read: {error.strerror}") from error
