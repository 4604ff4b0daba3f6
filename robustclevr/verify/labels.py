"""Checks on one image and its label map, of a rendered scene as of a given picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robustclevr.imaging import boxes_and_fractions
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import ImagePlan, RenderPass
from robustclevr.store.dataset import Sample
from robustclevr.store.sample import CLEAN, image_member, mask_member
from robustclevr.verify.report import Problem

Size = tuple[int, int]
"""Height and width. [px]"""


def image_problems(sample: Sample, variant: str, size: Size) -> Iterator[Problem]:
    """Yield if an image is not of the planned size."""
    shape, expected = sample.image(variant).shape, (*size, 3)
    if shape != expected:
        yield Problem(f"shape of image '{variant}'", str(shape), str(expected))


def label_problems(
    sample: Sample,
    variant: str,
    size: Size,
    objects: Sequence[Mapping[str, Any]],
    *,
    required: int = 0,
) -> Iterator[Problem]:
    """Yield where a label map is not what the record says of the objects.

    Parameters
    ----------
    sample : Sample
    variant : str
    size : pair of int
        Height and width. [px]
    objects : sequence of mapping
        Of the record.
    required : int
        Pixels that each object shows in the clean image at least.
    """
    labels = sample.labels(variant)
    if labels.shape != size:
        yield Problem(f"shape of labels of '{variant}'", str(labels.shape), str(size))
        return
    if labels.max(initial=0) > len(objects):
        due = f"at most {len(objects)}, the number of objects"
        yield Problem(f"largest label of '{variant}'", str(labels.max()), due)
        return
    seen = boxes_and_fractions(labels, len(objects))
    for number, (footprint, described) in enumerate(zip(seen, objects, strict=True), start=1):
        entry = described if variant == CLEAN else described["variants"][variant]
        box = entry["box"] and tuple(entry["box"])
        found, recorded = (footprint.box, footprint.visible_pixels), (box, entry["visible_pixels"])
        if found != recorded:
            yield Problem(
                f"box of object {number} in '{variant}'",
                "{} and {} px in the labels".format(*found),
                "{} and {} px as its record says".format(*recorded),
            )
        if variant == CLEAN and footprint.visible_pixels < required:
            seen_px = str(footprint.visible_pixels)
            yield Problem(f"visible pixels of object {number}", seen_px, f"at least {required}")


def derived_problems(
    sample: Sample,
    images: Sequence[ImagePlan],
    renders: Sequence[RenderPass],
    recipes: Mapping[str, LoadedRecipe],
) -> Iterator[Problem]:
    """Yield where an image differs from the clean one, or its labels do, though nothing says so.

    An image whose steps all have severity 0 is the clean image; labels move only where a recipe
    moves pixels. Bytes are compared: equal pixels are encoded to equal bytes.
    """
    for image in images:
        steps = (*renders[image.render].steps, *image.steps, *image.encoded)
        acting = [step.recipe for step in steps if step.severity > 0]
        moving = [
            name for name in acting if name in recipes and recipes[name].recipe.geometry == "warps"
        ]
        unknown = not recipes.keys() >= set(acting)
        if not acting:
            yield from _same_bytes(sample, image_member, image.variant, "image")
        if not moving and not unknown:
            yield from _same_bytes(sample, mask_member, image.variant, "label map")


def _same_bytes(sample: Sample, member: Any, variant: str, what: str) -> Iterator[Problem]:
    clean, mine = sample.members.get(member(CLEAN)), sample.members.get(member(variant))
    if clean is not None and mine is not None and clean != mine:
        yield Problem(f"{what} '{variant}' differs from the clean one, though no step changes it")
