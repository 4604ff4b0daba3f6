"""Checks on corrupted pictures: the record against its files, and pixels made again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import numpy as np

from robustclevr.errors import RobustClevrError
from robustclevr.imaging import srgb8_to_linear
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import LinearImage, PicturePlan, RenderPass, from_json
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.run.pictures import corrupt_by_twins
from robustclevr.store.dataset import Dataset, Sample
from robustclevr.store.sample import CLEAN, develop, image_member, mask_member
from robustclevr.verify.labels import derived_problems, image_problems, label_problems
from robustclevr.verify.report import CheckResult, Problem
from robustclevr.verify.rerender import TOLERANCE_LEVELS, Comparison


def picture_problems(
    sample: Sample, plan: PicturePlan, recipes: Mapping[str, LoadedRecipe], *, masks: bool
) -> Iterator[Problem]:
    """Yield what is wrong with one corrupted picture.

    Every planned image, and label map where there are masks, must be there in the picture's
    size; boxes and pixels in the record must be those of the label maps; what no step changes
    must be as in the clean image.

    Parameters
    ----------
    sample : Sample
    plan : PicturePlan
        From its record.
    recipes : mapping of str to LoadedRecipe
        For what moves pixels.
    masks : bool
        Whether the split has them.
    """
    size = (plan.picture.height, plan.picture.width)
    objects = sample.record["objects"]
    for variant in (image.variant for image in plan.images):
        yield from image_problems(sample, variant, size)
        if masks:
            yield from label_problems(sample, variant, size, objects)
    yield from derived_problems(sample, plan.images, (RenderPass(()),), recipes)


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
    comparison = Comparison(dataset, split, count)
    try:
        with ExitStack() as stack:
            process = (
                stack.enter_context(BlenderProcess(setup)) if needs_blender and setup else None
            )
            for index in comparison.indices:
                stored = dataset.sample(split, index)
                plan = from_json(PicturePlan, stored.record["plan"])
                if image_member(CLEAN) not in stored.members or plan.picture.bits != 8:
                    what = "its 8-bit clean picture is not stored"
                    comparison.add(index, what, is_problem=False)
                    continue
                for difference, is_problem in _differences(stored, plan, process, recipes):
                    comparison.add(index, difference, is_problem=is_problem)
    except (RobustClevrError, KeyError, TypeError) as error:
        comparison.failed(error)
    return comparison.result()


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
