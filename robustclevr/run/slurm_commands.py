"""What Slurm is asked on the command line: what its nodes have, and how jobs are.

Texts of ``sinfo`` and ``squeue`` enter, numbers and states leave. Neither needs Slurm's
accounting, which small clusters do without (``sacct``, submitit's own source, does).
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robustclevr.errors import SetupError

_GPUS = re.compile(r"\bgpu(?::[\w.-]+)?:(\d+)")
_TIMEOUT_S = 60.0

# Of a job that runs, or will (squeue(1), JOB STATE CODES).
_ACTIVE = frozenset(
    {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"}
    | {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"}
)
# minutes[:seconds], hours:minutes:seconds, days-hours[:minutes[:seconds]] (sbatch(1), --time)
_TIME = re.compile(r"(?:(?P<days>\d+)-)?(?P<clock>\d+(?::\d+){0,2})")


@dataclass(frozen=True)
class NodeShape:
    """What a node has.

    Attributes
    ----------
    cpus, gpus : int
    """

    cpus: int
    gpus: int


def require_commands() -> None:
    """Raise SetupError where Slurm's commands are not there."""
    missing = [name for name in ("sbatch", "srun", "squeue", "scancel") if not shutil.which(name)]
    if missing:
        raise SetupError(
            f"--backend slurm runs {missing[0]}, which is not on this machine; give the command on "
            "a machine that submits to the cluster, or start each job by itself with --shards i/n"
        )


def node_shapes(partition: str | None) -> tuple[NodeShape, ...]:
    """Return the shapes of the nodes of a partition, or of all; none where Slurm does not tell."""
    where = ["--partition", partition] if partition else []
    lines = _output(["sinfo", "--noheader", "--format", "%c|%G", *where]).splitlines()
    return tuple(shape for line in lines if (shape := _shape(line)) is not None)


def partition_minutes(partition: str | None) -> int | None:
    """Return how long a job may run in a partition, or in any; None where Slurm does not tell."""
    where = ["--partition", partition] if partition else []
    lines = _output(["sinfo", "--noheader", "--format", "%l", *where]).split()
    limits = [minutes for line in lines if (minutes := minutes_of(line)) is not None]
    return min(limits, default=None)


def minutes_of(text: str) -> int | None:
    """Return a time limit in whole minutes, rounded up; None if it is none, or not understood.

    Examples
    --------
    >>> minutes_of("90"), minutes_of("1:30"), minutes_of("2:00:00"), minutes_of("1-12")
    (90, 2, 120, 2160)
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    days, parts = match["days"], [int(part) for part in match["clock"].split(":")]
    if days is not None or len(parts) == 3:  # [days-]hours[:minutes[:seconds]]
        hours, minutes, seconds = [*parts, 0, 0][:3]
    else:  # minutes[:seconds]
        hours, minutes, seconds = 0, *[*parts, 0][:2]
    return int(days or 0) * 24 * 60 + hours * 60 + minutes + (seconds > 0)


@dataclass(frozen=True)
class JobState:
    """How one element of a job array is.

    Attributes
    ----------
    state : str
        As squeue(1) names it, such as ``RUNNING``.
    reason : str
        Why it waits, such as ``Resources``.
    """

    state: str
    reason: str

    @property
    def active(self) -> bool:
        """True if it runs, or will."""
        return self.state in _ACTIVE

    @property
    def cancelled(self) -> bool:
        """True if a person ended it."""
        return self.state == "CANCELLED"


def job_states(job_id: str) -> Mapping[int, JobState] | None:
    """Return how each element of a job array is, by its index, as far as Slurm still knows.

    None where Slurm does not answer, as when its controller is restarted.
    """
    command = ["squeue", "--noheader", "--array", "--states", "all", "--jobs", job_id]
    finished = _run([*command, "--format", "%i|%T|%r"])
    if finished is None:
        return None
    if finished.returncode != 0:
        # Slurm forgets jobs some minutes after their end (slurm.conf(5), MinJobAge).
        return {} if "Invalid job id" in finished.stderr else None
    lines = (line.strip().split("|", 2) for line in finished.stdout.splitlines())
    return {_element(line[0]): JobState(*line[1:]) for line in lines if len(line) == 3}


def cancel_job(job_id: str) -> None:
    """Cancel all elements of a job."""
    _run(["scancel", job_id])


def _element(name: str) -> int:
    """Return the index at the end of ``17_3``; 0 for a job that is no array."""
    _, _, index = name.partition("_")
    return int(index) if index.isdecimal() else 0


def _shape(line: str) -> NodeShape | None:
    cpus, _, gres = line.partition("|")
    digits = re.match(r"\d+", cpus.strip())
    if digits is None:
        return None
    return NodeShape(int(digits[0]), sum(int(count) for count in _GPUS.findall(gres)))


def _output(command: Sequence[str]) -> str:
    finished = _run(command)
    return finished.stdout if finished is not None and finished.returncode == 0 else ""


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
