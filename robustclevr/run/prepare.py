"""The first step of a run: what the folder holds already, and whether the spec may go on in it.

Writes ``dataset.json`` and the user's recipe files, and removes what no longer belongs there.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from robustclevr import DATASET_VERSION
from robustclevr.errors import SpecError, StoreError, suggest
from robustclevr.plan import ClipPlanner, Planner, fingerprint, recipe_digests, source_digests
from robustclevr.recipe import LoadedRecipe, curve_path
from robustclevr.scm.ranges import require_applicable
from robustclevr.spec import DatasetSpec, SplitSpec, require_built
from robustclevr.store.atomic import disk_error, write_atomic
from robustclevr.store.dataset_json import (
    changed_splits,
    describe,
    entries,
    extended,
    forced,
    read_dataset_json,
    write_dataset_json,
)
from robustclevr.store.layout import Layout, shard_count
from robustclevr.store.receipts import read_receipt


def chosen_splits(spec: DatasetSpec, names: Sequence[str]) -> tuple[SplitSpec, ...]:
    """Return the splits called ``names`` in the spec's order; all where none is named.

    Raises
    ------
    SpecError
        If one is unknown (names the nearest spelling), or this version cannot make it.
    """
    known = [split.name for split in spec.splits]
    for name in names:
        if name not in known:
            raise SpecError.single(
                f"unknown split '{name}'", file="--splits", hint=suggest(name, known)
            )
    chosen = tuple(split for split in spec.splits if not names or split.name in names)
    for split in chosen:
        require_built(split)
    return chosen


def check_draws(
    splits: Sequence[SplitSpec], recipes: Mapping[str, LoadedRecipe], root_seed: int
) -> None:
    """Raise SpecError if a split asks for what its model does not have, before any work."""
    for split in splits:
        if split.dag is not None:
            require_applicable(split.dag)
        if split.dag is not None and split.video is not None:
            ClipPlanner(split, recipes, root_seed=root_seed)
        elif split.dag is not None and split.interventions:
            Planner(split, recipes, root_seed=root_seed)


def split_fingerprints(
    splits: Sequence[SplitSpec], recipes: Mapping[str, LoadedRecipe], root_seed: int
) -> dict[str, str]:
    """Return the fingerprint of each split by name."""
    return {split.name: fingerprint(split, recipes, root_seed=root_seed) for split in splits}


def dataset_content(
    spec: DatasetSpec,
    splits: Sequence[SplitSpec],
    fingerprints: Mapping[str, str],
    recipes: Mapping[str, LoadedRecipe],
) -> dict[str, Any]:
    """Return what ``dataset.json`` says of these splits."""
    header = {
        "name": spec.name,
        "summary": spec.summary,
        "source": spec.source,
        "licence": spec.licence,
        "seed": spec.seed,
        "dataset_version": DATASET_VERSION,
    }
    documents = {
        split.name: {
            **split.document,
            "samples": split.samples,
            "shard_size": split.shard_size,
            # So that a changed recipe file is named, and not only a fingerprint that differs.
            "recipe_digests": recipe_digests(split, recipes),
            **({"source_digests": sources} if (sources := source_digests(split)) else {}),
        }
        for split in splits
    }
    return describe(header=header, splits=documents, fingerprints=fingerprints)


def prepare(
    layout: Layout,
    content: Mapping[str, Any],
    recipes: Mapping[str, LoadedRecipe],
    *,
    force: bool,
    on_notice: Callable[[str], None] | None = None,
) -> None:
    """Make the folder ready for a run.

    A damaged ``dataset.json`` is written again where all that is in the folder was made for this
    very spec.

    Parameters
    ----------
    layout : Layout
    content : mapping
        From :func:`dataset_content`.
    recipes : mapping of str to LoadedRecipe
    force : bool
        Where the folder was made with another spec, remove what differs of these splits instead
        of refusing; splits that are not named here stay.
    on_notice : callable, optional
        Hears of what was mended.

    Raises
    ------
    SpecError
        If the folder was made with another spec, unless forced.
    StoreError
        If it cannot be written, or its ``dataset.json`` is damaged and the folder holds more than
        this spec says, unless forced.
    """
    old: Mapping[str, Any] | None = None
    try:
        old = read_dataset_json(layout)
    except StoreError as error:
        if not force:
            _require_made_for(content, layout, error)
        if on_notice is not None:
            on_notice(f"{error}; it is written again")
    if old is not None:
        join = forced if force else extended
        content = join(old, content, layout.dataset_json)
        _remove_outdated(layout, old, content)
    write_dataset_json(content, layout)
    copy_recipes(recipes, content, layout)


def copy_recipes(
    recipes: Mapping[str, LoadedRecipe], content: Mapping[str, Any], layout: Layout
) -> None:
    """Copy those of the user's own recipe files that a dataset applies, and their curves, into it.

    They are kept for the reader; they never run from there unless ``--recipes`` says so. Others
    in the same folder are no part of the dataset: nothing in it would vouch for them.
    """
    used = {name for split in content["splits"].values() for name in split["recipe_digests"]}
    for loaded in recipes.values():
        if loaded.shipped or loaded.recipe.id not in used:
            continue
        for path in (loaded.path, curve_path(loaded.path)):
            target = layout.recipes / path.name
            if path.is_file() and not _same(path, target):
                write_atomic(target, path.read_bytes(), layout)


def _require_made_for(content: Mapping[str, Any], layout: Layout, damage: StoreError) -> None:
    """Raise StoreError unless every receipt in a folder fits ``content``.

    What a damaged ``dataset.json`` said of the splits is lost. The receipts tell: each names its
    samples, and the fingerprint of the spec that they were made for. One that is damaged itself
    tells nothing, and its shard is made again.
    """
    after = entries(content)
    for path in sorted(layout.root.glob("*/shard-*.receipt.json")):
        split, number = path.parent.name, path.name.split(".")[0].removeprefix("shard-")
        reason = ""
        try:
            receipt = read_receipt(split, int(number), layout)
        except (StoreError, ValueError):
            continue
        if receipt is None:
            continue
        if split not in after:
            reason = f"the folder holds split '{split}' too, which this run does not name"
        elif receipt.fingerprint != after[split].fingerprint:
            reason = f"split '{split}' was made for another spec"
        elif receipt.start + receipt.count > after[split].samples:
            due = after[split].samples
            reason = f"split '{split}' has more samples than the {due} of this run"
        if reason:
            raise StoreError(
                f"{damage}; it is not written again, since {reason}: give the spec and the splits "
                "that the folder was made with, or --force, which makes it anew"
            ) from damage


def _remove_outdated(layout: Layout, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Remove what a run under ``new`` neither keeps nor replaces; only a forced run has any."""
    try:
        for name in changed_splits(old, new):
            shutil.rmtree(layout.split(name), ignore_errors=True)
            shutil.rmtree(layout.work / name, ignore_errors=True)
        after = entries(new)
        for name, entry in entries(old).items():
            if name in after:
                kept = shard_count(after[name].samples, entry.shard_size)
                for shard in range(kept, shard_count(entry.samples, entry.shard_size)):
                    layout.receipt(name, shard).unlink(missing_ok=True)
                    layout.tar(name, shard).unlink(missing_ok=True)
    except OSError as error:
        raise disk_error(layout.root, error) from error


def _same(path: Path, target: Path) -> bool:
    return target.is_file() and target.read_bytes() == path.read_bytes()
