"""A DAG on existing pictures as a dataset: what ``robustclevr corrupt`` makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from robustclevr.errors import Problem, SpecError
from robustclevr.pictures import PictureOptions
from robustclevr.recipe import LoadedRecipe
from robustclevr.spec.dataset import PICTURES, read_dataset
from robustclevr.spec.document import as_document
from robustclevr.spec.interventions import grid_size
from robustclevr.spec.model import DagSpec, DatasetSpec, NodeSpec, SplitSpec
from robustclevr.spec.overrides import apply_overrides, set_value

LICENCE = "that of the pictures"

_SHARD_SIZE = 256
"""Chosen: pictures are small, and one takes some hundredths of a second."""

_NOT_OF_PICTURES = ("scene", "render", "video", "scenario", "per")


def pictures_dataset(
    dag: str,
    recipes: Mapping[str, LoadedRecipe],
    options: PictureOptions,
    *,
    samples: int,
    has_masks: bool,
    overrides: Sequence[str] = (),
    seed: int = 0,
) -> DatasetSpec:
    """Return the dataset of one split, ``pictures``, that a DAG makes of pictures.

    Parameters
    ----------
    dag : str
        Name of a shipped DAG, or a path.
    recipes : mapping of str to LoadedRecipe
    options : PictureOptions
    samples : int
        Number of pictures.
    has_masks : bool
        Whether label maps are stored.
    overrides : sequence of str
        ``PATH=VALUE``: ``emit``, ``shard_size`` and interventions under ``splits.pictures``.
    seed : int

    Raises
    ------
    SpecError
        With all that is wrong; also if a recipe needs a scene, which a picture does not have.
    """
    split = {"samples": samples}
    document = as_document({"family": "clevr", "splits": {PICTURES: split}}, "--set")
    set_value(document, "dag", dag, option="--dag")
    set_value(document, "shard_size", _SHARD_SIZE, option="--set")
    outputs = ["image", "mask"] if has_masks else ["image"]
    set_value(document, "outputs", outputs, option="--set")
    apply_overrides(document, overrides)
    _refuse(document.data)
    set_value(document, "seed", seed, option="--seed")
    read = read_dataset(document, recipes, default_name=PICTURES)
    made = _as_pictures(read.split(PICTURES), options)
    _check(made)
    return replace(read, splits=(made,), licence=LICENCE)


def missing_twins(split: SplitSpec, recipes: Mapping[str, LoadedRecipe]) -> tuple[str, ...]:
    """Return the ids of the image-stage recipes of a split that only Blender can apply."""
    return tuple(
        sorted(
            {
                node.recipe.id
                for node in _applied(split.dag)
                if node.recipe is not None
                and node.recipe.stage == "image"
                and recipes[node.recipe.id].apply is None
            }
        )
    )


def pictures_of(split: SplitSpec) -> PictureOptions:
    """Return where a split's pictures come from; ValueError if it has none."""
    if split.pictures is None:
        raise ValueError(f"split '{split.name}' of family '{split.family}' holds no pictures")
    return split.pictures


def picture_count(split: SplitSpec) -> int:
    """Return the number of pictures behind a split: a grid uses each several times."""
    return split.samples // grid_size(split.interventions.get("grid"))


def _as_pictures(split: SplitSpec, options: PictureOptions) -> SplitSpec:
    kept = {
        key: value
        for key, value in split.document.items()
        if key not in ("scene", "render", "family")
    }
    document = {"family": PICTURES, **kept, PICTURES: {"engine": options.engine}}
    return replace(split, family=PICTURES, pictures=options, document=document)


def _refuse(data: Mapping[str, object]) -> None:
    """Raise SpecError if an override sets what has no meaning for pictures."""
    splits = data["splits"]
    inner = splits.get(PICTURES, {}) if isinstance(splits, dict) else {}
    for place in (data, inner):
        for key in _NOT_OF_PICTURES if isinstance(place, dict) else ():
            if key in place:
                what = f"'{key}' has no meaning for existing pictures"
                raise SpecError.single(what, file="--set", hint="set emit, shard_size or splits")


def _check(split: SplitSpec) -> None:
    problems = [*_stage_problems(split.dag)]
    if "worst_case" in split.interventions:
        problems.append(Problem("'worst_case' on pictures is not built yet", "--set"))
    if set(split.outputs) - {"image", "mask"}:
        problems.append(Problem("pictures have images and masks only", "--set", path="outputs"))
    if split.dag is None:
        problems.append(Problem("no DAG is named", "--dag"))
    if problems:
        raise SpecError(problems)


def _stage_problems(dag: DagSpec | None) -> Iterable[Problem]:
    for node in _applied(dag):
        recipe = node.recipe
        if dag is None or recipe is None or (recipe.stage != "scene" and not recipe.needs):
            continue
        lack = "a scene" if recipe.stage == "scene" else f"the pass '{recipe.needs[0]}'"
        what = f"'{node.id}' applies '{recipe.id}', which needs {lack}: a picture has none"
        hint = "leave it out of the DAG; 'robustclevr recipe list' says the stage of each recipe"
        yield Problem(what, dag.file, node.line, f"nodes.{node.id}", hint)


def _applied(dag: DagSpec | None) -> tuple[NodeSpec, ...]:
    return () if dag is None else tuple(node for node in dag.nodes if node.recipe is not None)
