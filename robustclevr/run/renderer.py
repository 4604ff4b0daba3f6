"""The one Blender of a worker: started when first needed, replaced when it is worn or dead."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from robustclevr.errors import RobustClevrError
from robustclevr.run.blender_process import BlenderProcess
from robustclevr.run.job import Job

MAX_DEATHS = 3
"""Blender processes that may die one after the other before a worker gives up. Chosen."""


class GaveUpError(RobustClevrError):
    """The renderer died too often in a row."""


class Renderer:
    """Owns at most one Blender process and counts deaths in a row; a context manager.

    Parameters
    ----------
    job : Job
        Says how Blender is started, and when a process is worn.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._process: BlenderProcess | None = None
        self._deaths = 0

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
        """The process, dead or alive; None before the first is started."""
        return self._process

    @property
    def died(self) -> bool:
        """True if the process is gone though nobody closed it."""
        return self._process is not None and not self._process.alive

    @property
    def given_up(self) -> bool:
        """True after :data:`MAX_DEATHS` deaths in a row."""
        return self._deaths >= MAX_DEATHS

    def ready(self) -> tuple[BlenderProcess, float]:
        """Return a living process, fresh where need be, and how long starting it took. [s].

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
        self._process = BlenderProcess(self._job.renderer, timeout_s=self._job.sample_timeout_s)
        return self._process, self._process.startup_s

    def count(self, *, died: bool) -> None:
        """Note how a sample ended: a death adds to those in a row, anything else ends the row."""
        self._deaths = self._deaths + 1 if died else 0

    def require_hope(self) -> None:
        """Raise GaveUpError if Blender died too often in a row."""
        if self.given_up:
            raise GaveUpError(f"Blender died {self._deaths} times in a row")

    def _is_worn(self, process: BlenderProcess) -> bool:
        return (
            process.rendered >= self._job.recycle_after
            or process.rss_bytes > self._job.recycle_rss_bytes
        )
