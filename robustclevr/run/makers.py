"""Who makes the samples of a job: for scenes, for clips, for existing pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self

from robustclevr.recipe import LoadedRecipe
from robustclevr.run.clips import ClipMaker
from robustclevr.run.job import Job, OnEvent, SampleFailure
from robustclevr.run.pictures import PictureMaker
from robustclevr.run.samples import SampleMaker
from robustclevr.spec import SplitSpec
from robustclevr.store.parking import ParkedSample


class Maker(Protocol):
    """Makes samples; a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def make(
        self, split: SplitSpec, indices: Iterable[int]
    ) -> Iterator[ParkedSample | SampleFailure]:
        """Yield each sample, or why it could not be made, in order."""


def sample_maker(job: Job, recipes: Mapping[str, LoadedRecipe], on_event: OnEvent) -> Maker:
    """Return who makes the samples of a job.

    Parameters
    ----------
    job : Job
        All splits of a dataset are of one family.
    recipes : mapping of str to LoadedRecipe
        The files of ``job.renderer.recipes``, loaded.
    on_event : callable
        Hears when a sample is started.
    """
    if holds_clips(job.splits):
        return ClipMaker(job, recipes, on_event)
    if any(split.pictures is not None for split in job.splits):
        return PictureMaker(job, recipes, on_event)
    return SampleMaker(job, recipes, on_event)


def renders_scenes(splits: Sequence[SplitSpec]) -> bool:
    """Tell whether samples are rendered, so that each keeps two cores busy."""
    return all(split.video is None and split.pictures is None for split in splits)


def holds_clips(splits: Sequence[SplitSpec]) -> bool:
    """Tell whether samples are clips, which need no Blender."""
    return any(split.video is not None for split in splits)
