"""``--dry-run``: samples, renders, time and disk space, from samples that were really made.

Of each kind of split one missing sample is made in memory, of clips some more, which take
milliseconds and differ; nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from robustclevr.errors import RenderError
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import canonical_json
from robustclevr.run.backends import load_backend
from robustclevr.run.generate import GenerateOptions, job_for
from robustclevr.run.job import Job, SampleFailure
from robustclevr.run.makers import Maker, renders_scenes, sample_maker
from robustclevr.run.prepare import chosen_splits
from robustclevr.run.publish import finished, unpark_of
from robustclevr.run.shards import ShardTask, select, shard_tasks
from robustclevr.spec import DatasetSpec, SplitSpec
from robustclevr.store.parking import ParkedSample
from robustclevr.store.receipts import Check

MEASURED_CLIPS = 24
"""Chosen: a tenth of a second; numbers of sprites from 1 to 4 come six times."""

_TAR_BLOCK_BYTES = 512  # a header, and what pads each member (POSIX ustar)


@dataclass(frozen=True)
class SplitEstimate:
    """What the missing part of one split takes.

    Attributes
    ----------
    split : str
    samples : int
        Still to make.
    renders : int
        Cycles renders.
    size_bytes : int
        Disk space.
    seconds : float
        With the workers asked for, start-up left out. [s]
    seconds_per_sample : float
        As measured, in one worker. [s]
    """

    split: str
    samples: int
    renders: int
    size_bytes: int
    seconds: float
    seconds_per_sample: float


@dataclass(frozen=True)
class Estimate:
    """What a run will take.

    Attributes
    ----------
    splits : tuple of SplitEstimate
        Those with samples to make.
    startup_s : float
        Until Blender takes its first sample. [s]
    workers : int
    """

    splits: tuple[SplitEstimate, ...]
    startup_s: float
    workers: int

    @property
    def samples(self) -> int:
        """Samples still to make."""
        return sum(split.samples for split in self.splits)

    @property
    def renders(self) -> int:
        """Cycles renders."""
        return sum(split.renders for split in self.splits)

    @property
    def size_bytes(self) -> int:
        """Disk space."""
        return sum(split.size_bytes for split in self.splits)

    @property
    def seconds(self) -> float:
        """Time, start-up included. [s]."""
        return self.startup_s + sum(split.seconds for split in self.splits)


def estimate(
    spec: DatasetSpec,
    recipes: Mapping[str, LoadedRecipe],
    out: Path,
    options: GenerateOptions,
) -> Estimate:
    """Measure one sample of each kind of split and extrapolate.

    Parameters
    ----------
    spec, recipes, out, options
        As for :func:`robustclevr.run.generate.generate`; what ``out`` holds already is left out.

    Raises
    ------
    SetupError
        If there is no Blender.
    RenderError
        If the sample that was to be measured cannot be made.
    """
    splits = chosen_splits(spec, options.splits)
    tasks = select(shard_tasks(splits), options.selection)
    with load_backend(options.backend, options.backend_settings) as backend:
        workers, threads = backend.share(
            options.workers,
            len(tasks),
            clips=not renders_scenes(splits),
            device=options.device,
            command=options.command,
        )
    job = job_for(spec, splits, recipes, out, options, threads=threads)
    measured: dict[bytes, Sequence[ParkedSample]] = {}
    estimates, startup_s = [], 0.0
    with sample_maker(job, recipes, _ignore) as maker:
        for split in splits:
            missing = _missing(split, tasks, job)
            if not missing:
                continue
            kind = _kind(split)
            if kind not in measured:
                count = 1 if split.video is None else MEASURED_CLIPS
                measured[kind] = _measure(maker, split, missing[:count])
                startup_s += measured[kind][0].provenance.seconds["startup"]
            estimates.append(_extrapolate(split, len(missing), measured[kind], workers))
    return Estimate(tuple(estimates), startup_s, workers)


def _missing(split: SplitSpec, tasks: Sequence[ShardTask], job: Job) -> list[int]:
    return [
        index
        for task in tasks
        if task.split == split.name and finished(task, job, Check.SIZE) is None
        for index in task.indices
        if unpark_of(task, index, job) is None
    ]


def _kind(split: SplitSpec) -> bytes:
    """Return what two splits share whose samples take the same time."""
    document = dict(split.document)
    document.pop("samples", None)
    return canonical_json(document)


def _measure(maker: Maker, split: SplitSpec, indices: Sequence[int]) -> Sequence[ParkedSample]:
    samples = []
    for made in maker.make(split, indices):
        if isinstance(made, SampleFailure):
            raise RenderError(f"the sample to be measured failed: {made}")
        samples.append(made)
    return samples


def _extrapolate(
    split: SplitSpec, samples: int, measured: Sequence[ParkedSample], workers: int
) -> SplitEstimate:
    seconds = fmean(sample.provenance.seconds["total"] for sample in measured)
    sizes = [sum(_stored_bytes(len(data)) for data in s.members.values()) for s in measured]
    return SplitEstimate(
        split=split.name,
        samples=samples,
        renders=samples * measured[0].provenance.renders,
        size_bytes=round(samples * fmean(sizes)),
        seconds=samples * seconds / workers,
        seconds_per_sample=seconds,
    )


def _stored_bytes(size: int) -> int:
    return _TAR_BLOCK_BYTES * (1 + -(-size // _TAR_BLOCK_BYTES))


def _ignore(event: object) -> None:
    del event
