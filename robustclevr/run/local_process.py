"""One worker process of this machine as the pool sees it: told what to do, watched, ended.

What makes clips, and pictures without Blender, runs the recipes in the worker itself, so it is
watched as a Blender process is: its memory, its output, and the time since it began a sample.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from multiprocessing import Pipe

from robustclevr.run.alarm import IN_PROCESS_LIMIT_S
from robustclevr.run.job import Job, ShardOrder
from robustclevr.run.makers import holds_clips, renders_scenes
from robustclevr.run.memory import MemoryGuard, exit_reason
from robustclevr.run.renderer_log import RendererLog
from robustclevr.run.scratch import make_scratch
from robustclevr.run.seats import Seat

# A fresh interpreter, and not multiprocessing's: that one runs the caller's main module again,
# which a notebook or a script without a guard does not survive.
_WORKER_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from robustclevr.run.local_worker import main; main(*map(int, sys.argv[2:]))"
)
# Each core has a worker that makes clips: numpy's own threads would only stand in its way.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_STOP_TIMEOUT_S = 15.0  # chosen: a worker ends as soon as its file is written
_STACK_WAIT_S = 0.5  # chosen: a stack is written in milliseconds


class LocalProcess:
    """A worker process, and what it is at.

    Parameters
    ----------
    job : Job
    memory_limit_bytes : int
        Of its resident memory; its Blender has a limit of its own.
    seat : Seat
        Its part of the machine, which ``job.renderer`` tells it; for whoever comes after it.
    """

    def __init__(self, job: Job, memory_limit_bytes: int, seat: Seat) -> None:
        self.seat = seat
        self.order: ShardOrder | None = None
        self._sample: int | None = None
        self._began_s = 0.0
        self._hung = ""
        # A worker whose Blender hangs hears of it and tells; only what runs in it can hang it.
        in_process = not renders_scenes(job.splits)
        limit_s = job.sample_timeout_s or IN_PROCESS_LIMIT_S
        # It keeps to the limit itself as long as it can: each try, and the start of each Blender.
        self._limit_s = (job.retries + 2) * limit_s + _STOP_TIMEOUT_S if in_process else None
        self.pipe, theirs = Pipe()
        self._scratch = make_scratch()
        self._log = RendererLog(self._scratch / "worker.log")
        command = [sys.executable, "-c", _WORKER_CODE, json.dumps(sys.path)]
        with theirs:
            self.process = subprocess.Popen(
                [*command, str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log.fileno(),
                stderr=self._log.fileno(),
                env={**_ONE_THREAD, **os.environ} if holds_clips(job.splits) else None,
            )
        self._guard = (
            MemoryGuard(self.process, memory_limit_bytes, self.process.kill, children=False)
            if in_process
            else None
        )
        self._tell(job)

    @property
    def sample(self) -> int | None:
        """The sample that it is at."""
        return self._sample

    def give(self, order: ShardOrder) -> None:
        """Tell it to make a shard."""
        self.order = order
        self.rest()
        self._tell(order)

    def begin(self, sample: int) -> None:
        """Take note that it began a sample."""
        self._sample, self._began_s = sample, time.monotonic()
        self._log.mark()

    def rest(self) -> None:
        """Take note that its sample is done, one way or the other."""
        self._sample = None

    def overdue_in_s(self) -> float | None:
        """Return the time left for its sample; None if nobody counts."""
        if self._sample is None or self._limit_s is None:
            return None
        return self._began_s + self._limit_s - time.monotonic()

    def end_if_overdue(self) -> None:
        """End it if its sample takes too long; its pipe closes then, as by any other death."""
        left_s = self.overdue_in_s()
        if left_s is None or left_s > 0 or self._hung:
            return
        self._hung = f"was still at it after {self._limit_s:g} s and had to be ended"
        self._log.mark()
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGUSR2)  # see local_worker.py
        time.sleep(_STACK_WAIT_S)
        self.process.kill()

    def dismiss(self) -> None:
        """Let it finish and end."""
        self._tell(None)
        self.wait(_STOP_TIMEOUT_S)
        self.end()

    def wait(self, limit_s: float) -> None:
        """Wait for its end, but not for ever."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, limit_s))

    def end(self) -> None:
        """End it at once; harmless when repeated."""
        self.process.kill()
        self.process.wait()
        if self._guard is not None:
            self._guard.stop()
        self.pipe.close()
        if self._scratch.is_dir():
            self._log.close()
            shutil.rmtree(self._scratch, ignore_errors=True)

    def obituary(self) -> tuple[str, str]:
        """Wait for a process that closed its pipe; return why it ended, and its last words."""
        self.wait(_STOP_TIMEOUT_S)
        code = self.process.poll()
        frames = self._log.frames() if self._hung else ""
        tail = f"    it was at\n{frames}" if frames else self._log.tail()
        cause = self._guard.explain(code) if self._guard is not None else ""
        how = self._hung or exit_reason(code)
        reason = f"the worker process that made it {how}"
        return f"{reason}: {cause}" if cause else reason, tail

    def _tell(self, message: object) -> None:
        with contextlib.suppress(OSError):  # a dead worker is noticed when one listens
            self.pipe.send(message)
