"""What the user says to Slurm, ``KEY=VALUE`` each, and what a job asks for because of it.

Settings and the shape of the nodes enter, options of sbatch leave.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robustclevr.errors import Problem, SpecError, suggest
from robustclevr.run.slurm_commands import NodeShape, minutes_of

DEFAULT_MINUTES = 24 * 60
"""Where neither user nor partition sets a limit. Chosen: a task that reaches it is requeued."""

RENDER_CPUS = 2
"""Cores of a task that renders without a GPU: more leave its serial parts idle for longer."""

_KEY = re.compile(r"[a-z][a-z0-9-]*")
_GPU_KEYS = ("gres", "gpus", "gpus-per-node", "gpus-per-task")
# What this program decides; any of them would break how tasks are counted, found or requeued.
_OURS = frozenset(
    {"array", "output", "error", "signal", "requeue", "no-requeue", "nodes", "ntasks", "wait"}
    | {"ntasks-per-node", "open-mode", "chdir", "wrap", "parsable", "gpus-per-task", "hold"}
)
_USUAL = (
    *("partition", "time", "account", "qos", "cpus-per-task", "gres", "mem", "mem-per-cpu"),
    *("gpus-per-node", "constraint", "reservation", "exclude", "nodelist", "nice", "comment"),
)


def settings_from(texts: Sequence[str]) -> dict[str, str]:
    """Read settings.

    Raises
    ------
    SpecError
        For all that are wrong at once.
    """
    settings: dict[str, str] = {}
    problems = []
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip().removeprefix("--").replace("_", "-")
        if not equals or not value.strip() or _KEY.fullmatch(key) is None:
            hint = "write KEY=VALUE, such as partition=gpu"
            problems.append(Problem(f"'{text}' is no setting", file="--slurm", hint=hint))
        elif key in _OURS:
            hint = suggest(key, _USUAL) + ", and others of sbatch"
            message = f"'{key}' is set by robustclevr itself"
            problems.append(Problem(message, file="--slurm", hint=hint))
        else:
            settings[key] = value.strip()
    problems += _wrong_numbers(settings)
    if problems:
        raise SpecError(problems)
    return settings


@dataclass(frozen=True)
class JobShape:
    """What one task of a job asks for.

    Attributes
    ----------
    cpus : int
    minutes : int
        Time limit.
    options : mapping of str to str
        Further options of sbatch.
    """

    cpus: int
    minutes: int
    options: Mapping[str, str]


def job_shape(
    settings: Mapping[str, str],
    nodes: Sequence[NodeShape],
    limit_minutes: int | None,
    *,
    clips: bool,
    device: str,
) -> JobShape:
    """Return what a task asks for: a GPU with its share of the cores, or some cores.

    Parameters
    ----------
    settings : mapping of str to str
        From :func:`settings_from`; they win.
    nodes : sequence of NodeShape
        Of the partition.
    limit_minutes : int or None
        Of the partition.
    clips : bool
        Whether samples are clips or pictures, which one thread makes.
    device : str
        ``auto`` asks for a GPU where the partition has any.
    """
    options = {key: value for key, value in settings.items() if key not in _NOT_PASSED}
    with_gpu = [node for node in nodes if node.gpus]
    asked = any(key in settings for key in _GPU_KEYS)
    wanted = device not in ("auto", "cpu") or (device == "auto" and bool(with_gpu))
    if wanted and not clips and not asked:
        options["gres"] = "gpu:1"
    gpu = not clips and (wanted or asked)
    share = [node.cpus // node.gpus for node in with_gpu] if gpu else []
    cpus = min(share, default=RENDER_CPUS) if not clips else 1
    minutes = minutes_of(settings.get("time", "")) or limit_minutes or DEFAULT_MINUTES
    if "time" not in settings:
        minutes = min(minutes, DEFAULT_MINUTES)
    return JobShape(int(settings.get("cpus-per-task", max(1, cpus))), minutes, options)


_NOT_PASSED = ("cpus-per-task", "time")  # they have parameters of their own


def _wrong_numbers(settings: Mapping[str, str]) -> list[Problem]:
    problems = []
    cpus, time = settings.get("cpus-per-task"), settings.get("time")
    if cpus is not None and not (cpus.isdecimal() and int(cpus) > 0):
        message = f"cpus-per-task={cpus} is no number of cores"
        problems.append(Problem(message, file="--slurm", hint=">= 1"))
    if time is not None and not minutes_of(time):
        hint = "write minutes, hours:minutes:seconds or days-hours, such as 4:00:00"
        problems.append(Problem(f"time={time} is no time limit", file="--slurm", hint=hint))
    return problems
