"""Checks on corrupted pictures: the record against its files, and pixels made again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np

from robustclevr.errors import RobustClevrError
from robustclevr.imaging import boxes_and_fractions, srgb8_to_linear
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import LinearImage, PicturePlan, from_json
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.run.pictures import corrupt_by_twins
from robustclevr.store.dataset import Dataset, Sample
from robustclevr.store.sample import CLEAN, develop, image_member, mask_member
from robustclevr.verify.report import CheckResult
from robustclevr.verify.rerender import TOLERANCE_LEVELS, spread


def check_pictures(dataset: Dataset, split: str) -> CheckResult:
    """Check every sample of a split; see :func:`picture_problems`."""
    problems: list[str] = []
    count = 0
    seed = dataset.content["seed"]
    masks = "mask" in dataset.split(split).document["outputs"]
    try:
        for count, sample in enumerate(dataset.samples(split), start=1):
            found = picture_problems(sample, index=count - 1, root_seed=seed, masks=masks)
            problems += [f"{split}/{sample.key}: {problem}" for problem in found]
    except RobustClevrError as error:
        problems.append(str(error))
    return CheckResult("labels", split, count, tuple(problems))


def picture_problems(sample: Sample, *, index: int, root_seed: int, masks: bool) -> Iterator[str]:
    """Yield what is wrong with one sample.

    Its record must name this sample and hold a readable plan; every planned image, and label map
    where there are masks, must be there in the picture's size; boxes and pixels in the record
    must be those of the label maps.

    Parameters
    ----------
    sample : Sample
    index, root_seed : int
        What the record must say.
    masks : bool
    """
    record = sample.record
    named = (record["index"], record["split"], record["seed"])
    if named != (index, sample.split, root_seed):
        yield f"its record is of sample {named}, expected {(index, sample.split, root_seed)}"
    try:
        plan = from_json(PicturePlan, record["plan"])
    except (KeyError, TypeError) as error:
        yield f"its record holds no plan that this version reads: {error}"
        return
    size = (plan.picture.height, plan.picture.width)
    for variant in (image.variant for image in plan.images):
        shape = sample.image(variant).shape
        if shape != (*size, 3):
            yield f"image '{variant}' is of shape {shape}, expected {(*size, 3)}"
        if masks:
            yield from _label_problems(sample, variant, size, record["objects"])


def check_corrupted(
    dataset: Dataset,
    split: str,
    count: int,
    setup: RendererSetup | None,
    recipes: Mapping[str, LoadedRecipe],
) -> CheckResult | None:
    """Corrupt ``count`` stored clean pictures again and compare; a picture of 16 bits is skipped.

    The clean picture in the shard is the given one, so the pictures themselves are not needed.

    Returns
    -------
    CheckResult or None
        None where Blender is needed and not named, or no sample holds its clean picture.
    """
    needs_blender = dataset.split(split).document["pictures"]["engine"] == "blender"
    if needs_blender and setup is None:
        return None
    problems: list[str] = []
    notes: list[str] = []
    indices = spread(count, dataset.split(split).samples)
    try:
        with ExitStack() as stack:
            process = (
                stack.enter_context(BlenderProcess(setup)) if needs_blender and setup else None
            )
            for index in indices:
                stored = dataset.sample(split, index)
                plan = from_json(PicturePlan, stored.record["plan"])
                if image_member(CLEAN) not in stored.members or plan.picture.bits != 8:
                    notes.append(f"{split}/{stored.key}: its 8-bit clean picture is not stored")
                    continue
                for problem, differs in _differences(stored, plan, process, recipes):
                    text = f"{split}/{stored.key}: {problem}"
                    (problems if differs else notes).append(text)
    except (RobustClevrError, KeyError, TypeError) as error:
        problems.append(f"{split}: cannot be corrupted again: {error}")
    return CheckResult("rerender", split, len(indices), tuple(problems), "; ".join(notes))


def _label_problems(
    sample: Sample, variant: str, size: tuple[int, int], objects: list[Mapping[str, Any]]
) -> Iterator[str]:
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
        stored = (entry["box"] and tuple(entry["box"]), entry["visible_pixels"])
        if stored != (footprint.box, footprint.visible_pixels):
            yield (
                f"object {number} in '{variant}' has box {footprint.box} and "
                f"{footprint.visible_pixels} px, its record says {stored[0]} and {stored[1]} px"
            )


def _differences(
    stored: Sample,
    plan: PicturePlan,
    process: BlenderProcess | None,
    recipes: Mapping[str, LoadedRecipe],
) -> Iterator[tuple[str, bool]]:
    """Yield what differs, and whether that is more than rounding."""
    linear = srgb8_to_linear(stored.image(CLEAN))
    made: tuple[LinearImage, ...] | list[LinearImage]
    if process is None:
        made = corrupt_by_twins(plan.images, linear, recipes)
    else:
        made, _ = process.composite(linear, plan.images, f"{stored.split}/{stored.key}")
    has_masks = mask_member(CLEAN) in stored.members
    labels = stored.labels(CLEAN) if has_masks else np.zeros(linear.shape[:2], np.uint8)
    for image, planned in zip(made, plan.images, strict=True):
        again = develop(image, labels, planned, recipes)
        before = stored.image(again.name)
        if before.shape != again.image.shape:
            yield f"image '{again.name}' is of shape {before.shape}, made again differs", True
            continue
        levels = float(np.abs(again.image.astype(np.int16) - before).mean())
        if levels > 0:
            what = f"image '{again.name}' differs by {levels:.4f} of 255 levels on average"
            yield what, levels > TOLERANCE_LEVELS
        if has_masks and not np.array_equal(again.labels, stored.labels(again.name)):
            yield f"labels of '{again.name}' are not equal", True
