"""The renderer's own output: kept in a file, shown when it dies, cut before it grows."""

from __future__ import annotations

import os
from pathlib import Path

_LAST_LINES = 6
_TAIL_BYTES = 8192
_LIMIT_BYTES = 1 << 20  # chosen: thousands of lines, and nothing that a scratch folder feels


class RendererLog:
    """A file that takes the standard output and error of a Blender process.

    Parameters
    ----------
    path : Path
        Is made, or emptied.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # O_APPEND: after a truncation the child goes on at the new end, not at its old offset.
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        self._descriptor = os.open(path, flags, 0o600)

    def fileno(self) -> int:
        """Return the descriptor for the child."""
        return self._descriptor

    def tail(self) -> str:
        """Return the last lines, indented; says so if there are none."""
        size = os.fstat(self._descriptor).st_size
        start = max(0, size - _TAIL_BYTES)
        text = os.pread(self._descriptor, _TAIL_BYTES, start).decode(errors="replace")
        lines = [line for line in text.splitlines() if line.strip()][-_LAST_LINES:]
        return "\n".join(f"    {line}" for line in lines) or "    (it printed nothing)"

    def trim(self) -> None:
        """Empty the file once it is large."""
        if os.fstat(self._descriptor).st_size > _LIMIT_BYTES:
            os.ftruncate(self._descriptor, 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
