"""Checks on one image and its label map, of a rendered scene as of a given picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robustclevr.imaging import boxes_and_fractions
from robustclevr.store.dataset import Sample
from robustclevr.store.sample import CLEAN

Size = tuple[int, int]
"""Height and width. [px]"""


def image_problems(sample: Sample, variant: str, size: Size) -> Iterator[str]:
    """Yield if an image is not of the planned size."""
    shape, expected = sample.image(variant).shape, (*size, 3)
    if shape != expected:
        yield f"image '{variant}' is of shape {shape}, expected {expected}"


def label_problems(
    sample: Sample,
    variant: str,
    size: Size,
    objects: Sequence[Mapping[str, Any]],
    *,
    required: int = 0,
) -> Iterator[str]:
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
        yield f"labels of '{variant}' are of shape {labels.shape}, expected {size}"
        return
    if labels.max(initial=0) > len(objects):
        yield f"labels of '{variant}' reach {labels.max()}, but there are {len(objects)} objects"
        return
    seen = boxes_and_fractions(labels, len(objects))
    for number, (footprint, described) in enumerate(zip(seen, objects, strict=True), start=1):
        entry = described if variant == CLEAN else described["variants"][variant]
        box = entry["box"] and tuple(entry["box"])
        if (box, entry["visible_pixels"]) != (footprint.box, footprint.visible_pixels):
            yield (
                f"object {number} in '{variant}' has box {footprint.box} and "
                f"{footprint.visible_pixels} px, its record says {box} and "
                f"{entry['visible_pixels']} px"
            )
        if variant == CLEAN and footprint.visible_pixels < required:
            yield (
                f"object {number} shows {footprint.visible_pixels} px, at least {required} "
                "are required"
            )
