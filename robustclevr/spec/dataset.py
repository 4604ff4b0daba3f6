"""A dataset file to a :class:`DatasetSpec`: its DAGs loaded, its splits resolved, all errors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from robustclevr.errors import SpecError, suggest
from robustclevr.recipe import LoadedRecipe
from robustclevr.spec.dag import build_dag, load_dag
from robustclevr.spec.dataset_schema import DatasetFile
from robustclevr.spec.document import Document, Place, as_document, join
from robustclevr.spec.interventions import grid_size
from robustclevr.spec.library import find_dag, find_dataset
from robustclevr.spec.model import DagSpec, DatasetSpec, SplitSpec
from robustclevr.spec.overrides import OPTION_PREFIX, apply_overrides, set_value
from robustclevr.spec.reading import read_document
from robustclevr.spec.schema import validate
from robustclevr.spec.split import IMAGE_FAMILIES, VIDEO_FAMILIES, SplitReader

_SPLIT_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_RECIPES_FOLDER = "recipes"
_FAMILY_KEYS = {
    **dict.fromkeys(("scene", "render"), IMAGE_FAMILIES),
    **dict.fromkeys(("video", "scenario", "per"), VIDEO_FAMILIES),
}


def load_dataset(
    name_or_path: str | Path,
    recipes: Mapping[str, LoadedRecipe],
    *,
    overrides: Sequence[str] = (),
    seed: int | None = None,
) -> DatasetSpec:
    """Load a dataset.

    Parameters
    ----------
    name_or_path : str or Path
        A name of the catalogue, or a path: a Path, or a text that ends in .yaml or .yml or holds
        a slash.
    recipes : mapping of str to LoadedRecipe
        From :func:`robustclevr.recipe.load_recipes`.
    overrides : sequence of str
        ``PATH=VALUE``, applied in this order before anything is checked.
    seed : int, optional
        Replaces the file's root seed; >= 0.

    Returns
    -------
    DatasetSpec
        Splits that are not built yet load too: see :func:`require_built`.

    Raises
    ------
    SpecError
        With everything that is wrong with the file, its overrides and its DAGs.
    """
    path = find_dataset(name_or_path)
    document = read_document(path)
    apply_overrides(document, overrides)
    if seed is not None:
        set_value(document, "seed", seed, option=f"--seed {seed}")
    return _Reader(document, recipes, path.parent).dataset(path.stem)


def read_dataset(
    document: Document, recipes: Mapping[str, LoadedRecipe], *, default_name: str
) -> DatasetSpec:
    """Read a dataset that did not come from a file; paths in it start at the working folder.

    Raises
    ------
    SpecError
        With everything that is wrong with it.
    """
    return _Reader(document, recipes, Path()).dataset(default_name)


PICTURES = "pictures"
"""The family of datasets that are made of existing pictures."""

_NOT_IN_A_FILE = ("family", "pictures", "twin_base", "recipe_digests", "source_digests")
"""Keys of a stored split that a file does not have."""


def split_from_document(
    name: str, document: Mapping[str, Any], recipes: Mapping[str, LoadedRecipe], *, file: str
) -> SplitSpec:
    """Load a split from its own :attr:`SplitSpec.document`; ``file`` names it in messages.

    A ``twin_of`` is taken as it stands, the other split being out of sight.

    Raises
    ------
    SpecError
        If the document is not one of a split, or names a recipe that is not loaded.
    """
    split = {key: value for key, value in document.items() if key not in _NOT_IN_A_FILE}
    family = document.get("family")
    if "grid" in split and isinstance(split.get("samples"), int):
        split["samples"] //= grid_size(split["grid"])
    splits = {name: split}
    twin = split.get("twin_of")
    if isinstance(twin, str):
        kin: dict[str, Any] = {
            key: value
            for key, value in split.items()
            if key in ("samples", "dag", "scene", "per", "video")
        }
        splits[twin] = {**kin, **document.get("twin_base", {})}
    # Existing pictures are no family of a file; their draws are those of any image family.
    data = {"family": IMAGE_FAMILIES[0] if family == PICTURES else family, "splits": splits}
    dataset = _Reader(as_document(data, file), recipes, Path()).dataset(name)
    return dataset.split(name)


class _Reader:
    def __init__(
        self, document: Document, recipes: Mapping[str, LoadedRecipe], folder: Path
    ) -> None:
        self._document, self._recipes, self._folder = document, recipes, folder
        self._dags: dict[str, DagSpec | None] = {}

    def dataset(self, default_name: str) -> DatasetSpec:
        document = self._document
        file = validate(DatasetFile, document)
        family = self._family(file)
        if not file.splits and not any(path.startswith("splits") for path in document.broken):
            document.problem("splits", "there are no splits", "such as test: {samples: 1000}")
        reader = SplitReader(document, file, family, self._folder)
        splits = []
        for name, split in file.splits.items():
            path = join("splits", name)
            if not _SPLIT_NAME.fullmatch(name) or name == _RECIPES_FOLDER:
                hint = "lower-case letters, digits, - and _, a letter first: it names a folder"
                if name == _RECIPES_FOLDER:
                    hint = "this folder of a dataset holds the user's recipe files"
                document.problem(path, f"'{name}' is not a valid name", hint)
            own = "dag" in split.model_fields_set
            dag = self._dag(join(path, "dag") if own else "dag", split.dag if own else file.dag)
            splits.append(reader.read(name, dag))
        document.raise_problems()
        return DatasetSpec(
            name=file.name or default_name,
            summary=file.summary,
            source=file.source,
            licence=file.licence,
            seed=file.seed,
            splits=tuple(splits),
            file=document.file,
        )

    def _family(self, file: DatasetFile) -> str:
        families = (*IMAGE_FAMILIES, *VIDEO_FAMILIES)
        if file.family is None:
            if "family" not in self._document.broken:
                top = Place(self._document.file, 1)
                hint = suggest("", families)
                self._document.problem("family", "'family' is missing", hint, place=top)
            return families[0]
        for key, allowed in _FAMILY_KEYS.items():
            paths = [key] if key in file.model_fields_set else []
            for name, split in file.splits.items():
                paths += [join("splits", name, key)] if key in split.model_fields_set else []
            for path in paths if file.family not in allowed else ():
                what = f"'{key}' has no meaning for family '{file.family}'"
                self._document.problem(path, what, f"it belongs to {', '.join(allowed)}")
        return file.family

    def _dag(self, path: str, value: str | dict[str, Any] | None) -> DagSpec | None:
        if value is None:
            return None
        key = value if isinstance(value, str) else path
        if key not in self._dags:
            self._dags[key] = self._load(path, value)
        if self._dags[key] is None:
            self._document.broken.add(path)
        return self._dags[key]

    def _load(self, path: str, value: str | dict[str, Any]) -> DagSpec | None:
        document = self._document
        try:
            if isinstance(value, dict):
                return build_dag(document.below(path), self._recipes, name="dag")
            # A path on the command line starts where the person stands.
            typed = document.place(path).file.startswith(OPTION_PREFIX)
            file = find_dag(value, relative_to=None if typed else self._folder)
        except SpecError as error:
            for problem in error.problems:
                if problem.file is None:
                    document.problem(path, problem.message, problem.hint)
                else:
                    document.problems.append(problem)
            return None
        if not file.is_file():
            start = "the working folder" if typed else "this file's folder"
            document.problem(path, f"there is no file '{value}'", f"paths start at {start}")
            return None
        try:
            return load_dag(file, self._recipes)
        except SpecError as error:
            document.problems.extend(error.problems)
            return None
