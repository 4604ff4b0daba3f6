"""What a worker is told, and what it reports; all of it can be pickled.

The same records serve every backend: a job describes the run, a task one shard of it, an outcome
what became of the shard, and events what a progress display needs.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from robustclevr.errors import RobustClevrError
from robustclevr.records import Receipt, Retry
from robustclevr.run.blender_process import RendererSetup
from robustclevr.run.shards import ShardTask, sample_name
from robustclevr.spec import SplitSpec
from robustclevr.store.layout import Layout

RETRIES = 1
"""Tries that a sample gets after the first. Chosen: what was an accident, such as a device lost or
memory taken by others, seldom comes twice; what is wrong with the sample costs as much each time.
"""


@dataclass(frozen=True)
class Job:
    """One run on one folder, as every worker needs it.

    Attributes
    ----------
    root : Path
        The dataset's folder.
    splits : tuple of SplitSpec
    fingerprints : mapping of str to str
        Of these splits.
    root_seed : int
    renderer : RendererSetup
        Recipe files included.
    sample_timeout_s : float or None
        Time limit of one sample; None derives it from the render settings.
    retries : int
        How often a sample is tried again that gave no picture though nothing is known to be wrong
        with it: its renderer died, hung or reported an error. >= 0
    only : mapping of str to frozenset of int, or None
        Samples of each split that are wanted; None for all. Others are not made, and a shard that
        lacks some stays unfinished.
    on_device_loss : str
        What a worker does whose GPU failed on every try at a sample: ``fail`` gives the sample up,
        ``cpu`` tries it on the processor, and stays there if that gives the picture.
    recycle_after : int
        Samples after which a Blender process is replaced by a fresh one. Chosen: a start costs
        about a second, some hundred samples take minutes.
    recycle_rss_bytes : int
        Resident memory beyond which it is replaced earlier. Chosen: five times what a scene of
        ten objects needs.
    """

    root: Path
    splits: tuple[SplitSpec, ...]
    fingerprints: Mapping[str, str]
    root_seed: int
    renderer: RendererSetup
    sample_timeout_s: float | None = None
    retries: int = RETRIES
    only: Mapping[str, frozenset[int]] | None = None
    on_device_loss: str = "fail"
    recycle_after: int = 500
    recycle_rss_bytes: int = 3 << 30

    @property
    def layout(self) -> Layout:
        """Paths of the dataset."""
        return Layout(self.root)

    def split(self, name: str) -> SplitSpec:
        """Return a split by name; KeyError if it is not part of the job."""
        return {split.name: split for split in self.splits}[name]

    def wants(self, split: str, index: int) -> bool:
        """Tell whether a sample is among those that are wanted."""
        return self.only is None or index in self.only.get(split, frozenset())


@dataclass(frozen=True)
class SampleFailure:
    """A sample that could not be made, and why.

    Attributes
    ----------
    split, index : str, int
    reason : str
        Why its last try failed.
    tail : str
        The last lines of its renderer, indented; empty where it lives.
    tries : int
        How often it was tried.
    """

    split: str
    index: int
    reason: str
    tail: str = ""
    tries: int = 1

    def __str__(self) -> str:
        tries = f" (tried {self.tries} times)" if self.tries > 1 else ""
        text = f"{sample_name(self.split, self.index)}: {self.reason}{tries}"
        return f"{text}; its last lines:\n{self.tail}" if self.tail else text


@dataclass(frozen=True)
class ShardOrder:
    """A shard to make, and what is known of earlier tries at it in this run.

    Attributes
    ----------
    task : ShardTask
    lost : tuple of Retry
        Tries at its samples that a whole worker did not survive; for the receipt.
    skip : tuple of int
        Samples that are not tried any more; the shard stays unfinished without them.
    """

    task: ShardTask
    lost: tuple[Retry, ...] = ()
    skip: tuple[int, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What became of a shard.

    Attributes
    ----------
    task : ShardTask
    receipt : Receipt or None
        None where the shard is not finished.
    failures : tuple of SampleFailure
    leased : bool
        True if another run works on it: nothing was done.
    gave_up : bool
        True if the renderer died time and again: the worker should take no further shard.
    """

    task: ShardTask
    receipt: Receipt | None = None
    failures: tuple[SampleFailure, ...] = ()
    leased: bool = False
    gave_up: bool = False


@dataclass(frozen=True)
class RunStarted:
    """How much there is to do: in this selection, and how much of it is there already."""

    shards: int
    shards_done: int
    samples: int
    samples_done: int
    workers: int


@dataclass(frozen=True)
class ShardBroken:
    """A shard is there but is not what its receipt says; it will be made again."""

    split: str
    shard: int
    reason: str


@dataclass(frozen=True)
class SampleStarted:
    """A worker began to plan and render a sample."""

    split: str
    index: int


@dataclass(frozen=True)
class SampleDone:
    """A sample is parked.

    Attributes
    ----------
    split, index : str, int
    seconds : float
        What it took; 0 for one that was found finished. [s]
    size_bytes : int
    found : bool
        True if an earlier run had made it.
    device : str
        What rendered it.
    """

    split: str
    index: int
    seconds: float
    size_bytes: int
    found: bool = False
    device: str = ""


@dataclass(frozen=True)
class SampleRetried:
    """A try at a sample gave no picture; the sample is tried again on a fresh process.

    Attributes
    ----------
    split : str
    retry : Retry
    tail : str
        The last lines of the renderer, indented; empty where they are not known.
    """

    split: str
    retry: Retry
    tail: str = ""


@dataclass(frozen=True)
class SampleFailed:
    """A sample could not be made; the others go on."""

    failure: SampleFailure


@dataclass(frozen=True)
class ShardDone:
    """A shard and its receipt are in place.

    Attributes
    ----------
    split, shard, count : str, int, int
    found : bool
        True if another run had put it there.
    """

    split: str
    shard: int
    count: int
    found: bool = False


@dataclass(frozen=True)
class WorkerGaveUp:
    """A worker takes no further shard, since one sample after the other is lost; why."""

    reason: str


@dataclass(frozen=True)
class Notice:
    """What a back end has to say of itself: which cluster, which job, what it lost; one line."""

    text: str


@dataclass(frozen=True)
class LongRun:
    """The run will take more than an hour; from the first measured sample.

    Attributes
    ----------
    samples : int
        Still to make.
    seconds : float
        [s]
    size_bytes : int
        Disk space that the missing samples will take.
    """

    samples: int
    seconds: float
    size_bytes: int


Event = (
    RunStarted
    | ShardBroken
    | SampleStarted
    | SampleDone
    | SampleRetried
    | SampleFailed
    | ShardDone
    | WorkerGaveUp
    | Notice
    | LongRun
)
OnEvent = Callable[[Event], None]


@dataclass(frozen=True)
class Fatal:
    """An error that stops the whole run, in a form that can be sent.

    Attributes
    ----------
    kind : str
        Name of the error's class.
    message : str
    notes : tuple of str
        Traceback lines, for ``--debug``.
    """

    kind: str
    message: str
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, error: Exception) -> Fatal:
        """Return what is sent of an error; one that is not ours is a bug, with its traceback."""
        if isinstance(error, RobustClevrError):
            return cls(type(error).__name__, str(error), tuple(getattr(error, "__notes__", ())))
        message = f"internal error in a worker: {type(error).__name__}: {error}"
        return cls("", message, ("".join(traceback.format_exception(error)),))
