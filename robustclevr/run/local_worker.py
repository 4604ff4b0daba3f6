"""The life of one local worker process."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import signal
import sys
from multiprocessing.connection import Connection
from types import FrameType

from robustclevr.run.job import Fatal
from robustclevr.run.seats import keep_to
from robustclevr.run.work import ShardWorker

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main(descriptor: int, parent: int) -> None:
    """Make the shards that come over a pipe until None comes, a signal, or the parent's end.

    First a :class:`Job` comes in, then orders; events, outcomes, or one :class:`Fatal` go out.

    Parameters
    ----------
    descriptor : int
        Our end of the pipe.
    parent : int
        Process id of the other end.
    """
    # Ctrl-C reaches the whole process group; the parent decides and sends SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _interrupt)
    # Whoever waits in vain asks with it where we are.
    faulthandler.register(signal.SIGUSR2, all_threads=False)
    die_with_parent(parent)
    pipe = Connection(descriptor)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError, EOFError):
        try:
            job = pipe.recv()
            keep_to(job.renderer.cores)
            with ShardWorker(job, pipe.send) as worker:
                while (order := pipe.recv()) is not None:
                    pipe.send(worker.execute(order))
        except (BrokenPipeError, EOFError):
            raise
        except Exception as error:  # noqa: BLE001 - the parent reports it, with its traceback
            pipe.send(Fatal.of(error))
        finally:
            # We end anyway; a late signal must not interrupt the interpreter's own clearing up.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)


def die_with_parent(parent: int) -> None:
    """Ask the kernel to send SIGTERM when the parent ends, even by SIGKILL; Linux only.

    Parameters
    ----------
    parent : int
        Its process id.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it ended before we asked
        raise SystemExit(1)


def _interrupt(_signum: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
