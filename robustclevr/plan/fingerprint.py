"""The fingerprint of a split: equal exactly if the same sample would come out the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from robustclevr import DATASET_VERSION
from robustclevr.plan.sources import source_digests
from robustclevr.recipe import LoadedRecipe, curve_path
from robustclevr.records import canonical_json
from robustclevr.spec import SplitSpec


def fingerprint(split: SplitSpec, recipes: Mapping[str, LoadedRecipe], *, root_seed: int) -> str:
    """Hash everything that pixels, labels or draws of a split depend on.

    Covers the resolved spec without the number of samples, the DAG, the recipe files that the
    DAG uses with their curves, the pictures that clips are made from, the root seed and the
    dataset version. Leaves out what must not matter: the device, the number of workers, the
    package's version.

    Parameters
    ----------
    split : SplitSpec
    recipes : mapping of str to LoadedRecipe
    root_seed : int

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    document = {key: value for key, value in split.document.items() if key != "samples"}
    content = {
        "dataset_version": DATASET_VERSION,
        "root_seed": root_seed,
        "split": split.name,
        "spec": document,
        "recipes": recipe_digests(split, recipes),
    }
    sources = source_digests(split)
    if sources:
        content["sources"] = sources
    return hashlib.sha256(canonical_json(content)).hexdigest()


def recipe_digests(
    split: SplitSpec, recipes: Mapping[str, LoadedRecipe]
) -> dict[str, dict[str, str | None]]:
    """Return the sha256 of the file and of the curve of every recipe that a split applies."""
    nodes = () if split.dag is None else split.dag.nodes
    used = sorted({node.recipe.id for node in nodes if node.recipe is not None})
    return {recipe_id: _digests(recipes[recipe_id]) for recipe_id in used}


def _digests(loaded: LoadedRecipe) -> dict[str, str | None]:
    curve = curve_path(loaded.path)
    digest = hashlib.sha256(curve.read_bytes()).hexdigest() if curve.is_file() else None
    return {"file": loaded.digest, "curve": digest}
