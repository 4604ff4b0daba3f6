"""The first clips of a split, drawn now or read from a dataset; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robustclevr.plan import ClipPlanner, clip_options
from robustclevr.recipe import LoadedRecipe
from robustclevr.run.clips import encode_clip
from robustclevr.spec import SplitSpec
from robustclevr.store.dataset import Dataset, Sample
from robustclevr.store.layout import sample_key

NamedClip = tuple[str, NDArray[np.uint8]]
"""Name of a version of a clip and its video: sRGB uint8, shape (T, H, W, 3)."""


def drawn_clips(
    split: SplitSpec, recipes: Mapping[str, LoadedRecipe], *, root_seed: int, count: int
) -> Iterator[NamedClip]:
    """Draw and make the first clips of a split.

    Parameters
    ----------
    split : SplitSpec
        Of a video family.
    recipes : mapping of str to LoadedRecipe
    root_seed : int
    count : int

    Raises
    ------
    SamplingError
        If no trajectory stays within its bounds, or no picture can be used.
    """
    planner = ClipPlanner(split, recipes, root_seed=root_seed)
    for index in range(count):
        members, _ = encode_clip(planner.plan(index), clip_options(split), recipes)
        yield from _versions(Sample(split.name, sample_key(index), members))


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
        yield from _versions(dataset.sample(split, index))


def _versions(sample: Sample) -> Iterator[NamedClip]:
    variants = sample.variants
    for variant in variants:
        name = f"{sample.split}/{sample.key}"
        shown = name if len(variants) == 1 else f"{name} {variant}"
        yield shown, sample.array("video", variant)
