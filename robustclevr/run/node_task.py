"""What a node of a cluster is asked to do, and what it answers; both can be pickled.

Shards of a job go to a node that may be another machine. It first makes sure that it sees the
same dataset folder, package and recipes as the process that sent them, so that nothing is made
that would not fit; then it makes the shards as any worker does.
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import robustclevr
from robustclevr.errors import SetupError
from robustclevr.recipe import curve_path, shipped_recipes_dir
from robustclevr.run.event_files import EventWriter, new_event_file
from robustclevr.run.job import Fatal, Job, Outcome, ShardOrder
from robustclevr.run.renderer_command import RendererCommand
from robustclevr.run.work import ShardWorker
from robustclevr.store.layout import Layout

LEASED_WAIT_S = 2.0
"""Time between looks at shards that another run works on. Chosen."""


@dataclass(frozen=True)
class Identity:
    """What the nodes of a run must have in common.

    Attributes
    ----------
    version : str
        Of this package.
    dataset_sha256 : str
        Of ``dataset.json`` as the process that waits wrote it: tells a shared folder from another
        one of the same name.
    recipes_sha256 : tuple of str
        Of each recipe file of the job, with its curve.
    """

    version: str
    dataset_sha256: str
    recipes_sha256: tuple[str, ...]

    @classmethod
    def here(cls, job: Job) -> Identity:
        """Return what this machine has."""
        paths = [Path(path) for path, _ in job.renderer.recipes]
        recipes = tuple(_sha256(path, curve_path(path)) for path in paths)
        return cls(robustclevr.__version__, _sha256(job.layout.dataset_json), recipes)


@dataclass(frozen=True)
class Report:
    """What a node answers.

    Attributes
    ----------
    outcomes : tuple of Outcome
        Of each shard that was looked at.
    fatal : Fatal or None
        What stops the whole run.
    """

    outcomes: tuple[Outcome, ...] = ()
    fatal: Fatal | None = None


@dataclass(frozen=True)
class NodeTask:
    """Shards for one node; a callable.

    Attributes
    ----------
    job : Job
    orders : tuple of ShardOrder
    identity : Identity
        Of the process that waits.
    events : Path
        File in the shared folder that the node writes events to.
    own_blender : bool
        Whether each node renders with the Blender of its own installation, since the user named
        none.
    wait_for_leases : bool
        Whether shards that another run works on are waited for, or given back.
    """

    job: Job
    orders: tuple[ShardOrder, ...]
    identity: Identity
    events: Path
    own_blender: bool
    wait_for_leases: bool = False

    @classmethod
    def of(
        cls, job: Job, orders: Sequence[ShardOrder], name: str, *, wait_for_leases: bool
    ) -> NodeTask:
        """Return the task that this process sends; ``name`` is part of its event file's name."""
        return cls(
            job=job,
            orders=tuple(orders),
            identity=Identity.here(job),
            events=new_event_file(job.layout, name),
            own_blender=job.renderer.command == RendererCommand(),
            wait_for_leases=wait_for_leases,
        )

    def __call__(self) -> Report:
        """Make the shards; an error that stops the run is part of the report."""
        try:
            job = self.checked_job()
            writer = EventWriter(self.events)
            try:
                with ShardWorker(job, writer) as worker:
                    return Report(tuple(self._outcomes(worker)))
            finally:
                writer.close()
        except Exception as error:  # noqa: BLE001 - the process that waits reports it
            return Report(fatal=Fatal.of(error))

    def checked_job(self) -> Job:
        """Return the job with the paths of this machine.

        Raises
        ------
        SetupError
            If this machine lacks what the others have: names the machine and what.
        """
        job = self._localized()
        mine = Identity.here(job)
        if mine.dataset_sha256 != self.identity.dataset_sha256:
            raise _not_shared(job.layout)
        if mine.version != self.identity.version:
            raise SetupError(
                f"{_here()} has robustclevr {mine.version}, the machine that started the run "
                f"{self.identity.version}; install the same version on all of them"
            )
        pairs = zip(mine.recipes_sha256, self.identity.recipes_sha256, strict=True)
        for (path, _), (there, wanted) in zip(job.renderer.recipes, pairs, strict=True):
            if there != wanted:
                raise SetupError(
                    f"{_here()}: {path} is missing or not the recipe of the machine that started "
                    "the run; install the same version on all of them, and give --recipes a "
                    "folder that they share"
                )
        return job

    def _localized(self) -> Job:
        """Return the job with shipped files as they are installed here; others keep their paths."""
        folder, renderer = shipped_recipes_dir(), self.job.renderer
        recipes = tuple(
            (str(folder / Path(path).name) if shipped else path, shipped)
            for path, shipped in renderer.recipes
        )
        command = RendererCommand() if self.own_blender else renderer.command
        return replace(self.job, renderer=replace(renderer, recipes=recipes, command=command))

    def _outcomes(self, worker: ShardWorker) -> list[Outcome]:
        outcomes: list[Outcome] = []
        waiting, leased = deque(self.orders), 0
        while waiting:
            order = waiting.popleft()
            outcome = worker.execute(order)
            if outcome.leased and self.wait_for_leases:
                waiting.append(order)
                leased += 1
                if leased >= len(waiting):
                    time.sleep(LEASED_WAIT_S)
                    leased = 0
                continue
            leased = 0
            outcomes.append(outcome)
            if outcome.gave_up:
                break
        return outcomes


def _not_shared(layout: Layout) -> SetupError:
    return SetupError(
        f"{_here()} does not see the dataset of this run in {layout.root}; --output must name a "
        "folder on a file system that all nodes share, at the same path (NFS, Lustre, …); "
        "without one, run each machine by itself with --shards i/n"
    )


def _here() -> str:
    return f"node {platform.node()}"


def _sha256(*paths: Path) -> str:
    """Return the sha256 of files one after the other; one that cannot be read counts as empty."""
    digest = hashlib.sha256()
    for path in paths:
        with contextlib.suppress(OSError):
            digest.update(path.read_bytes())
    return digest.hexdigest()
