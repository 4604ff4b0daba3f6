"""A limit on the time that code of a recipe may take in this very process."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

IN_PROCESS_LIMIT_S = 600.0
"""For one clip or picture that is made without Blender. Chosen: a thousand times what they take."""


@contextmanager
def time_limit(limit_s: float) -> Iterator[None]:
    """Raise TimeoutError within the block once it has taken too long, where Python is at work.

    Parameters
    ----------
    limit_s : float
        [s], > 0.

    Raises
    ------
    TimeoutError
        In the code that takes so long; names its file and line.

    Notes
    -----
    Without effect outside the main thread, and as long as a single call of compiled code lasts:
    who waits for this process must be ready to end it.
    """

    def overdue(_signum: int, frame: FrameType | None) -> None:
        where = "" if frame is None else f" at {frame.f_code.co_filename}:{frame.f_lineno}"
        raise TimeoutError(f"was still{where} after {limit_s:g} s")

    try:
        before = signal.signal(signal.SIGALRM, overdue)
    except ValueError:  # not the main thread
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
