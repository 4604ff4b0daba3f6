"""The output of a process of ours: kept in a file, shown when it dies, cut before it grows.

Blender reports some errors on it and goes on, with a picture that lacks a texture or was never
finished; so it is also searched for such lines after every picture.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from robustclevr.run.device_loss import DEVICE_LOSS

_LAST_LINES = 6
_FRAMES = 3
_TAIL_BYTES = 8192
_LIMIT_BYTES = 1 << 20  # chosen: thousands of lines, and nothing that a scratch folder feels

_DISTRUST = re.compile(
    r"^\s*Error:"  # reports of Blender's operators (BKE_report), "Error: …"
    r"|^ERROR \("  # its logger up to 4.5, "ERROR (bke.image): …"
    r"|\|\s*ERROR\s"  # and from 5.0 on, "00:01.234  bke.image | ERROR …"
    rf"|{DEVICE_LOSS}"
)
"""What Blender prints about an error after which it returns as if nothing had happened."""
_FRAME = re.compile(r'^  File ".*$', re.MULTILINE)


class RendererLog:
    """A file that takes the standard output and error of a process.

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
        self._mark = 0

    def fileno(self) -> int:
        """Return the descriptor for the child."""
        return self._descriptor

    def tail(self) -> str:
        """Return the last lines, indented; says so if there are none."""
        lines = [line for line in self._text(0).splitlines() if line.strip()][-_LAST_LINES:]
        return "\n".join(f"    {line}" for line in lines) or "    (it printed nothing)"

    def mark(self) -> None:
        """Look only at what is printed from now on; empty the file where it is large."""
        if self._size() > _LIMIT_BYTES:
            os.ftruncate(self._descriptor, 0)
        self._mark = self._size()

    def distrust(self) -> str:
        """Return the first line since the mark that says that a picture cannot be trusted."""
        lines = self._text(self._mark).splitlines()
        return next((line.strip() for line in lines if _DISTRUST.search(line)), "")

    def frames(self) -> str:
        """Return where the process was when it was asked, innermost first; empty if unknown.

        It must have been told to write its Python stack here, as ``faulthandler`` does.
        """
        found = _FRAME.findall(self._text(self._mark))[:_FRAMES]
        return "\n".join(f"    {frame.strip()}" for frame in found)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def _text(self, start: int) -> str:
        start = max(start, self._size() - _TAIL_BYTES)
        return os.pread(self._descriptor, _TAIL_BYTES, start).decode(errors="replace")
