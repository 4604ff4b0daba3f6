"""The Slurm back end: a job array, each task of which makes a part of the shards.

submitit writes and submits the job. This process waits, and reads from files how far it is. Where
a task is preempted, or its time runs out, Slurm starts it anew, and it goes on from parked samples
and finished shards.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from robustclevr.errors import SetupError
from robustclevr.run.cores import require_positive
from robustclevr.run.interrupts import terminate_like_interrupt
from robustclevr.run.job import Job, Notice, OnEvent, SampleFailure, ShardOrder
from robustclevr.run.job_logs import new_job_logs
from robustclevr.run.renderer_command import RendererCommand
from robustclevr.run.shards import ShardTask
from robustclevr.run.slurm_commands import (
    node_shapes,
    partition_minutes,
    require_commands,
)
from robustclevr.run.slurm_jobs import SlurmRun
from robustclevr.run.slurm_settings import JobShape, job_shape, settings_from

INSTALL_LINE = "pip install 'robustclevr[slurm]'"

DEFAULT_TASKS = 64
"""Tasks of an array at most, where the user does not say. Chosen: below every usual limit."""

_SIGNAL_S = 60  # before the time limit; chosen: a task ends within seconds
_MAX_TIMEOUTS = 1000  # times a task may reach its limit; each time it has made samples before


class SlurmBackend:
    """See :class:`robustclevr.run.backends.Backend`; jobs end with :meth:`run`.

    Parameters
    ----------
    submitit : module
    settings : mapping of str to str
        Options of sbatch.
    """

    def __init__(self, submitit: Any, settings: dict[str, str]) -> None:
        self._submitit, self._settings = submitit, settings
        self._shape = JobShape(1, 1, {})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def share(
        self,
        workers: int | None,
        shards: int,
        *,
        clips: bool,
        device: str,
        command: RendererCommand,  # noqa: ARG002 - each node finds its own devices
    ) -> tuple[int, int]:
        """Return how many tasks the array has, and the cores of each."""
        require_positive(workers)
        partition = self._settings.get("partition")
        self._shape = job_shape(
            self._settings,
            node_shapes(partition),
            partition_minutes(partition),
            clips=clips,
            device=device,
        )
        return max(1, min(workers or DEFAULT_TASKS, shards)), self._shape.cpus

    def run(
        self, tasks: Sequence[ShardTask], job: Job, *, workers: int, on_event: OnEvent
    ) -> tuple[SampleFailure, ...]:
        """Make shards with a job array, and wait for it."""
        logs = new_job_logs(job.layout)
        run = SlurmRun(self._executor(logs), logs, job, on_event)
        with terminate_like_interrupt():
            try:
                run.submit(_stripes(tasks, workers))
                run.wait()
            except KeyboardInterrupt:
                run.cancel()
                shutil.rmtree(logs, ignore_errors=True)
                raise
            except BaseException as error:
                run.cancel()
                error.add_note(f"logs of the job: {logs}")
                raise
        if run.clean:
            shutil.rmtree(logs, ignore_errors=True)
        else:
            on_event(Notice(f"the logs of the job are kept in {logs}"))
        return tuple(run.failures)

    def _executor(self, logs: Path) -> Any:
        executor = self._submitit.SlurmExecutor(folder=logs, max_num_timeout=_MAX_TIMEOUTS)
        executor.update_parameters(
            job_name="robustclevr",
            time=self._shape.minutes,
            cpus_per_task=self._shape.cpus,
            signal_delay_s=_SIGNAL_S,
            stderr_to_stdout=True,
            # Slurm itself requeues what it preempts, and what a lost node ran.
            additional_parameters={"requeue": True, **self._shape.options},
        )
        return executor


def _stripes(tasks: Sequence[ShardTask], parts: int) -> list[list[ShardOrder]]:
    """Return the shards dealt out like cards, so that the parts take alike long."""
    return [[ShardOrder(task) for task in tasks[part::parts]] for part in range(parts)]


def backend(settings: Sequence[str]) -> SlurmBackend:
    """Return the Slurm back end.

    Raises
    ------
    SetupError
        If submitit is not installed, or Slurm's commands are not on this machine.
    SpecError
        If a setting is not understood.
    """
    understood = settings_from(settings)
    try:
        import submitit
    except ImportError as error:
        raise SetupError(
            f"--backend slurm needs submitit; install it with:\n    {INSTALL_LINE}"
        ) from error
    require_commands()
    return SlurmBackend(submitit, understood)
