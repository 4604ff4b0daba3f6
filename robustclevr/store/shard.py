"""One shard: a tar in WebDataset's form whose bytes follow from its content alone.

Samples enter as ``{member name: bytes}`` and leave so. USTAR headers with owner, group, time and
mode fixed; members in order of sample, then name.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from robustclevr.errors import StoreError
from robustclevr.store.atomic import replacing
from robustclevr.store.layout import Layout

Members = Mapping[str, bytes]
"""Files of one sample by the part of the name behind the first dot, such as ``clean.png``."""

_MODE = 0o644


def write_shard(
    path: Path, samples: Iterable[tuple[str, Members]], layout: Layout
) -> tuple[str, int]:
    """Write a shard and put it in place at once.

    Parameters
    ----------
    path : Path
        The tar.
    samples : iterable of (str, Members)
        Key and files of each sample, in order of index; consumed one by one, so that a shard
        never stands in memory.
    layout : Layout
        Of the dataset.

    Returns
    -------
    sha256 : str
    size_bytes : int

    Raises
    ------
    StoreError
        If it cannot be written, or a member's name is too long for a tar.
    """
    with replacing(path, layout) as file:
        digest = _Digesting(file)
        with tarfile.open(fileobj=digest, mode="w|", format=tarfile.USTAR_FORMAT) as tar:
            for key, members in samples:
                for suffix in sorted(members):
                    _add(tar, f"{key}.{suffix}", members[suffix])
    return digest.sha256.hexdigest(), digest.size_bytes


def iter_samples(path: Path) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield key and files of each sample of a shard, in its order.

    Raises
    ------
    StoreError
        If the file is missing, truncated or no tar.
    """
    with ShardReader(path) as reader:
        for key in reader.keys():  # noqa: SIM118 - a reader is no mapping
            yield key, {suffix: reader.read(key, suffix) for suffix in reader.suffixes(key)}


class ShardReader:
    """Random access to the members of a shard; a context manager.

    Only headers are read until a member is asked for.

    Parameters
    ----------
    path : Path
        The tar.

    Raises
    ------
    StoreError
        If the file is missing, truncated or no tar.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._tar = tarfile.open(path, mode="r:")  # noqa: SIM115 - closed by __exit__
        except (OSError, tarfile.TarError) as error:
            raise _unreadable(path, error) from error
        try:
            self._members = _by_sample(self._tar)
        except (OSError, tarfile.TarError) as error:
            self._tar.close()
            raise _unreadable(path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tar.close()

    def keys(self) -> tuple[str, ...]:
        """Return the keys of the samples, in the shard's order."""
        return tuple(self._members)

    def suffixes(self, key: str) -> tuple[str, ...]:
        """Return the member names of a sample without its key; StoreError if it is not here."""
        return tuple(self._sample(key))

    def read(self, key: str, suffix: str) -> bytes:
        """Return the bytes of one member; StoreError if there is none or it is cut short."""
        member = self._sample(key).get(suffix)
        if member is None:
            raise StoreError(f"{self.path}: sample {key} has no member '{key}.{suffix}'")
        try:
            file = self._tar.extractfile(member)
            data = b"" if file is None else file.read()
        except (OSError, tarfile.TarError) as error:
            raise StoreError(f"{self.path}: member '{member.name}': {error}") from error
        if len(data) != member.size:
            raise StoreError(f"{self.path}: member '{member.name}' is cut short")
        return data

    def record(self, key: str) -> dict[str, Any]:
        """Return the JSON record of a sample."""
        data = self.read(key, "json")
        try:
            record: dict[str, Any] = json.loads(data)
        except ValueError as error:
            raise StoreError(f"{self.path}: '{key}.json' is not JSON: {error}") from error
        return record

    def _sample(self, key: str) -> dict[str, tarfile.TarInfo]:
        if key not in self._members:
            raise StoreError(f"{self.path}: has no sample {key}")
        return self._members[key]


class _Digesting(io.RawIOBase):
    """A write-only stream that hashes what passes."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self.sha256 = hashlib.sha256()
        self.size_bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        self.size_bytes += len(data)
        return self._file.write(data)


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), _MODE
    info.mtime = info.uid = info.gid = 0
    info.uname = info.gname = ""
    try:
        tar.addfile(info, io.BytesIO(data))
    except ValueError as error:
        raise StoreError(f"member '{name}': {error}; give the node a shorter id") from error


def _unreadable(path: Path, error: Exception) -> StoreError:
    return StoreError(f"{path}: cannot be read as a shard: {error}")


def _by_sample(tar: tarfile.TarFile) -> dict[str, dict[str, tarfile.TarInfo]]:
    samples: dict[str, dict[str, tarfile.TarInfo]] = {}
    for member in tar:
        key, _, suffix = member.name.partition(".")
        samples.setdefault(key, {})[suffix] = member
    return samples
