"""Checks on corrupted pictures: the record against its files, and pixels made again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import numpy as np

from robustclevr.errors import RobustClevrError
from robustclevr.imaging import srgb8_to_linear
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import LinearImage, PicturePlan, from_json
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.run.pictures import corrupt_by_twins
from robustclevr.store.dataset import Dataset, Sample
from robustclevr.store.sample import CLEAN, develop, image_member, mask_member
from robustclevr.verify.each import check_each
from robustclevr.verify.labels import image_problems, label_problems
from robustclevr.verify.report import CheckResult
from robustclevr.verify.rerender import TOLERANCE_LEVELS, spread


def check_pictures(dataset: Dataset, split: str) -> CheckResult:
    """Check every sample of a split.

    Every planned image, and label map where there are masks, must be there in the picture's
    size; boxes and pixels in the record must be those of the label maps.
    """
    masks = "mask" in dataset.split(split).document["outputs"]

    def problems_of(sample: Sample, plan: PicturePlan) -> Iterator[str]:
        size = (plan.picture.height, plan.picture.width)
        for variant in (image.variant for image in plan.images):
            yield from image_problems(sample, variant, size)
            if masks:
                yield from label_problems(sample, variant, size, sample.record["objects"])

    return check_each(dataset, split, PicturePlan, problems_of)


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
