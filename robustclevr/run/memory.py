"""Limits on memory: a process that eats too much is ended before the kernel has to choose.

A process enters with its limit; a thread looks at what it and its children hold, ten times a
second, and ends them beyond it. What the kernel did itself is told by its own counter.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from robustclevr.run.limits import usable_memory

_PERIOD_S = 0.1  # chosen: memory fills at some GiB/s, so a limit is exceeded by some hundred MiB
_CHILDREN_PERIOD_S = 2.0  # chosen: looking for children reads the whole table of processes
_USABLE = 0.8
"""Part of a machine's memory that Blender processes may take together. Chosen: the rest is for us,
the page cache and the system."""
_LEAST_BYTES = 2 << 30
"""The limit on a small machine. Chosen: three times what a scene of ten objects takes."""
_VMSTAT = Path("/proc/vmstat")
GIB = 1 << 30


def fair_limit_bytes(share: float) -> int:
    """Return the memory that one process of several may take, of the machine's or the container's.

    Parameters
    ----------
    share : float
        Its part of the machine. (0, 1]
    """
    return max(_LEAST_BYTES, int(_USABLE * usable_memory().limit_bytes * share))


def kernel_kills() -> int:
    """Return how many processes the kernel ended for want of memory; 0 where it does not say."""
    with contextlib.suppress(OSError, ValueError):
        for line in _VMSTAT.read_text(encoding="ascii").splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
    return 0


def offer_to_kernel(pid: int) -> None:
    """Let the kernel end this process first if memory runs out, not the one that waits for it."""
    with contextlib.suppress(OSError):  # not Linux, or the process has ended
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000", encoding="ascii")


class MemoryGuard:
    """Ends a process once it holds more memory than it may.

    Parameters
    ----------
    process : Popen
    limit_bytes : int
        Of resident memory.
    end : callable
        Ends it at once, and its children; harmless when repeated.
    children : bool
        Whether what its children hold counts too.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        limit_bytes: int,
        end: Callable[[], None],
        *,
        children: bool = True,
    ) -> None:
        self.limit_bytes = limit_bytes
        self.exceeded_bytes = 0
        self._process, self._end, self._children = process, end, children
        self._kills = kernel_kills()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)
        self._thread.start()
        offer_to_kernel(process.pid)

    def stop(self) -> None:
        """Watch no longer; harmless when repeated."""
        self._stop.set()
        self._thread.join()

    def explain(self, code: int | None) -> str:
        """Return what memory had to do with the end of the process, or nothing.

        Parameters
        ----------
        code : int or None
            As :class:`subprocess.Popen` has it.
        """
        if self.exceeded_bytes:
            return (
                f"it took {self.exceeded_bytes / GIB:.1f} GiB of memory and may take "
                f"{self.limit_bytes / GIB:.1f}; --memory-limit allows more"
            )
        if code == -signal.SIGKILL and kernel_kills() > self._kills:
            return "probably by the kernel, which ended a process for want of memory meanwhile"
        return ""

    def _watch(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            leader = psutil.Process(self._process.pid)
            family, looked = [leader], time.monotonic()
            while not self._stop.wait(_PERIOD_S):
                if self._children and time.monotonic() - looked > _CHILDREN_PERIOD_S:
                    family, looked = [leader, *leader.children(recursive=True)], time.monotonic()
                held = sum(map(_resident_bytes, family))
                if held > self.limit_bytes:
                    self.exceeded_bytes = held
                    self._end()
                    return


def exit_reason(code: int | None) -> str:
    """Return how a process ended, for a sentence about it.

    Parameters
    ----------
    code : int or None
        As :class:`subprocess.Popen` has it: negative for a signal.
    """
    if code is not None and code < 0:
        names: Sequence[int] = [item.value for item in signal.Signals]
        name = signal.Signals(-code).name if -code in names else f"signal {-code}"
        return f"was ended by {name}"
    return f"ended with exit code {code}"


def _resident_bytes(process: psutil.Process) -> int:
    try:
        resident: int = process.memory_info().rss
    except psutil.Error:
        return 0
    return resident
