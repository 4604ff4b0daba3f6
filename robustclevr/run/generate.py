"""``robustclevr generate``: the whole dataset, or the missing rest of it.

A valid spec enters; a folder with shards, receipts and the files of whole splits is left, whatever
stopped earlier runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from robustclevr.recipe import LoadedRecipe
from robustclevr.run.backends import Backend, load_backend
from robustclevr.run.blender_process import RendererCommand, RendererSetup
from robustclevr.run.forecast import Forecast
from robustclevr.run.inventory import shards_there
from robustclevr.run.job import (
    RETRIES,
    Job,
    Notice,
    OnEvent,
    RunStarted,
    SampleFailure,
)
from robustclevr.run.job_logs import sweep_job_logs
from robustclevr.run.leases import remove_expired_leases
from robustclevr.run.makers import renders_scenes
from robustclevr.run.prepare import (
    check_draws,
    chosen_splits,
    dataset_content,
    prepare,
    split_fingerprints,
)
from robustclevr.run.publish import published
from robustclevr.run.sample_choice import Choice, read_samples
from robustclevr.run.scratch import sweep_scratch
from robustclevr.run.shards import Selection, ShardTask, select, shard_tasks
from robustclevr.run.whole import refresh
from robustclevr.spec import DatasetSpec, SplitSpec
from robustclevr.store.atomic import remove_empty_dirs, remove_stale_temps
from robustclevr.store.dataset import Dataset
from robustclevr.store.layout import Layout
from robustclevr.store.parking import parked_indices
from robustclevr.store.receipts import Check

_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True)
class GenerateOptions:
    """Where and how a dataset is made; none of it changes a byte of the shards.

    Attributes
    ----------
    splits : tuple of str
        Names of splits; all where empty.
    selection : Selection or None
        Part of all shards that this machine makes.
    workers : int or None
        Processes; None for one to two cores, and for clips one to a core.
    backend : str
        Where the workers run; see :mod:`robustclevr.run.backends`.
    backend_settings : tuple of str
        ``KEY=VALUE`` each, for the back end.
    device : str
        One of :data:`robustclevr.records.device.DEVICES`.
    on_device_loss : str
        ``fail`` or ``cpu``, see :class:`robustclevr.run.job.Job`.
    command : RendererCommand
    force : bool
        Remake what another spec left in the folder.
    sample_timeout_s : float or None
        None derives it from the render settings.
    retries : int
        See :class:`robustclevr.run.job.Job`.
    memory_limit_bytes : int or None
        Of each process that renders; None for its share of the machine.
    samples : str
        Only these, see :mod:`robustclevr.run.sample_choice`; all where empty.
    """

    splits: tuple[str, ...] = ()
    selection: Selection | None = None
    workers: int | None = None
    backend: str = "local"
    backend_settings: tuple[str, ...] = ()
    device: str = "auto"
    on_device_loss: str = "fail"
    command: RendererCommand = field(default_factory=RendererCommand)
    force: bool = False
    sample_timeout_s: float | None = None
    retries: int = RETRIES
    memory_limit_bytes: int | None = None
    samples: str = ""


@dataclass(frozen=True)
class Summary:
    """How a run ended.

    Attributes
    ----------
    shards, samples : int
        That were asked for.
    missing_shards : int
        That were not there when the run began.
    unfinished_shards : int
        That are not there now that it ended, and lack samples that were asked for.
    failures : tuple of SampleFailure
        Samples that could not be made.
    whole_splits : tuple of str
        Splits of the folder of which every shard is there now.
    """

    shards: int
    samples: int
    missing_shards: int
    unfinished_shards: int
    failures: tuple[SampleFailure, ...]
    whole_splits: tuple[str, ...]

    @property
    def nothing_to_do(self) -> bool:
        """True if all that was asked for was there already."""
        return self.missing_shards == 0

    @property
    def exit_code(self) -> int:
        """0, or 1 if something that was asked for is missing."""
        return 1 if self.failures or self.unfinished_shards else 0


def generate(
    spec: DatasetSpec,
    recipes: Mapping[str, LoadedRecipe],
    out: Path,
    options: GenerateOptions,
    on_event: OnEvent,
) -> Summary:
    """Make a dataset, or the missing rest of it.

    Parameters
    ----------
    spec : DatasetSpec
    recipes : mapping of str to LoadedRecipe
        Shipped ones and the user's.
    out : Path
        The dataset's folder; made where it is missing.
    options : GenerateOptions
    on_event : callable
        Hears of progress, see :mod:`robustclevr.run.job`.

    Returns
    -------
    Summary

    Raises
    ------
    SpecError
        If the folder was made with another spec, or an option names nothing.
    StoreError
        If the disk refuses: names file and sample.
    SetupError
        If there is no Blender, or the back end lacks something.
    KeyboardInterrupt
        On SIGINT and SIGTERM, after all workers ended; finished samples are kept.
    """
    splits = chosen_splits(spec, options.splits)
    check_draws(splits, recipes, spec.seed)
    with load_backend(options.backend, options.backend_settings) as backend:
        return _generate(backend, splits, spec, recipes, out, options, on_event)


def _generate(
    backend: Backend,
    splits: tuple[SplitSpec, ...],
    spec: DatasetSpec,
    recipes: Mapping[str, LoadedRecipe],
    out: Path,
    options: GenerateOptions,
    on_event: OnEvent,
) -> Summary:
    layout = Layout(out)
    only = read_samples(options.samples, splits) if options.samples else None
    tasks = _wanted(select(shard_tasks(splits), options.selection), only)
    workers, threads = backend.share(
        options.workers,
        len(tasks),
        clips=not renders_scenes(splits),
        device=options.device,
        command=options.command,
    )
    job = job_for(spec, splits, recipes, out, options, threads=threads, only=only)
    content = dataset_content(spec, splits, job.fingerprints, recipes)
    prepare(
        layout,
        content,
        recipes,
        force=options.force,
        on_notice=lambda text: on_event(Notice(text)),
    )
    sweep(layout)
    there = shards_there(tasks, job, on_event)
    missing = tuple(task for task in tasks if there[task] is None)
    on_event(_started(there, job, workers))
    failures: tuple[SampleFailure, ...] = ()
    if missing:
        watched = Forecast(missing, job, workers, on_event)
        try:
            failures = backend.run(missing, job, workers=workers, on_event=watched)
        finally:
            sweep(layout)
    states = refresh(Dataset.open(out), Check.SIZE)
    if all(state.whole for state in states):
        sweep_job_logs(layout)
    remove_empty_dirs(layout.work)
    done = {(state.split, tar) for state in states for tar in state.tars}
    return Summary(
        shards=len(tasks),
        samples=sum(len(_asked(task, job)) for task in tasks),
        missing_shards=len(missing),
        unfinished_shards=sum(
            (task.split, layout.tar(task.split, task.shard).name) not in done
            and (only is None or not _asked(task, job) <= _kept(task, job))
            for task in tasks
        ),
        failures=failures,
        whole_splits=tuple(state.split for state in states if state.whole),
    )


def job_for(
    spec: DatasetSpec,
    splits: tuple[SplitSpec, ...],
    recipes: Mapping[str, LoadedRecipe],
    out: Path,
    options: GenerateOptions,
    *,
    threads: int,
    only: Mapping[str, frozenset[int]] | None = None,
) -> Job:
    """Return what every worker of a run is told.

    Parameters
    ----------
    spec : DatasetSpec
    splits : tuple of SplitSpec
        Those of the spec that the run is about.
    recipes : mapping of str to LoadedRecipe
    out : Path
        The folder of shards.
    options : GenerateOptions
    threads : int
        Of each Blender process.
    only : mapping of str to frozenset of int, optional
        Samples of each split, if not all.
    """
    return Job(
        root=out.resolve(),
        splits=splits,
        fingerprints=split_fingerprints(splits, recipes, spec.seed),
        root_seed=spec.seed,
        renderer=renderer_setup(recipes, threads, options),
        sample_timeout_s=options.sample_timeout_s,
        on_device_loss=options.on_device_loss,
        retries=options.retries,
        only=only,
    )


def renderer_setup(
    recipes: Mapping[str, LoadedRecipe], threads: int, options: GenerateOptions
) -> RendererSetup:
    """Return what each Blender process is told."""
    files = tuple((str(loaded.path.resolve()), loaded.shipped) for loaded in recipes.values())
    return RendererSetup(
        files,
        threads,
        options.device,
        options.command,
        memory_limit_bytes=options.memory_limit_bytes,
    )


def sweep(layout: Layout) -> None:
    """Remove what dead processes left: temporary files, leases, scratch folders."""
    with contextlib.suppress(OSError):
        remove_stale_temps(layout)
        remove_expired_leases(layout)
        sweep_scratch()
        remove_empty_dirs(layout.work)


def _wanted(tasks: Sequence[ShardTask], only: Choice | None) -> tuple[ShardTask, ...]:
    """Return the shards that hold any of the samples that are asked for."""
    if only is None:
        return tuple(tasks)
    return tuple(task for task in tasks if not only.get(task.split, _NONE).isdisjoint(task.indices))


def _asked(task: ShardTask, job: Job) -> set[int]:
    return {index for index in task.indices if job.wants(task.split, index)}


def _started(there: Mapping[ShardTask, int | None], job: Job, workers: int) -> RunStarted:
    open_tasks = [task for task, count in there.items() if count is None]
    found = sum(len(_kept(task, job) & _asked(task, job)) for task in open_tasks)
    done = [task for task, count in there.items() if count is not None]
    return RunStarted(
        shards=len(there),
        shards_done=len(done),
        samples=sum(len(_asked(task, job)) for task in there),
        samples_done=found + sum(len(_asked(task, job)) for task in done),
        workers=workers,
    )


def _kept(task: ShardTask, job: Job) -> set[int]:
    """Return the samples of an unfinished shard that need not be rendered again."""
    parked = set(parked_indices(task.split, task.shard, job.layout))
    shorter = published(task, job, Check.SIZE)
    if shorter is not None:
        parked |= set(range(shorter.start, shorter.start + shorter.count))
    return parked & set(task.indices)
