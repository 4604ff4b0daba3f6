"""Checks on files beside the shards: index, scenes, copies of recipes, and what is left over."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from robustclevr.errors import StoreError
from robustclevr.recipe import LoadedRecipe, curve_path
from robustclevr.store.dataset import Dataset
from robustclevr.store.receipts import file_sha256
from robustclevr.store.tables import read_index
from robustclevr.verify.draws import INDEX_AGAIN
from robustclevr.verify.report import CheckResult, Problem

_GENERATE_AGAIN = "run the same 'generate' command again"
_REMOVE = "remove it, or move it out of the dataset"


def check_files(
    dataset: Dataset, tars: Mapping[str, Mapping[str, str]], recipes: Mapping[str, LoadedRecipe]
) -> CheckResult:
    """Compare ``index.json`` with the files of splits, recipe copies with their digests.

    A file that does not belong into the folder of a split or of recipes is a problem, since
    programs that read a folder of shards would read it; one beside them is only noted.

    Parameters
    ----------
    dataset : Dataset
    tars : mapping of str to mapping of str to str
        sha256 of each sound shard, by split and file name.
    recipes : mapping of str to LoadedRecipe
        Those that are shipped have no copy in the dataset.
    """
    started = time.perf_counter()
    problems: list[Problem] = []
    index: Mapping[str, Mapping[str, str]] = {}
    try:
        index = read_index(dataset.layout)
    except (StoreError, OSError) as error:
        problems.append(Problem(str(error), remedy=INDEX_AGAIN))
    whole = [split for split in dataset.splits if len(tars[split]) == len(dataset.shards(split))]
    problems += _index_problems(dataset, index, tars, whole)
    copies = recipe_copies(dataset.content, recipes)
    problems += _recipe_problems(dataset, copies)
    strays = _leftovers(dataset, index, copies)
    inside = [path for path in strays if path.parent != dataset.layout.root]
    problems += [Problem("does not belong here", file=str(p), remedy=_REMOVE) for p in inside]
    if len(whole) == len(dataset.splits) and dataset.layout.work.exists():
        what, file = "is left over from a run that was stopped", str(dataset.layout.work)
        problems.append(Problem(what, file=file, remedy=_GENERATE_AGAIN))
    beside = ", ".join(path.name for path in strays if path.parent == dataset.layout.root)
    note = f"not of the dataset: {beside}" if beside else ""
    checked = 2 + sum(map(len, index.values())) + len(copies)
    seconds = time.perf_counter() - started
    return CheckResult("files", "", checked, tuple(problems), note, seconds)


def check_scenes(dataset: Dataset, split: str, scenes: Sequence[bytes]) -> CheckResult | None:
    """Compare ``scenes.json`` with the records.

    Parameters
    ----------
    dataset : Dataset
    split : str
        A whole split.
    scenes : sequence of bytes
        Digest of each scene, in order; empty for a split without such a file.

    Returns
    -------
    CheckResult or None
        None where there is no such file to be.
    """
    if not scenes:
        return None
    started, path = time.perf_counter(), dataset.layout.scenes(split)
    problems = []
    try:
        lines = path.read_bytes().split(b"\n")[1:-2]
    except OSError as error:
        problems.append(Problem(f"cannot be read: {error.strerror}"))
        lines = []
    found = [hashlib.blake2b(line.removesuffix(b","), digest_size=16).digest() for line in lines]
    if lines and len(found) != len(scenes):
        problems.append(Problem("number of scenes", str(len(found)), str(len(scenes))))
    elif lines:
        wrong = [
            row for row, pair in enumerate(zip(found, scenes, strict=True)) if len({*pair}) > 1
        ]
        problems += [
            Problem("this scene is not the one in its record", sample=f"{split}/{row:06d}")
            for row in wrong
        ]
    return CheckResult(
        "scenes",
        split,
        len(scenes),
        tuple(problem.at(file=str(path), remedy=INDEX_AGAIN) for problem in problems),
        seconds=time.perf_counter() - started,
    )


def recipe_copies(
    content: Mapping[str, Any], recipes: Mapping[str, LoadedRecipe]
) -> dict[str, str]:
    """Return the sha256 of each copy of a user's recipe file, and of its curve, by file name.

    Parameters
    ----------
    content : mapping
        Of ``dataset.json``.
    recipes : mapping of str to LoadedRecipe
        The user's need not be among them.
    """
    named: dict[str, str] = {}
    for document in content["splits"].values():
        for recipe_id, digests in document.get("recipe_digests", {}).items():
            if recipe_id in recipes and recipes[recipe_id].shipped:
                continue
            file = Path(f"{recipe_id}.py")
            named[file.name] = digests["file"]
            if digests["curve"] is not None:
                named[curve_path(file).name] = digests["curve"]
    return named


def _index_problems(
    dataset: Dataset,
    index: Mapping[str, Mapping[str, str]],
    tars: Mapping[str, Mapping[str, str]],
    whole: Sequence[str],
) -> Iterator[Problem]:
    layout = dataset.layout
    for split in dataset.splits:
        files = index.get(split, {})
        if split in whole and not files:
            what = f"says nothing of split '{split}', which is whole"
            yield Problem(what, file=str(layout.index_json), remedy=INDEX_AGAIN)
        for name, digest in files.items():
            path = layout.split(split) / name
            if not path.is_file():
                what = "is missing, though index.json lists it"
            elif (tars[split].get(name) or file_sha256(path)) != digest:
                what = "its sha256 is not the one in index.json"
            else:
                continue
            yield Problem(what, file=str(path), remedy=INDEX_AGAIN)
        for name in sorted(tars[split].keys() - files.keys()) if files else ():
            what = f"does not list {split}/{name}"
            yield Problem(what, file=str(layout.index_json), remedy=INDEX_AGAIN)
    for split in sorted(index.keys() - set(whole)):
        what = f"lists split '{split}', which is not whole"
        yield Problem(what, file=str(layout.index_json), remedy=INDEX_AGAIN)


def _recipe_problems(dataset: Dataset, copies: Mapping[str, str]) -> Iterator[Problem]:
    for name, digest in copies.items():
        path = dataset.layout.recipes / name
        if not path.is_file():
            what = "is missing: a copy of each of the user's recipes belongs to the dataset"
        elif file_sha256(path) != digest:
            what = "its sha256 is not the one in dataset.json"
        else:
            continue
        yield Problem(what, file=str(path), remedy=_GENERATE_AGAIN)


def _leftovers(
    dataset: Dataset, index: Mapping[str, Mapping[str, str]], copies: Mapping[str, str]
) -> list[Path]:
    """Return the files in the folder that are not of the dataset, work in progress left out."""
    layout = dataset.layout
    expected = {layout.dataset_json, layout.index_json}
    expected |= {layout.recipes / name for name in copies}
    for split in dataset.splits:
        expected |= {place.tar for place in dataset.shards(split)}
        expected |= {place.receipt for place in dataset.shards(split)}
        expected |= {layout.draws(split), layout.scenes(split)}
        expected |= {layout.split(split) / name for name in index.get(split, {})}
    return [
        path
        for path in sorted(layout.root.rglob("*"))
        if path.is_file() and path not in expected and layout.work not in path.parents
    ]
