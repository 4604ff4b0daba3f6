"""One corrupted picture's files: its images, its label maps, the record.

A PicturePlan, the picture and what was made of it enter, ``{member name: bytes}`` leaves: the
members of a rendered sample, without those that need a scene.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robustclevr.imaging import boxes_and_fractions, encode_png
from robustclevr.pictures import Mask
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import LinearImage, PicturePlan, RenderPass, Variant, to_json
from robustclevr.store.jsonbytes import stable_json
from robustclevr.store.sample import (
    CLEAN,
    RECORD,
    develop,
    image_member,
    mask_instants,
    mask_member,
)

_THE_PICTURE = (RenderPass(()),)
"""What all images of a picture are made from."""


def picture_members(
    plan: PicturePlan,
    made: Sequence[LinearImage],
    mask: Mask | None,
    recipes: Mapping[str, LoadedRecipe],
) -> dict[str, bytes]:
    """Encode one sample.

    Parameters
    ----------
    plan : PicturePlan
    made : sequence of LinearImage
        In the order of its images.
    mask : Mask or None
        Of the picture; None where masks are not asked for.
    recipes : mapping of str to LoadedRecipe
        Those of the plan's encoded steps.

    Returns
    -------
    dict of str to bytes
        By member name without the key; the same bytes for the same input.

    Raises
    ------
    RecipeError
        If a recipe raises or breaks its contract.
    RenderError
        If a pixel is not a number.
    """
    size = (plan.picture.height, plan.picture.width)
    labels = np.zeros(size, np.uint8) if mask is None else mask.labels
    variants = [
        develop(image, labels, planned, recipes)
        for image, planned in zip(made, plan.images, strict=True)
    ]
    members = {image_member(variant.name): encode_png(variant.image) for variant in variants}
    if mask is not None:
        members |= {mask_member(variant.name): encode_png(variant.labels) for variant in variants}
    members[RECORD] = stable_json(_record(plan, variants, mask))
    return members


def _record(plan: PicturePlan, variants: Sequence[Variant], mask: Mask | None) -> dict[str, Any]:
    picture, draw = plan.picture, plan.draw
    return {
        "index": plan.index,
        "split": plan.split,
        "seed": plan.root_seed,
        "picture": picture,
        "objects": [] if mask is None else _objects(variants, mask),
        "nodes": draw.nodes,
        "log_density": draw.log_density,
        "interventions": draw.interventions,
        "mask_instants": mask_instants(plan.images, _THE_PICTURE),
        "render": {"height": picture.height, "width": picture.width},
        "plan": plan,
    }


def _objects(variants: Sequence[Variant], mask: Mask) -> list[dict[str, Any]]:
    """Describe each object: its value in the mask's file, then what is seen of it in each image.

    What lies hidden behind others is not known, so no visible fraction is.
    """
    count = len(mask.values)
    clean = boxes_and_fractions(mask.labels, count)
    seen = {
        variant.name: boxes_and_fractions(variant.labels, count)
        for variant in variants
        if variant.name != CLEAN
    }
    return [
        {
            "value": value,
            **to_json(clean[i]),
            "variants": {name: footprints[i] for name, footprints in seen.items()},
        }
        for i, value in enumerate(mask.values)
    ]
