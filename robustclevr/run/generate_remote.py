"""``robustclevr generate -o s3://…``: one part of a dataset, made here and kept in an object store.

Shards are made in a scratch folder of this machine and uploaded one by one. An object store has
no leases that would keep two machines from one shard, so the parts are dealt out beforehand:
``--shards i/n``.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from robustclevr.errors import Problem, SpecError, StoreError
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import Receipt
from robustclevr.run.backends import Backend, load_backend
from robustclevr.run.forecast import Forecast
from robustclevr.run.generate import GenerateOptions, Summary, job_for, sweep
from robustclevr.run.job import (
    Job,
    Notice,
    OnEvent,
    RunStarted,
    SampleFailure,
    ShardBroken,
)
from robustclevr.run.makers import renders_scenes
from robustclevr.run.object_store import ObjectStore
from robustclevr.run.prepare import check_draws, chosen_splits, dataset_content, prepare
from robustclevr.run.publish import finished
from robustclevr.run.shards import Selection, ShardTask, select, shard_tasks
from robustclevr.run.uploads import Uploads
from robustclevr.spec import DatasetSpec
from robustclevr.store.atomic import remove_empty_dirs, write_atomic
from robustclevr.store.layout import Layout
from robustclevr.store.parking import parked_indices
from robustclevr.store.receipts import Check, read_receipt


def generate_remote(
    spec: DatasetSpec,
    recipes: Mapping[str, LoadedRecipe],
    url: str,
    options: GenerateOptions,
    on_event: OnEvent,
) -> Summary:
    """Make one part of a dataset in an object store, or the missing rest of it.

    Parameters
    ----------
    spec, recipes, options, on_event
        As for :func:`robustclevr.run.generate.generate`; ``options`` must select a part.
    url : str
        Such as ``s3://bucket/folder``.

    Raises
    ------
    SpecError
        Also if no part is selected, or the options need a shared folder.
    SetupError
        Also if fsspec or the package for the protocol is missing.
    StoreError
        Also if the object store refuses; finished shards stay in the scratch folder, and the
        next run uploads them.
    KeyboardInterrupt
        On SIGINT and SIGTERM, after all workers ended.
    """
    _require_part(url, options)
    splits = chosen_splits(spec, options.splits)
    check_draws(splits, recipes, spec.seed)
    store = ObjectStore(url)
    layout = Layout(scratch_of(url, options.selection))
    tasks = select(shard_tasks(splits), options.selection)
    with load_backend(options.backend, options.backend_settings) as backend:
        workers, threads = backend.share(
            options.workers,
            len(tasks),
            clips=not renders_scenes(splits),
            device=options.device,
            command=options.command,
        )
        job = job_for(spec, splits, recipes, layout.root, options, threads=threads)
        _fetch(store, layout)
        with _naming(url, layout):
            prepare(
                layout,
                dataset_content(spec, splits, job.fingerprints, recipes),
                recipes,
                force=options.force,
                on_notice=lambda text: on_event(Notice(text)),
            )
        sweep(layout)
        _send_description(store, layout)
        todo = [task for task in tasks if not _is_stored(task, job, store, on_event)]
        on_event(_started(tasks, todo, workers, layout))
        with Uploads(store, layout, on_event) as uploads:
            failures = _make(todo, job, backend, workers, uploads)
    _clear(layout)
    return Summary(
        shards=len(tasks),
        samples=sum(task.count for task in tasks),
        missing_shards=len(todo),
        unfinished_shards=sum((task.split, task.shard) not in uploads.done for task in todo),
        failures=failures,
        whole_splits=(),
    )


def scratch_of(url: str, selection: Selection | None) -> Path:
    """Return the folder of this machine in which shards for an object store are made.

    The same for every run of one part, so that one that was stopped goes on: below
    ``$XDG_CACHE_HOME``, or ``~/.cache`` (XDG Base Directory Specification).
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256(f"{url.rstrip('/')} {selection}".encode()).hexdigest()[:16]
    return cache / "robustclevr" / "uploads" / name


@contextmanager
def _naming(url: str, layout: Layout) -> Iterator[None]:
    """Let a SpecError name the file in the object store, not our copy of it."""
    ours = str(layout.dataset_json)
    try:
        yield
    except SpecError as error:
        raise SpecError(
            replace(problem, file=f"{url.rstrip('/')}/dataset.json")
            if problem.file == ours
            else problem
            for problem in error.problems
        ) from error


def _require_part(url: str, options: GenerateOptions) -> None:
    problems = []
    if options.selection is None:
        problems.append(
            Problem(
                f"an object store ({url}) is written by parts only: it has no leases that would "
                "keep two machines from one shard",
                file="--output",
                hint="add --shards i/n, such as 0/1 for all of them on this machine",
            )
        )
    if options.backend != "local":
        problems.append(
            Problem(
                f"'{options.backend}' needs a folder that its nodes share, not {url}",
                file="--backend",
                hint="start a run with --shards i/n on each node, see docs/clusters.md",
            )
        )
    if options.samples:
        problems.append(
            Problem(
                f"single samples cannot be put into an object store ({url})",
                file="--samples",
                hint="leave it out: whole shards are made",
            )
        )
    if problems:
        raise SpecError(problems)


def _make(
    todo: Sequence[ShardTask], job: Job, backend: Backend, workers: int, uploads: Uploads
) -> tuple[SampleFailure, ...]:
    """Make what is neither stored nor waiting here for its upload."""
    missing = []
    for task in todo:
        if finished(task, job, Check.SHA256) is None:
            missing.append(task)
        else:
            uploads.add(task.split, task.shard)
    if not missing:
        return ()
    try:
        watched = Forecast(missing, job, workers, uploads)
        return backend.run(missing, job, workers=workers, on_event=watched)
    finally:
        sweep(job.layout)


def _is_stored(task: ShardTask, job: Job, store: ObjectStore, on_event: OnEvent) -> bool:
    """Tell whether the object store has a shard as the task wants it, by receipt and size."""
    try:
        receipt = _stored_receipt(task, job.layout, store)
    except StoreError as error:
        on_event(ShardBroken(task.split, task.shard, str(error)))
        return False
    if receipt is None or receipt.fingerprint != job.fingerprints[task.split]:
        return False
    tar = f"{task.split}/{job.layout.tar(task.split, task.shard).name}"
    size = store.size(tar)
    if size != receipt.size_bytes:
        reason = f"{store.url}/{tar} has {size} bytes, its receipt says {receipt.size_bytes}"
        on_event(ShardBroken(task.split, task.shard, reason))
        return False
    return (receipt.start, receipt.count) == (task.start, task.count)


def _stored_receipt(task: ShardTask, layout: Layout, store: ObjectStore) -> Receipt | None:
    copy = Layout(layout.work / "stored")
    path = copy.receipt(task.split, task.shard)
    data = store.read(f"{task.split}/{path.name}")
    if data is None:
        return None
    write_atomic(path, data, layout, durable=False)
    try:
        return read_receipt(task.split, task.shard, copy)
    finally:
        path.unlink()


def _fetch(store: ObjectStore, layout: Layout) -> None:
    """Bring the object store's ``dataset.json`` here: a run goes on only where it fits."""
    data = store.read(layout.dataset_json.name)
    if data is None:
        layout.dataset_json.unlink(missing_ok=True)
    else:
        write_atomic(layout.dataset_json, data, layout)


def _send_description(store: ObjectStore, layout: Layout) -> None:
    """Upload ``dataset.json`` and the user's recipes, where the object store has others."""
    for path in (layout.dataset_json, *sorted(layout.recipes.glob("*"))):
        name = str(path.relative_to(layout.root))
        if store.read(name) != path.read_bytes():
            store.send(path, name)


def _started(
    tasks: Sequence[ShardTask], todo: Sequence[ShardTask], workers: int, layout: Layout
) -> RunStarted:
    stored = sum(task.count for task in tasks) - sum(task.count for task in todo)
    parked = sum(len(parked_indices(task.split, task.shard, layout)) for task in todo)
    return RunStarted(
        shards=len(tasks),
        shards_done=len(tasks) - len(todo),
        samples=sum(task.count for task in tasks),
        samples_done=stored + parked,
        workers=workers,
    )


def _clear(layout: Layout) -> None:
    """Remove the scratch folder where nothing in it is waiting for another run."""
    remove_empty_dirs(layout.work)
    if not layout.work.exists() and not any(layout.root.glob("*/*.tar")):
        shutil.rmtree(layout.root, ignore_errors=True)
