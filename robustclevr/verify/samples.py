"""Checks on samples: the record against the label maps that it describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RobustClevrError
from robustclevr.imaging import boxes_and_fractions
from robustclevr.records import Plan, from_json
from robustclevr.store.dataset import Dataset, Sample
from robustclevr.verify.report import CheckResult

CLEAN = "clean"


def check_samples(dataset: Dataset, split: str) -> CheckResult:
    """Check every sample of a split; see :func:`sample_problems`."""
    problems: list[str] = []
    count = 0
    seed = dataset.content["seed"]
    try:
        for count, sample in enumerate(dataset.samples(split), start=1):
            problems += _problems_of(sample, index=count - 1, root_seed=seed)
    except RobustClevrError as error:
        problems.append(str(error))
    return CheckResult("labels", split, count, tuple(problems))


def _problems_of(sample: Sample, *, index: int, root_seed: int) -> list[str]:
    name = f"{sample.split}/{sample.key}"
    try:
        found = sample_problems(sample, index=index, root_seed=root_seed)
        return [f"{name}: {problem}" for problem in found]
    except RobustClevrError as error:
        return [f"{name}: {error}"]
    except (KeyError, TypeError, AttributeError) as error:
        return [f"{name}: its record lacks a part: {type(error).__name__}: {error}"]


def sample_problems(sample: Sample, *, index: int, root_seed: int) -> Iterator[str]:
    """Yield what is wrong with one sample.

    Its record must name this sample and hold a readable Plan; every planned image and label map
    must be there with the planned size; labels must be objects of the record, each with at least
    the required number of visible pixels in the clean image; boxes, pixels and fractions in the
    record must be those of the label maps.

    Parameters
    ----------
    sample : Sample
    index, root_seed : int
        What the record must say.
    """
    record = sample.record
    named = (record["index"], record["split"], record["seed"])
    if named != (index, sample.split, root_seed):
        yield f"its record is of sample {named}, expected {(index, sample.split, root_seed)}"
    try:
        plan = from_json(Plan, record["plan"])
    except (KeyError, TypeError) as error:
        yield f"its record holds no Plan that this version reads: {error}"
        return
    for image in plan.images:
        yield from _image_problems(sample, plan, image.variant)
        if "mask" in plan.outputs:
            yield from _label_problems(sample, plan, image.variant, record["objects"])


def _image_problems(sample: Sample, plan: Plan, variant: str) -> Iterator[str]:
    if "image" not in plan.outputs:
        return
    shape = sample.image(variant).shape
    expected = (plan.settings.height, plan.settings.width, 3)
    if shape != expected:
        yield f"image '{variant}' is of shape {shape}, expected {expected}"


def _label_problems(
    sample: Sample, plan: Plan, variant: str, objects: list[Mapping[str, Any]]
) -> Iterator[str]:
    labels: NDArray[np.uint8] = sample.labels(variant)
    expected = (plan.settings.height, plan.settings.width)
    if labels.shape != expected:
        yield f"labels of '{variant}' are of shape {labels.shape}, expected {expected}"
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
        if variant == CLEAN and footprint.visible_pixels < plan.scene.min_visible_pixels:
            yield (
                f"object {number} shows {footprint.visible_pixels} px, "
                f"at least {plan.scene.min_visible_pixels} are required"
            )
