"""Where shards are made: on this machine, by a Ray cluster, by Slurm jobs.

A name enters, the back end of that name leaves. A module of this package that has a function
``backend`` is a back end, and nothing else lists it: adding one is adding a file. Its library is
imported by ``backend`` and not before.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self, cast

from robustclevr.errors import SpecError, suggest
from robustclevr.run.job import Job, OnEvent, SampleFailure
from robustclevr.run.renderer_command import RendererCommand
from robustclevr.run.shards import ShardTask


class Backend(Protocol):
    """Makes shards somewhere; a context manager that lets go of what it holds there.

    Whatever it does, :func:`robustclevr.run.work.execute_shard` or its like makes each shard, on
    the folder that the job names: leases keep two workers from one shard, and the receipt says
    that a shard is done. So a back end may start a shard anew whenever it has lost sight of it.
    """

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def share(
        self,
        workers: int | None,
        shards: int,
        *,
        clips: bool,
        device: str,
        command: RendererCommand,
    ) -> tuple[int, int]:
        """Return how many workers run at once, and how many threads each gives Blender.

        Parameters
        ----------
        workers : int or None
            As asked for.
        shards : int
            A worker needs one.
        clips : bool
            Whether samples are clips or pictures, which one thread makes.
        device : str
            ``auto``, ``cpu`` or a GPU back end of Blender.
        command : RendererCommand
            The Blender that knows what there is on this machine.

        Raises
        ------
        SpecError
            If ``workers`` is not positive.
        SetupError
            If the back end cannot be reached, or the device is not here.
        """

    def run(
        self, tasks: Sequence[ShardTask], job: Job, *, workers: int, on_event: OnEvent
    ) -> tuple[SampleFailure, ...]:
        """Make shards; return the samples that could not be made.

        Raises
        ------
        StoreError, SetupError
            What stops everything.
        KeyboardInterrupt
            On SIGINT and SIGTERM, after all that was started has ended.
        """


class BackendModule(Protocol):
    """What a module of this package offers."""

    def backend(self, settings: Sequence[str]) -> Backend:
        """Return the back end.

        Parameters
        ----------
        settings : sequence of str
            ``KEY=VALUE`` each, as the user wrote them.

        Raises
        ------
        SetupError
            If its library is missing; says how to install it.
        SpecError
            If a setting is not understood.
        """


def backend_names() -> tuple[str, ...]:
    """Return the names that ``--backend`` takes, sorted; none is imported."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def load_backend(name: str, settings: Sequence[str] = ()) -> Backend:
    """Return a back end by name.

    Parameters
    ----------
    name : str
        One of :func:`backend_names`.
    settings : sequence of str
        ``KEY=VALUE`` each; only ``slurm`` takes any.

    Raises
    ------
    SpecError
        If there is none of that name (says the nearest one), or it does not take the settings.
    SetupError
        If its library is missing; says how to install it.
    """
    if name not in backend_names():
        raise SpecError.single(
            f"unknown back end '{name}'", file="--backend", hint=suggest(name, backend_names())
        )
    module = cast("BackendModule", importlib.import_module(f"{__name__}.{name}"))
    return module.backend(settings)


def refuse_settings(name: str, settings: Sequence[str]) -> None:
    """Raise SpecError if a back end that has no settings was given some."""
    if settings:
        raise SpecError.single(
            f"'{settings[0]}' is of no use to --backend {name}",
            file="--slurm",
            hint="leave it out, or choose --backend slurm",
        )
