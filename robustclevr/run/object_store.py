"""A dataset in an object store (``s3://``, ``gs://``, …), reached by fsspec.

Paths of a dataset enter, bytes come and go. Every transfer is tried a bounded number of times, and
what was sent is read back and compared before anything counts on it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from robustclevr.errors import SetupError, SpecError, StoreError, suggest
from robustclevr.store.receipts import file_sha256

INSTALL_LINE = "pip install 'robustclevr[remote]'"

TRIES = 5
"""Of each transfer. Chosen: with the pauses in between it outlasts half a minute of trouble."""

FIRST_PAUSE_S = 2.0
"""Doubled after each try that fails. Chosen."""

_CHUNK_BYTES = 4 << 20
# Packages that bring the protocols (fsspec's own table of implementations); others name theirs.
_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
}

T = TypeVar("T")


def is_url(text: str) -> bool:
    """Tell whether an output is an object store's URL, and no folder."""
    return "://" in text


class ObjectStore:
    """The place of one dataset in an object store.

    Parameters
    ----------
    url : str
        Such as ``s3://bucket/folder``.
    pause : callable, optional
        Waits between tries. [s]

    Raises
    ------
    SetupError
        If fsspec or the package for the protocol is missing; says how to install it.
    SpecError
        If there is no such protocol.
    """

    def __init__(self, url: str, pause: Callable[[float], object] = time.sleep) -> None:
        self.url = url.rstrip("/")
        self._pause = pause
        self._files, self._root = _file_system(self.url)

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None where there is none; StoreError if it stays unread."""

        def attempt() -> bytes | None:
            self._files.invalidate_cache()
            try:
                content: bytes = self._files.cat_file(self._place(path))
            except FileNotFoundError:
                return None
            return content

        return self._retried(attempt, f"{self.url}/{path}: cannot be read")

    def size(self, path: str) -> int | None:
        """Return a file's size, None where there is none. [bytes]."""

        def attempt() -> int | None:
            self._files.invalidate_cache()
            try:
                return int(self._files.info(self._place(path))["size"])
            except FileNotFoundError:
                return None

        return self._retried(attempt, f"{self.url}/{path}: cannot be looked at")

    def send(self, file: Path, path: str) -> None:
        """Put a file in its place, and read it back.

        Raises
        ------
        StoreError
            If it is not there as it should after the last try: says why.
        """
        sha256 = file_sha256(file)

        def attempt() -> None:
            place = self._place(path)
            self._files.put_file(str(file), place)
            self._files.invalidate_cache()
            if self._sha256(place) != sha256:
                raise StoreError("what was stored differs from what was sent")

        self._retried(attempt, f"{self.url}/{path}: cannot be uploaded")

    def _place(self, path: str) -> str:
        return f"{self._root}/{path}"

    def _sha256(self, place: str) -> str:
        digest = hashlib.sha256()
        with self._files.open(place, "rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
        return digest.hexdigest()

    def _retried(self, attempt: Callable[[], T], what: str) -> T:
        pause_s = FIRST_PAUSE_S
        for _ in range(TRIES - 1):
            try:
                return attempt()
            except Exception:  # noqa: BLE001 - each protocol's library has errors of its own
                self._pause(pause_s)
                pause_s *= 2
        try:
            return attempt()
        except Exception as error:
            kind = "" if isinstance(error, StoreError) else f"{type(error).__name__}: "
            raise StoreError(
                f"{what}, {TRIES} times: {kind}{error}; the same command tries again"
            ) from error


def _file_system(url: str) -> tuple[Any, str]:
    """Return fsspec's file system for a URL, and the path in it."""
    try:
        import fsspec
    except ImportError as error:
        raise SetupError(
            f"{url}: object stores need fsspec; install it with:\n    {INSTALL_LINE}"
        ) from error
    protocol = url.partition("://")[0]
    try:
        # Object stores have no folders that would have to be made; file:// does.
        options = {"auto_mkdir": True} if protocol in ("file", "local") else {}
        files, root = fsspec.core.url_to_fs(url, **options)
    except ImportError as error:
        package = _PACKAGES.get(protocol)
        line = f"; install it with:\n    {INSTALL_LINE} {package}" if package else ""
        raise SetupError(
            f"{url}: '{protocol}://' needs a further package: {error}{line}"
        ) from error
    except ValueError as error:
        known = fsspec.available_protocols()
        hint = suggest(protocol, known)
        raise SpecError.single(f"'{url}': {error}", file="--output", hint=hint) from error
    return files, str(root).rstrip("/")
