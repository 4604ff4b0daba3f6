"""Which shard is whose; pure arithmetic.

Splits enter, shard tasks leave; ``i/n`` takes its contiguous part of all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from robustclevr.errors import SpecError
from robustclevr.spec import SplitSpec
from robustclevr.store.layout import sample_key, shard_count, shard_name

_SELECTION = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True)
class ShardTask:
    """One shard to make.

    Attributes
    ----------
    split, shard : str, int
    start, count : int
        Index of the first sample, and number of samples.
    """

    split: str
    shard: int
    start: int
    count: int

    def __str__(self) -> str:
        return f"{self.split}/{shard_name(self.shard)}"

    @property
    def indices(self) -> range:
        """Indices of the samples."""
        return range(self.start, self.start + self.count)


def sample_name(split: str, index: int) -> str:
    """Return how a sample is called in messages, such as ``test/000017``."""
    return f"{split}/{sample_key(index)}"


def shard_tasks(splits: Iterable[SplitSpec]) -> tuple[ShardTask, ...]:
    """Return all shards of the splits, in their order; the last of a split may be partial."""
    return tuple(
        ShardTask(
            split=split.name,
            shard=shard,
            start=shard * split.shard_size,
            count=min(split.shard_size, split.samples - shard * split.shard_size),
        )
        for split in splits
        for shard in range(shard_count(split.samples, split.shard_size))
    )


@dataclass(frozen=True)
class Selection:
    """Part ``part`` of ``parts`` equal parts, counted from 0."""

    part: int
    parts: int

    @classmethod
    def from_text(cls, text: str) -> Selection:
        """Read ``i/n``.

        Raises
        ------
        SpecError
            If it is not two integers with 0 <= i < n.
        """
        match = _SELECTION.fullmatch(text.strip())
        part, parts = (int(match[1]), int(match[2])) if match else (0, 0)
        if part >= parts:
            raise SpecError.single(
                f"'{text}' names no part of the shards",
                file="--shards",
                hint="write i/n with 0 <= i < n, such as 0/3, 1/3 and 2/3 for three machines",
            )
        return cls(part, parts)

    def __str__(self) -> str:
        return f"{self.part}/{self.parts}"


def select(tasks: Sequence[ShardTask], selection: Selection | None) -> tuple[ShardTask, ...]:
    """Return the contiguous part of all shards that a selection names; all for None.

    Part i of n begins at shard ``i * k // n`` of k, so every shard is in exactly one part and
    no two parts differ by more than one shard.
    """
    if selection is None:
        return tuple(tasks)
    first, last = (
        number * len(tasks) // selection.parts for number in (selection.part, selection.part + 1)
    )
    return tuple(tasks[first:last])
