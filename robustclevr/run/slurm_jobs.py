"""The jobs of one run on a Slurm cluster: submitted, watched, submitted again where they are lost.

Results and events come from files; Slurm is asked for states only now and then, to find tasks
that ended without a result.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustclevr.errors import RobustClevrError, SetupError
from robustclevr.run.job import Job, Notice, OnEvent, SampleFailure, ShardOrder
from robustclevr.run.job_logs import last_words
from robustclevr.run.local import revived
from robustclevr.run.node_task import NodeTask, Report
from robustclevr.run.slurm_commands import JobState, cancel_job, job_states
from robustclevr.run.slurm_task import MakeInJob
from robustclevr.run.watched import Losses, Watched

_POLL_S = 1.0
_STATES_EVERY_S = 10.0  # chosen: what asks Slurm's controller seldom enough
_GRACE_S = 40.0  # chosen: a requeue by hand, or a slow network disk that shows a result late
_CANCEL_TIMEOUT_S = 40.0  # slurm.conf(5), KillWait: 30 s from SIGTERM to SIGKILL
_EXPECTED_REASONS = frozenset({"None", "Priority", "Resources", "BeginTime", ""})


@dataclass
class _Element:
    """One task of a job array."""

    job: Any
    watched: Watched
    gone_since: float | None = None

    @property
    def job_id(self) -> str:
        """Of the whole array."""
        whole: str = self.job.job_id
        return whole.partition("_")[0]

    @property
    def index(self) -> int:
        """In the array."""
        _, _, index = str(self.job.job_id).partition("_")
        return int(index or 0)

    @property
    def has_result(self) -> bool:
        """True if the task came to an end."""
        found: bool = self.job.paths.result_pickle.exists()
        return found

    def __str__(self) -> str:
        return f"task {self.index} of Slurm job {self.job_id}"


class SlurmRun:
    """The jobs of one run.

    Parameters
    ----------
    executor : submitit.SlurmExecutor
    logs : Path
        Folder of the jobs' logs and results.
    job : Job
    on_event : callable
    """

    def __init__(self, executor: Any, logs: Path, job: Job, on_event: OnEvent) -> None:
        self._executor, self._logs, self._job, self._on_event = executor, logs, job, on_event
        self._losses = Losses(on_event)
        self._elements: list[_Element] = []
        self._failures: list[SampleFailure] = []
        self._reasons: set[tuple[str, str]] = set()
        self._gave_up = False

    @property
    def failures(self) -> list[SampleFailure]:
        """Samples that could not be made."""
        return [*self._failures, *self._losses.failures]

    @property
    def clean(self) -> bool:
        """True if nobody needs the logs."""
        return not self.failures and not self._gave_up

    def submit(self, stripes: Sequence[Sequence[ShardOrder]]) -> None:
        """Submit an array with a task for each part of the shards.

        Raises
        ------
        SetupError
            If Slurm refuses it; says why.
        """
        tasks = [
            NodeTask.of(self._job, orders, f"slurm-{number}", wait_for_leases=True)
            for number, orders in enumerate(stripes)
        ]
        self._executor.update_parameters(array_parallelism=len(tasks))
        try:
            with contextlib.redirect_stderr(io.StringIO()):  # submitit prints what it raises
                jobs = self._executor.map_array(MakeInJob(), tasks)
        except (RuntimeError, OSError) as error:
            raise SetupError(f"Slurm refused the job: {error}; see --slurm") from error
        added = [
            _Element(job, Watched(task, self._on_event))
            for job, task in zip(jobs, tasks, strict=True)
        ]
        self._elements += added
        text = f"Slurm job {added[0].job_id}: tasks: {len(added)}, logs: {self._logs}"
        self._on_event(Notice(text))

    def wait(self) -> None:
        """Wait until no task is left."""
        asked = time.monotonic()
        while self._elements:
            for element in list(self._elements):
                element.watched.listen()
                if element.has_result:
                    self._settle(element)
            if time.monotonic() - asked >= _STATES_EVERY_S:
                self._look_after()
                asked = time.monotonic()
            if self._elements:
                time.sleep(_POLL_S)

    def cancel(self) -> None:
        """Cancel what runs, and wait until it has let go of its shards."""
        waiting = {element.job_id for element in self._elements}
        for job_id in sorted(waiting):
            cancel_job(job_id)
            self._on_event(Notice(f"cancelled Slurm job {job_id}"))
        deadline = time.monotonic() + _CANCEL_TIMEOUT_S
        while waiting and time.monotonic() < deadline:
            waiting = {job_id for job_id in waiting if _any_active(job_id)}
            if waiting:
                time.sleep(_POLL_S)
        for element in self._elements:
            element.watched.close()

    def _settle(self, element: _Element) -> None:
        self._drop(element)
        try:
            report = element.job.result()
        except Exception as error:  # noqa: BLE001 - whatever was raised there, as submitit has it
            self._lost(element, str(error).strip().splitlines()[-1])
            return
        if not isinstance(report, Report):
            raise RobustClevrError(f"{element} answered {report!r}")
        if report.fatal is not None:
            raise revived(report.fatal)
        for outcome in report.outcomes:
            self._failures.extend(outcome.failures)
            self._gave_up = self._gave_up or outcome.gave_up

    def _look_after(self) -> None:
        """Find tasks that ended without a result."""
        known = {job_id: job_states(job_id) for job_id in {e.job_id for e in self._elements}}
        for element in list(self._elements):
            states = known[element.job_id]
            if states is not None and not element.has_result:
                self._judge(element, states.get(element.index))

    def _judge(self, element: _Element, state: JobState | None) -> None:
        if state is not None and state.active:
            element.gone_since = None
            self._explain(element, state)
            return
        element.gone_since = element.gone_since or time.monotonic()
        if time.monotonic() - element.gone_since < _GRACE_S:
            return
        self._drop(element)
        if state is not None and state.cancelled:
            self._gave_up = True
            self._on_event(Notice(f"{element} was cancelled; its shards are left"))
        else:
            self._lost(element, "ended as " + (state.state if state else "one that is forgotten"))

    def _lost(self, element: _Element, reason: str) -> None:
        tail = last_words(element.job.paths.stdout)
        if not tail:
            reason += f"; it left no log: do the nodes of the cluster share {self._job.root}?"
        orders = self._losses.after(element.watched, f"{element} {reason}")
        if tail:
            self._on_event(Notice(f"the last lines of {element}:\n{tail}"))
        if orders:
            self.submit([orders])

    def _explain(self, element: _Element, state: JobState) -> None:
        """Say once why a job waits, unless it is for its turn."""
        key = (element.job_id, state.reason)
        if state.state == "PENDING" and state.reason not in _EXPECTED_REASONS | {
            "JobArrayTaskLimit"
        }:
            if key not in self._reasons:
                self._on_event(Notice(f"Slurm job {element.job_id} waits: {state.reason}"))
            self._reasons.add(key)

    def _drop(self, element: _Element) -> None:
        element.watched.close()
        self._elements.remove(element)


def _any_active(job_id: str) -> bool:
    states = job_states(job_id)
    return states is None or any(state.active for state in states.values())
