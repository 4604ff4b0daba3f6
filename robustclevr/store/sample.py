"""One sample's files: the record and everything beside it in the shard.

A Plan and its Render enter, ``{member name: bytes}`` leaves. The record carries the whole Plan,
so a sample can be rendered again from the file stored beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RenderError
from robustclevr.imaging import (
    Footprint,
    apply_encoded,
    boxes_and_fractions,
    encode_npz,
    encode_png,
    linear_to_srgb8,
    warp_amodal,
    warp_labels,
)
from robustclevr.records import (
    ImagePlan,
    LinearImage,
    Plan,
    Render,
    RenderPass,
    Variant,
    to_json,
)
from robustclevr.store.jsonbytes import stable_json
from robustclevr.store.layout import sample_key

if TYPE_CHECKING:
    from robustclevr.recipe import LoadedRecipe

_NO_RECIPES: Mapping[str, LoadedRecipe] = MappingProxyType({})

RECORD = "json"
"""Member name of the record."""

CLEAN = "clean"


def image_member(variant: str) -> str:
    """Return the member name of an image, such as ``glare.png``."""
    return f"{variant}.png"


def mask_member(variant: str) -> str:
    """Return the member name of an image's label map, such as ``glare.mask.png``."""
    return f"{variant}.mask.png"


def array_member(output: str) -> str:
    """Return the member name of a further output, such as ``depth.npz``."""
    return f"{output}.npz"


def develop(
    image: LinearImage,
    labels: NDArray[np.uint8],
    planned: ImagePlan | None = None,
    recipes: Mapping[str, LoadedRecipe] = _NO_RECIPES,
) -> Variant:
    """Turn a scene-linear image and the clean labels into what is stored.

    Parameters
    ----------
    image : LinearImage
    labels : ndarray of uint8, shape (H, W)
        Of the clean image; moved along with the pixels.
    planned : ImagePlan, optional
        Of this image; its encoded steps are applied to the 8-bit pixels.
    recipes : mapping of str to LoadedRecipe
        Those of the encoded steps.

    Raises
    ------
    RecipeError
        If a recipe raises or breaks its contract.
    RenderError
        If a pixel is not a number.
    """
    moved = labels if image.source is None else warp_labels(labels, image.source)
    if image.labels is not None:
        moved = image.labels
    pixels = linear_to_srgb8(image.pixels)
    if planned is not None:
        pixels = apply_encoded(pixels, planned.encoded, recipes)
    return Variant(image.variant, pixels, moved)


def sample_members(
    plan: Plan,
    render: Render,
    *,
    scene: Mapping[str, Any],
    whole: NDArray[np.bool_],
    recipes: Mapping[str, LoadedRecipe] = _NO_RECIPES,
) -> dict[str, bytes]:
    """Encode one sample.

    Parameters
    ----------
    plan : Plan
    render : Render
        Of this plan.
    scene : mapping
        The scene in CLEVR's fields and names; its ``objects`` has one mapping an object.
    whole : ndarray of bool, shape (N, H, W)
        Pixels that each object would cover in the clean image if it stood alone.
    recipes : mapping of str to LoadedRecipe
        Those of the plan's encoded steps.

    Returns
    -------
    dict of str to bytes
        By member name without the key; the same bytes for the same input.

    Raises
    ------
    RenderError
        If a pixel is not a number, or the render is not of this plan.
    """
    if [image.variant for image in render.images] != [image.variant for image in plan.images]:
        raise RenderError(
            f"{plan.split}/{plan.index}: the renderer returned other images than were planned"
        )
    members: dict[str, bytes] = {}
    variants = [
        develop(image, render.labels, planned, recipes)
        for image, planned in zip(render.images, plan.images, strict=True)
    ]
    for variant in variants:
        if "image" in plan.outputs:
            members[image_member(variant.name)] = encode_png(variant.image)
        if "mask" in plan.outputs:
            members[mask_member(variant.name)] = encode_png(variant.labels)
    for name in ("amodal", "depth", "normal"):
        array = getattr(render, name)
        if name in plan.outputs and array is not None:
            members[array_member(name)] = encode_npz(**{name: array})
    members[RECORD] = stable_json(_record(plan, render, variants, scene=scene, whole=whole))
    return members


def _record(
    plan: Plan,
    render: Render,
    variants: Sequence[Variant],
    *,
    scene: Mapping[str, Any],
    whole: NDArray[np.bool_],
) -> dict[str, Any]:
    draw = plan.draw
    named = {
        "split": plan.split,
        "image_index": plan.index,
        "image_filename": f"CLEVR_{plan.split}_{sample_key(plan.index)}.png",
    }
    return {
        "index": plan.index,
        "split": plan.split,
        "seed": plan.root_seed,
        "scene": {**named, **scene},
        "objects": _objects(render, variants, scene["objects"], whole),
        "nodes": {} if draw is None else draw.nodes,
        "log_density": None if draw is None else draw.log_density,
        "interventions": {} if draw is None else draw.interventions,
        "mask_instants": mask_instants(plan.images, plan.renders),
        "render": plan.settings,
        "plan": plan,
    }


def mask_instants(
    images: Sequence[ImagePlan], renders: Sequence[RenderPass]
) -> dict[str, dict[str, str]]:
    """Return, per image that shows a span of time, which instant its labels show.

    Parameters
    ----------
    images : sequence of ImagePlan
    renders : sequence of RenderPass
        To which the images refer.

    Returns
    -------
    dict of str to dict of str to str
        By image, then by the node that smears it; images that show one instant are left out.
    """
    instants = {
        image.variant: {
            step.node: step.mask_instant
            for step in (*renders[image.render].steps, *image.steps)
            if step.severity > 0 and step.mask_instant
        }
        for image in images
    }
    return {variant: found for variant, found in instants.items() if found}


def _objects(
    render: Render,
    variants: Sequence[Variant],
    described: Sequence[Mapping[str, Any]],
    whole: NDArray[np.bool_],
) -> list[dict[str, Any]]:
    """Describe each object: CLEVR's fields, then what is seen of it in each image."""
    clean = _footprints(render.labels, whole, None)
    corrupted = {
        variant.name: _footprints(variant.labels, whole, image.source)
        for variant, image in zip(variants, render.images, strict=True)
        if variant.name != CLEAN
    }
    return [
        {
            **item,
            **to_json(clean[i]),
            "variants": {name: footprints[i] for name, footprints in corrupted.items()},
        }
        for i, item in enumerate(described)
    ]


def _footprints(
    labels: NDArray[np.uint8], whole: NDArray[np.bool_], source: NDArray[np.int32] | None
) -> tuple[Footprint, ...]:
    moved = whole if source is None else warp_amodal(whole, source)
    whole_px = np.count_nonzero(moved, axis=(1, 2)).tolist()
    return boxes_and_fractions(labels, len(whole), amodal_pixels=whole_px)
