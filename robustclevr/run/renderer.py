"""The one Blender of a worker: started when first needed, replaced when it is worn or dead.

Here it is decided what is tried again: a RenderError says that there is no picture, not that the
sample is wrong, so a fresh process gets another chance at it. What a recipe or the sampler raises
would come out the same each time and is not tried again. Seeds stand in the Plan, so the pixels
do not tell how many tries they took.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from robustclevr.errors import RendererLostError, RenderError, RobustClevrError
from robustclevr.records import Retry
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.run.job import Job, OnEvent, SampleFailure, SampleRetried

MAX_LOST = 3
"""Samples that may be lost to dead renderers one after the other before it is asked whether the
renderer can still make plain ones. Chosen: as many are hardly an accident, and each may have taken
its whole time limit."""

ON_CPU = "next on the CPU"
"""What follows the loss of a GPU with ``--on-device-loss cpu``; stands in receipts. Where that
gives a picture the GPU was at fault and the worker leaves it; where not, the sample was."""

T = TypeVar("T")


class GaveUpError(RobustClevrError):
    """The renderer died on too many samples in a row."""


class Attempts:
    """The tries at one sample.

    Parameters
    ----------
    split, index : str, int
        The sample.
    limit : int
        Tries after the first, >= 0.
    on_event : callable
        Hears of each that fails and is not the last.
    """

    def __init__(self, split: str, index: int, limit: int, on_event: OnEvent) -> None:
        self.retries: list[Retry] = []
        self._split, self._index = split, index
        self._limit, self._on_event = limit, on_event

    def again(self, error: RenderError) -> bool:
        """Take note of a try that failed; return whether there is another."""
        if len(self.retries) >= self._limit:
            return False
        self.grant(error)
        return True

    def grant(self, error: RenderError, consequence: str = "") -> None:
        """Take note of a try that failed, and of what is done about it: there is another."""
        reason = "; ".join(filter(None, (reason_of(error), consequence)))
        retry = Retry(self._index, len(self.retries) + 1, reason)
        self.retries.append(retry)
        self._on_event(SampleRetried(self._split, retry, tail_of(error)))

    def failure(self, error: RobustClevrError) -> SampleFailure:
        """Return the sample's failure, for an error that ended its last try."""
        reason = error.reason if isinstance(error, RendererLostError) else str(error)
        tries = len(self.retries) + 1
        return SampleFailure(self._split, self._index, reason, tail_of(error), tries)


class Renderer:
    """Owns at most one Blender process and counts samples lost in a row; a context manager.

    Parameters
    ----------
    job : Job
        Says how Blender is started, when a process is worn, and how often a sample is tried.
    on_event : callable
        Hears of tries that failed.
    """

    def __init__(self, job: Job, on_event: OnEvent) -> None:
        self._job, self._on_event = job, on_event
        self._setup = job.renderer
        self._left: RendererSetup | None = None
        self._process: BlenderProcess | None = None
        self._lost = 0
        self._remedy = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        process, self._process = self._process, None
        if process is not None and kind is None:
            process.close()
        elif process is not None:
            process.kill()

    @property
    def process(self) -> BlenderProcess | None:
        """The process, dead or alive; None where none is running."""
        return self._process

    def attempts(self, split: str, index: int) -> Attempts:
        """Return the tries that a sample gets."""
        return Attempts(split, index, self._job.retries, self._on_event)

    def ready(self) -> tuple[BlenderProcess, float]:
        """Return a process, fresh where need be, and how long starting it took. [s].

        Raises
        ------
        SetupError
            If there is no Blender.
        RenderError
            If it dies or hangs while starting.
        """
        process = self._process
        if process is not None and (not process.alive or self._is_worn(process)):
            self._process = None
            process.close()
        if self._process is not None:
            return self._process, 0.0
        self._process = BlenderProcess(self._setup, timeout_s=self._job.sample_timeout_s)
        # Its successors render on the same device: another one would be a device lost unnoticed.
        self._setup = self._setup.on(self._process.gpu)
        return self._process, self._process.startup_s

    def persist(self, attempts: Attempts, work: Callable[[], T]) -> T:
        """Do a sample's work; again, on a fresh process, while it fails and tries are left.

        Parameters
        ----------
        attempts : Attempts
        work : callable
            Takes a process from :meth:`ready` each time.

        Raises
        ------
        RobustClevrError
            What the last try raised.
        """
        while True:
            try:
                result = work()
            except RenderError as error:
                lost = isinstance(error, RendererLostError)
                self.discard()
                if attempts.again(error) or self._left_gpu(attempts, error):
                    continue
                self._lost = self._lost + 1 if lost else 0
                self._return_to_gpu()
                raise
            except RobustClevrError:
                self._lost = 0
                self._return_to_gpu()
                raise
            self._lost, self._left = 0, None
            return result

    def reassure(self, work: Callable[[], object]) -> None:
        """Find out who is to blame after one loss too many: the samples, or the renderer.

        Where the renderer can still do plain work, its losses are forgotten; where not, they stand
        and :meth:`require_hope` will say so.

        Parameters
        ----------
        work : callable
            Uses it without any recipe.
        """
        if self._lost < MAX_LOST:
            return
        try:
            work()
        except RobustClevrError:
            self.discard()
        else:
            self._lost = 0

    def discard(self) -> None:
        """End the process, so that the next sample gets a fresh one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def require_hope(self) -> None:
        """Raise GaveUpError if Blender died on too many samples in a row."""
        if self._lost >= MAX_LOST:
            raise GaveUpError(
                f"Blender died on {self._lost} samples in a row, and on a plain one; this worker "
                "takes no more"
                f"{self._remedy}"
            )

    def _left_gpu(self, attempts: Attempts, error: RenderError) -> bool:
        """Try a sample on the processor that no try on the GPU survived, if the user wants that."""
        if not isinstance(error, RendererLostError) or self._setup.device == "cpu":
            return False
        if self._job.on_device_loss != "cpu":
            self._remedy = "; with --on-device-loss cpu it would go on on the CPU"
            return False
        attempts.grant(error, ON_CPU)
        self._left, self._setup = self._setup, self._setup.on(None)
        return True

    def _return_to_gpu(self) -> None:
        """Take up what was left for the processor, which could not make the sample either."""
        if self._left is not None:
            self._setup, self._left = self._left, None
            self.discard()

    def _is_worn(self, process: BlenderProcess) -> bool:
        return (
            process.rendered >= self._job.recycle_after
            or process.rss_bytes > self._job.recycle_rss_bytes
        )


def reason_of(error: RobustClevrError) -> str:
    """Return why a try failed, in one line."""
    if isinstance(error, RendererLostError):
        return error.reason
    return str(error).partition("\n")[0]


def tail_of(error: RobustClevrError) -> str:
    """Return the last lines of the renderer that an error knows of."""
    return error.tail if isinstance(error, RendererLostError) else ""
