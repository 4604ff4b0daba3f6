"""Checks on samples of scenes: the record against the images and label maps that it describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from robustclevr.imaging import decode_npz
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import Plan
from robustclevr.store.dataset import Sample
from robustclevr.store.sample import array_member
from robustclevr.verify.labels import derived_problems, image_problems, label_problems
from robustclevr.verify.report import Problem

_ARRAYS = ("amodal", "depth", "normal")


def scene_problems(
    sample: Sample, plan: Plan, recipes: Mapping[str, LoadedRecipe]
) -> Iterator[Problem]:
    """Yield what is wrong with one sample.

    Every planned image, label map and array must be there with the planned size; labels must be
    objects of the record, each with at least the required number of visible pixels in the clean
    image; boxes and pixels in the record must be those of the label maps; what no step changes
    must be as in the clean image.

    Parameters
    ----------
    sample : Sample
    plan : Plan
        From its record.
    recipes : mapping of str to LoadedRecipe
        For what moves pixels.
    """
    size = (plan.settings.height, plan.settings.width)
    objects, required = sample.record["objects"], plan.scene.min_visible_pixels
    for variant in (image.variant for image in plan.images):
        if "image" in plan.outputs:
            yield from image_problems(sample, variant, size)
        if "mask" in plan.outputs:
            yield from label_problems(sample, variant, size, objects, required=required)
    yield from derived_problems(sample, plan.images, plan.renders, recipes)
    shapes = {"amodal": (len(objects), *size), "depth": size, "normal": (*size, 3)}
    types = {"amodal": "bool", "depth": "float32", "normal": "float32"}
    for name in (name for name in _ARRAYS if name in plan.outputs):
        array = decode_npz(sample.members.get(array_member(name), b"")).get(name)
        due = f"{types[name]}{shapes[name]}"
        found = "missing" if array is None else f"{array.dtype}{array.shape}"
        if found != due:
            yield Problem(f"array '{name}'", found, due)
