"""Checks on clips: the record against masks and places, and pixels made again; no Blender."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RobustClevrError
from robustclevr.imaging import decode_npz
from robustclevr.plan import CLEAN
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import ClipPlan, ClipVariant, VideoOptions, from_json
from robustclevr.run.clips import encode_clip
from robustclevr.store.clip import ARRAYS, CLIP
from robustclevr.store.dataset import Dataset, Sample
from robustclevr.verify.report import CheckResult, Problem
from robustclevr.verify.rerender import TOLERANCE_LEVELS, Comparison
from robustclevr.video import sample_clip

Arrays = Mapping[str, NDArray[Any]]

_PLACE_TOLERANCE_PX = 1e-6  # of numbers that were stored as text
_PICTURES = ("video", "background")
_SPMOT_BORDER = 10 / 128  # boxes vanish when their centre comes closer: tracking-by-animation


def clip_problems(sample: Sample, plan: ClipPlan) -> Iterator[Problem]:
    """Yield what is wrong with one clip.

    Every array that was asked for must be there in its size and type; at each pixel the mask
    must name the foremost sprite whose amodal mask holds it; visibility must be modal over
    amodal pixels; centroids must be where the plan's options keep them; a version that no step
    changes must be the clean clip.
    """
    arrays = decode_npz(sample.members.get(CLIP, b""))
    wrong = list(_array_problems(arrays, plan))
    yield from wrong
    if not wrong:
        yield from _label_problems(arrays, plan, sample.record["sprites"])
    yield from _place_problems(plan)
    for variant in plan.variants:
        if variant.variant != CLEAN:
            yield from _variant_problems(sample, plan, variant, arrays)


def check_remade(
    dataset: Dataset, split: str, count: int, recipes: Mapping[str, LoadedRecipe]
) -> CheckResult:
    """Draw and make ``count`` clips of a split again from the options in their own records.

    Files must be byte-equal; where only colors differ, by at most the tolerance of images on
    average, the note says so: another processor may have rounded them.
    """
    comparison = Comparison(dataset, split, count)
    try:
        for index in comparison.indices:
            stored = dataset.sample(split, index)
            plan = from_json(ClipPlan, stored.record["plan"])
            options = _with_paths(plan.options)
            named = plan.clip  # a twin's is named after the clip that it is a twin of
            drawn = sample_clip(
                options, root_seed=plan.root_seed, split=named.split, index=named.index
            )
            again, _ = encode_clip(replace(plan, clip=drawn), options, recipes)
            for difference, is_problem in _differences(stored.members, again):
                comparison.add(index, difference, is_problem=is_problem)
    except (RobustClevrError, KeyError, TypeError) as error:
        comparison.failed(error)
    return comparison.result()


def _array_problems(arrays: Arrays, plan: ClipPlan) -> Iterator[Problem]:
    options = plan.options
    size = (options.frames, options.height, options.width)
    count = len(plan.clip.sprites)
    expected: dict[str, tuple[tuple[int, ...], type]] = {
        "video": ((*size, 3), np.uint8),
        "masks": (size, np.uint8),
        "amodal": ((size[0], count, *size[1:]), np.bool_),
        "flow": ((size[0] - 1, *size[1:], 2), np.float16),
        "background": ((*size, 3), np.uint8),
    }
    for name in (ARRAYS[output] for output in plan.outputs):
        shape, dtype = expected[name]
        array = arrays.get(name)
        found = "missing" if array is None else f"{array.dtype}{array.shape}"
        due = f"{np.dtype(dtype)}{shape}"
        if found != due:
            yield Problem(f"array '{name}'", found, due)


def _variant_problems(
    sample: Sample, plan: ClipPlan, variant: ClipVariant, clean: Arrays
) -> Iterator[Problem]:
    size = (plan.options.frames, plan.options.height, plan.options.width)
    every_step = [*variant.steps, *(step for frame in variant.frames for step in frame)]
    acts = any(step.severity > 0 for step in every_step)
    for name, shape in (("video", (*size, 3)), ("masks", size)):
        array = sample.array(name, variant.variant)
        found, due = f"{array.dtype}{array.shape}", f"uint8{shape}"
        if found != due:
            yield Problem(f"array '{name}' of '{variant.variant}'", found, due)
        elif name == "masks" and array.max(initial=0) > len(plan.clip.sprites):
            due = f"at most {len(plan.clip.sprites)}, the number of sprites"
            yield Problem(f"largest label of '{variant.variant}'", str(array.max()), due)
        elif not acts and name in clean and not np.array_equal(array, clean[name]):
            what = f"array '{name}' of '{variant.variant}' differs from the clean one"
            yield Problem(f"{what}, though no step changes it")


def _label_problems(
    arrays: Arrays, plan: ClipPlan, described: list[Mapping[str, Any]]
) -> Iterator[Problem]:
    masks, amodal, sprites = arrays["masks"], arrays["amodal"], plan.clip.sprites
    if len(described) != len(sprites):
        yield Problem("number of sprites in its record", str(len(described)), str(len(sprites)))
        return
    for t in range(len(masks)):
        foremost = np.zeros_like(masks[t])
        for i in sorted(range(len(sprites)), key=lambda i: sprites[i].order[t]):
            foremost[amodal[t, i]] = i + 1
        wrong = np.argwhere(foremost != masks[t])
        if len(wrong):
            row, column = wrong[0].tolist()
            yield Problem(
                f"mask of frame {t} at row {row}, column {column}",
                str(masks[t, row, column]),
                f"{foremost[row, column]}, which is foremost ({len(wrong)} pixels differ)",
            )
    whole = np.count_nonzero(amodal, axis=(2, 3))
    for i, sprite in enumerate(described):
        seen = np.count_nonzero(masks == i + 1, axis=(1, 2))
        fractions = (seen / np.maximum(whole[:, i], 1)).tolist()
        if fractions != sprite["visibility"]:
            due = f"{sprite['visibility']} as its record says"
            yield Problem(f"visibility of sprite {i + 1}", f"{fractions} in the masks", due)


def _place_problems(plan: ClipPlan) -> Iterator[Problem]:
    options = plan.options
    if "enter_exit" in options.scenarios:
        return  # there sprites cross the border
    spmot = options.family == "spmot"
    margin = _SPMOT_BORDER * options.height if spmot else options.margin_px
    low = margin - _PLACE_TOLERANCE_PX
    for i, sprite in enumerate(plan.clip.sprites, start=1):
        for t, place in enumerate(sprite.position):
            sides = zip(place or (), (options.width, options.height), strict=False)
            if not all(low <= value <= side - low for value, side in sides):
                what = f"place of sprite {i} in frame {t}"
                yield Problem(what, str(place), f"at least {margin:g} px from each border")


def _with_paths(options: VideoOptions) -> VideoOptions:
    """Return the options as they are used here: a record's paths start at the working folder."""
    dsprites, textures = (
        None if path is None else str(Path(path).resolve())
        for path in (options.dsprites, options.textures)
    )
    return replace(options, dsprites=dsprites, textures=textures)


def _differences(
    before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> Iterator[tuple[str, bool]]:
    """Yield what differs, and whether that is more than rounding."""
    if before.keys() != after.keys():
        yield f"has {sorted(before)}, made again {sorted(after)}", True
        return
    for name in sorted(before):
        if before[name] == after[name]:
            continue
        if name.endswith(CLIP):
            yield from _array_differences(decode_npz(before[name]), decode_npz(after[name]))
        else:
            old, new = json.loads(before[name]), json.loads(after[name])
            keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
            yield f"its record differs in {', '.join(keys)}", True


def _array_differences(
    before: Mapping[str, NDArray[Any]], after: Mapping[str, NDArray[Any]]
) -> Iterator[tuple[str, bool]]:
    if before.keys() != after.keys():
        yield f"has {sorted(before)}, made again {sorted(after)}", True
        return
    for name in sorted(before):
        old, new = before[name], after[name]
        if old.shape != new.shape or old.dtype != new.dtype:
            yield f"'{name}' is {old.dtype}{old.shape}, made again {new.dtype}{new.shape}", True
        elif name in _PICTURES:
            levels = float(np.abs(old.astype(np.int16) - new).mean())
            if levels > 0:
                what = f"'{name}' differs by {levels:.4f} of 255 levels on average"
                yield what, levels > TOLERANCE_LEVELS
        elif old.tobytes() != new.tobytes():
            yield f"'{name}' is not equal", True
