"""What differs between the three kinds of samples: scenes, clips, corrupted pictures.

A split enters; what its records must be, which members a sample has, and how it is planned again
leave.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from robustclevr.pictures import PictureOptions
from robustclevr.plan import ClipPlanner, PicturePlanner, Planner
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import ClipPlan, PicturePlan, Plan
from robustclevr.spec import SplitSpec, split_from_document
from robustclevr.store.clip import CLIP, variant_member
from robustclevr.store.dataset import Dataset, Sample
from robustclevr.store.sample import CLEAN, RECORD, array_member, image_member, mask_member
from robustclevr.verify.clips import clip_problems
from robustclevr.verify.pictures import picture_problems
from robustclevr.verify.plans import (
    clip_record_problems,
    picture_record_problems,
    scene_record_problems,
)
from robustclevr.verify.report import Problem
from robustclevr.verify.samples import scene_problems

Recipes = Mapping[str, LoadedRecipe]
RecordCheck = Callable[[Mapping[str, Any], int], Iterator[Problem]]
"""Record of a sample and its index to what the spec does not give."""


@dataclass(frozen=True)
class Kind:
    """One kind of sample.

    Attributes
    ----------
    schema : str
        Name of the record's schema.
    plan : type
        Of the record's plan.
    picture : str
        Member that shows the sample without corruptions.
    scene : str or None
        What in the plan says what is seen, before any corruption; None where a picture does.
    members : callable
        Names of a sample's members, from its plan.
    content : callable
        What is wrong with a sample's arrays, from the sample and its plan.
    """

    schema: str
    plan: type
    picture: str
    scene: str | None
    members: Callable[[Any], frozenset[str]]
    content: Callable[[Sample, Any], Iterator[Problem]]


def kind_of(document: Mapping[str, Any], recipes: Recipes) -> Kind:
    """Return what kind of samples a split holds.

    Parameters
    ----------
    document : mapping
        Of the split, from ``dataset.json``.
    recipes : mapping of str to LoadedRecipe
    """
    if "video" in document:
        return Kind("clip-record", ClipPlan, CLIP, "clip", _clip_members, clip_problems)
    if "pictures" in document:
        masks = "mask" in document["outputs"]
        return Kind(
            "picture-record",
            PicturePlan,
            image_member(CLEAN),
            None,
            functools.partial(_picture_members, masks=masks),
            functools.partial(picture_problems, recipes=recipes, masks=masks),
        )
    content = functools.partial(scene_problems, recipes=recipes)
    return Kind("record", Plan, image_member(CLEAN), "scene", _scene_members, content)


def load_split(dataset: Dataset, split: str, recipes: Recipes) -> SplitSpec:
    """Return the spec of a split as ``dataset.json`` has it.

    Raises
    ------
    SpecError
        If it names a recipe that is not loaded.
    """
    document = dataset.split(split).document
    file = str(dataset.layout.dataset_json)
    spec = split_from_document(split, document, recipes, file=file)
    if "pictures" not in document:
        return spec
    # The pictures themselves need not be here: records name them.
    return replace(spec, pictures=PictureOptions("", None, document["pictures"]["engine"]))


def record_check(spec: SplitSpec, recipes: Recipes, root_seed: int) -> RecordCheck:
    """Return the check of a record against the spec: the sample is planned again.

    Raises
    ------
    SpecError
        If the split asks for what its model does not have.
    """
    if spec.video is not None:
        clips = ClipPlanner(spec, recipes, root_seed=root_seed)
        return lambda record, index: clip_record_problems(record, clips, index)
    if spec.pictures is not None:
        pictures = PicturePlanner(spec, recipes, root_seed=root_seed)
        return lambda record, index: picture_record_problems(record, pictures, index)
    scenes = Planner(spec, recipes, root_seed=root_seed)
    return lambda record, index: scene_record_problems(record, scenes, index)


def absent_sources(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files and folders that clips are drawn from and that are not here."""
    video = document.get("video", {})
    named = (video.get(key) for key in ("dsprites", "textures"))
    return tuple(str(path) for path in named if path and not Path(path).exists())


def _scene_members(plan: Plan) -> frozenset[str]:
    variants = [image.variant for image in plan.images]
    names = [RECORD]
    names += map(image_member, variants if "image" in plan.outputs else ())
    names += map(mask_member, variants if "mask" in plan.outputs else ())
    arrays = (name for name in ("amodal", "depth", "normal") if name in plan.outputs)
    return frozenset([*names, *map(array_member, arrays)])


def _clip_members(plan: ClipPlan) -> frozenset[str]:
    variants = [variant.variant for variant in plan.variants if variant.variant != CLEAN]
    return frozenset([RECORD, CLIP, *map(variant_member, variants)])


def _picture_members(plan: PicturePlan, *, masks: bool) -> frozenset[str]:
    variants = [image.variant for image in plan.images]
    named = map(mask_member, variants if masks else ())
    return frozenset([RECORD, *map(image_member, variants), *named])
