"""What submitit runs in each task of a Slurm job."""

from __future__ import annotations

from typing import Any

from robustclevr.run.interrupts import terminate_like_interrupt
from robustclevr.run.node_task import NodeTask, Report


class MakeInJob:
    """Makes the shards of a node task, and goes on with them when Slurm starts it anew."""

    def __call__(self, task: NodeTask) -> Report:
        """Make the shards.

        On SIGTERM (cancelled, preempted, requeued) the Blender process ends and the lease is
        given back at once, before Slurm kills what is left.
        """
        with terminate_like_interrupt():
            return task()

    def checkpoint(self, task: NodeTask) -> Any:
        """Return what is to run after a requeue: the same, since what is finished is on the disk.

        submitit calls it, and has the job requeued, on its signal that comes before the time
        limit.
        """
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, task)
