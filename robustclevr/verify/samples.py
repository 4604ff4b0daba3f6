"""Checks on samples of scenes: the record against the images and label maps that it describes."""

from __future__ import annotations

from collections.abc import Iterator

from robustclevr.records import Plan
from robustclevr.store.dataset import Dataset, Sample
from robustclevr.verify.each import check_each
from robustclevr.verify.labels import image_problems, label_problems
from robustclevr.verify.report import CheckResult


def check_samples(dataset: Dataset, split: str) -> CheckResult:
    """Check every sample of a split; see :func:`scene_problems`."""
    return check_each(dataset, split, Plan, scene_problems)


def scene_problems(sample: Sample, plan: Plan) -> Iterator[str]:
    """Yield what is wrong with one sample.

    Every planned image and label map must be there with the planned size; labels must be objects
    of the record, each with at least the required number of visible pixels in the clean image;
    boxes and pixels in the record must be those of the label maps.
    """
    size = (plan.settings.height, plan.settings.width)
    objects, required = sample.record["objects"], plan.scene.min_visible_pixels
    for variant in (image.variant for image in plan.images):
        if "image" in plan.outputs:
            yield from image_problems(sample, variant, size)
        if "mask" in plan.outputs:
            yield from label_problems(sample, variant, size, objects, required=required)
