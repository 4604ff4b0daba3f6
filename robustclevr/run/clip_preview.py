"""The first clips of a split, drawn now or read from a dataset; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robustclevr.plan import clip_options, make_clip_plan
from robustclevr.run.shards import sample_name
from robustclevr.spec import SplitSpec
from robustclevr.store.dataset import Dataset
from robustclevr.video import render_clip

NamedClip = tuple[str, NDArray[np.uint8]]
"""Name of a clip and its video: sRGB uint8, shape (T, H, W, 3)."""


def drawn_clips(split: SplitSpec, *, root_seed: int, count: int) -> Iterator[NamedClip]:
    """Draw and render the first clips of a split.

    Parameters
    ----------
    split : SplitSpec
        Of a video family.
    root_seed : int
    count : int

    Raises
    ------
    SamplingError
        If no trajectory stays within its bounds, or no picture can be used.
    """
    for index in range(count):
        plan = make_clip_plan(split, root_seed=root_seed, index=index)
        yield sample_name(split.name, index), render_clip(plan.clip, clip_options(split)).video


def holds_clips_at(root: Path) -> bool:
    """Tell whether the dataset in a folder is one of clips; StoreError if there is none."""
    entries = Dataset.open(root).splits.values()
    return all("video" in entry.document for entry in entries)


def stored_clips(root: Path, split: str | None, count: int) -> Iterator[NamedClip]:
    """Yield the first clips of a dataset that is there already.

    Parameters
    ----------
    root : Path
        A dataset's folder.
    split : str or None
        None takes the first split of which there is a shard.
    count : int

    Raises
    ------
    StoreError
        If there is no such split, or its shards are missing.
    """
    dataset = Dataset.open(root)
    if split is None:
        made = [name for name in dataset.splits if dataset.shards(name)[0].tar.is_file()]
        split = (made or list(dataset.splits))[0]
    for index in range(min(count, dataset.split(split).samples)):
        yield sample_name(split, index), dataset.sample(split, index).array("video")
