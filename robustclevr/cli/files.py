"""Writing what a command was asked to write."""

from __future__ import annotations

from pathlib import Path

from robustclevr.errors import StoreError


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, its folder included; StoreError with the reason if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
