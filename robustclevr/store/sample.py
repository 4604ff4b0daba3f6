"""One sample's files: the record and everything beside it in the shard.

A Plan and its Render enter, ``{member name: bytes}`` leaves. The record carries the whole Plan,
so a sample can be rendered again from the file stored beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RenderError
from robustclevr.imaging import (
    boxes_and_fractions,
    encode_npz,
    encode_png,
    linear_to_srgb8,
    warp_amodal,
    warp_labels,
)
from robustclevr.records import LinearImage, Plan, Render, Variant, to_json
from robustclevr.store.jsonbytes import stable_json
from robustclevr.store.layout import sample_key

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


def develop(image: LinearImage, labels: NDArray[np.uint8]) -> Variant:
    """Turn a scene-linear image and the clean labels into what is stored.

    Parameters
    ----------
    image : LinearImage
    labels : ndarray of uint8, shape (H, W)
        Of the clean image; moved along with the pixels.
    """
    moved = labels if image.source is None else warp_labels(labels, image.source)
    return Variant(image.variant, linear_to_srgb8(image.pixels), moved)


def sample_members(
    plan: Plan, render: Render, *, scene: Mapping[str, Any], unoccluded_px: Sequence[int]
) -> dict[str, bytes]:
    """Encode one sample.

    Parameters
    ----------
    plan : Plan
    render : Render
        Of this plan.
    scene : mapping
        The scene in CLEVR's fields and names; its ``objects`` has one mapping an object.
    unoccluded_px : sequence of int
        Pixels each object would cover in the clean image if it stood alone; used where no
        amodal masks were rendered.

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
    variants = [develop(image, render.labels) for image in render.images]
    for variant in variants:
        if "image" in plan.outputs:
            members[image_member(variant.name)] = encode_png(variant.image)
        if "mask" in plan.outputs:
            members[mask_member(variant.name)] = encode_png(variant.labels)
    for name in ("amodal", "depth", "normal"):
        array = getattr(render, name)
        if name in plan.outputs and array is not None:
            members[array_member(name)] = encode_npz(**{name: array})
    members[RECORD] = stable_json(
        _record(plan, render, variants, scene=scene, unoccluded_px=unoccluded_px)
    )
    return members


def _record(
    plan: Plan,
    render: Render,
    variants: Sequence[Variant],
    *,
    scene: Mapping[str, Any],
    unoccluded_px: Sequence[int],
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
        "objects": _objects(render, variants, scene["objects"], unoccluded_px),
        "nodes": {} if draw is None else draw.nodes,
        "log_density": None if draw is None else draw.log_density,
        "interventions": {} if draw is None else draw.interventions,
        "render": plan.settings,
        "plan": plan,
    }


def _objects(
    render: Render,
    variants: Sequence[Variant],
    described: Sequence[Mapping[str, Any]],
    unoccluded_px: Sequence[int],
) -> list[dict[str, Any]]:
    """Describe each object: CLEVR's fields, then what is seen of it in each image."""
    count = len(described)
    clean = boxes_and_fractions(
        render.labels, count, amodal_pixels=_whole_px(render, None, unoccluded_px)
    )
    corrupted = {
        variant.name: boxes_and_fractions(
            variant.labels, count, amodal_pixels=_whole_px(render, image.source, unoccluded_px)
        )
        for variant, image in zip(variants, render.images, strict=True)
        if variant.name != CLEAN
    }
    return [
        {
            **described[i],
            **to_json(clean[i]),
            "variants": {name: footprints[i] for name, footprints in corrupted.items()},
        }
        for i in range(count)
    ]


def _whole_px(
    render: Render, source: NDArray[np.int32] | None, unoccluded_px: Sequence[int]
) -> Sequence[int] | None:
    """Return the pixels of each object without the others, None where that is not known."""
    if render.amodal is None:
        # Where the pixels moved, how much of each whole object moved along was not rendered.
        return unoccluded_px if source is None else None
    masks = render.amodal if source is None else warp_amodal(render.amodal, source)
    return [int(mask.sum()) for mask in masks]
