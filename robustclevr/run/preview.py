"""The first samples of a split at few paths a pixel, before days of rendering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robustclevr.plan import Planner
from robustclevr.recipe import LoadedRecipe
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.run.prepare import chosen_splits
from robustclevr.run.shards import sample_name
from robustclevr.spec import DatasetSpec, SplitSpec
from robustclevr.store.dataset import Dataset
from robustclevr.store.sample import develop

Row = tuple[str, dict[str, NDArray[np.uint8]]]
"""Name of a sample and its images by variant: sRGB uint8, shape (H, W, 3)."""

PREVIEW_SAMPLES = 16
"""Paths a pixel of a preview. Chosen: noise is visible but hides no corruption."""


def chosen_split(spec: DatasetSpec, name: str | None) -> SplitSpec:
    """Return the split called ``name``; for None the first that applies a DAG, else the first.

    Raises
    ------
    SpecError
        If there is no such split, or this version cannot make it.
    """
    if name is None:
        name = next((split for split in spec.splits if split.dag is not None), spec.splits[0]).name
    return chosen_splits(spec, [name])[0]


def rendered_rows(
    split: SplitSpec,
    recipes: Mapping[str, LoadedRecipe],
    setup: RendererSetup,
    *,
    root_seed: int,
    count: int,
    samples: int = PREVIEW_SAMPLES,
) -> Iterator[Row]:
    """Render the first samples of a split; nothing is written.

    Parameters
    ----------
    split : SplitSpec
    recipes : mapping of str to LoadedRecipe
    setup : RendererSetup
    root_seed : int
    count : int
        Number of samples.
    samples : int
        Paths a pixel, if the split asks for more.

    Yields
    ------
    Row
        As soon as each sample is rendered.
    """
    draft = replace(split, render=replace(split.render, samples=min(samples, split.render.samples)))
    planner = Planner(draft, recipes, root_seed=root_seed)
    with BlenderProcess(setup) as process:
        for index in range(count):
            plan = planner.plan(index)
            render = process.render(plan)
            variants = [
                develop(image, render.labels, planned, recipes)
                for image, planned in zip(render.images, plan.images, strict=True)
            ]
            yield (
                sample_name(split.name, index),
                {variant.name: variant.image for variant in variants},
            )


def stored_rows(root: Path, split: str | None, count: int) -> Iterator[Row]:
    """Yield the first samples of a dataset that is there already.

    Parameters
    ----------
    root : Path
        A dataset's folder.
    split : str or None
        None takes the first split that holds corrupted images.
    count : int

    Raises
    ------
    StoreError
        If there is no such split, or its shards are missing.
    """
    dataset = Dataset.open(root)
    if split is None:
        made = [name for name in dataset.splits if dataset.shards(name)[0].tar.is_file()]
        chosen = made or list(dataset.splits)
        split = max(chosen, key=lambda name: len(dataset.sample(name, 0).variants))
    for index in range(min(count, dataset.split(split).samples)):
        sample = dataset.sample(split, index)
        yield (
            sample_name(split, index),
            {variant: sample.image(variant) for variant in sample.variants},
        )
