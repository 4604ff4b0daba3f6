"""Detections and captions in the JSON files of COCO.

Detections are COCO's results, one file a variant: a list of ``{"image_id": 17, "category_id": 1,
"bbox": [left, top, width, height], "score": 0.9}``. ``image_id`` is the index of the sample;
categories are the shapes of objects, numbered from 1 as in :data:`CATEGORIES`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robustclevr.errors import StoreError
from robustclevr.metrics.overlap import FloatArray, IntArray
from robustclevr.predictions.json_files import read_json

CATEGORIES: Mapping[str, int] = {"cube": 1, "cylinder": 2, "sphere": 3}
"""``category_id`` by shape: CLEVR's three, in the order of the alphabet."""

_KEYS = ("image_id", "category_id", "bbox", "score")
_SHOWN = 80  # characters of a value in an error


@dataclass(frozen=True)
class Detections:
    """What was detected in one image.

    Attributes
    ----------
    boxes : ndarray of float64, shape (D, 4)
        (left, top, width, height). [px]
    classes : ndarray of int64, shape (D,)
    scores : ndarray of float64, shape (D,)
    """

    boxes: FloatArray
    classes: IntArray
    scores: FloatArray


def read_detections(file: Path, samples: int) -> dict[int, Detections]:
    """Read results in COCO's form.

    Parameters
    ----------
    file : Path
    samples : int
        Of the split.

    Returns
    -------
    dict of int to Detections
        By index of the sample; those without detections are left out.

    Raises
    ------
    StoreError
        If the file is not of this form, a box is no box, or an image or category is not there.
    """
    by_image: dict[int, list[tuple[list[float], int, float]]] = defaultdict(list)
    for number, item in enumerate(_list(file)):
        where = f"{file}: entry {number}"
        _require_keys(item, where)
        image, category = item["image_id"], item["category_id"]
        if image not in range(samples) or isinstance(image, bool):
            raise StoreError(f"{where}: no image_id {image}; the samples are 0 to {samples - 1}")
        if category not in CATEGORIES.values() or isinstance(category, bool):
            allowed = ", ".join(f"{value} ({name})" for name, value in CATEGORIES.items())
            raise StoreError(f"{where}: no category_id {category}; allowed: {allowed}")
        by_image[image].append((_box(item["bbox"], where), category, _score(item, where)))
    return {image: _detections(found) for image, found in by_image.items()}


def read_captions(file: Path, samples: int) -> dict[int, list[str]]:
    """Read captions in COCO's form: ``{"annotations": [{"image_id": 17, "caption": "…"}]}``.

    Returns
    -------
    dict of int to list of str
        By index of the sample.

    Raises
    ------
    StoreError
        If the file is not of this form, or names an image that is not there.
    """
    content = read_json(file)
    if not isinstance(content, dict) or not isinstance(content.get("annotations"), list):
        raise StoreError(f'{file}: has no list "annotations", as COCO\'s captions do')
    captions: dict[int, list[str]] = defaultdict(list)
    for number, item in enumerate(content["annotations"]):
        if not isinstance(item, dict) or not {"image_id", "caption"} <= set(item):
            raise StoreError(f"{file}: annotation {number} lacks image_id or caption")
        if item["image_id"] not in range(samples):
            raise StoreError(
                f"{file}: annotation {number}: no image_id {item['image_id']}; "
                f"the samples are 0 to {samples - 1}"
            )
        captions[item["image_id"]].append(str(item["caption"]))
    return dict(captions)


def no_detections() -> Detections:
    """Return what stands for an image without detections."""
    return _detections([])


def _detections(found: Sequence[tuple[list[float], int, float]]) -> Detections:
    boxes = np.array([box for box, _, _ in found], np.float64).reshape(-1, 4)
    classes = np.array([category for _, category, _ in found], np.int64)
    return Detections(boxes, classes, np.array([score for _, _, score in found], np.float64))


def _require_keys(item: Any, where: str) -> None:
    due = "image_id, category_id, bbox, score are due"
    if not isinstance(item, dict):
        raise StoreError(f"{where} is no object {{...}}; {due}")
    lacking = [key for key in _KEYS if key not in item]
    if lacking:
        raise StoreError(f"{where} lacks {', '.join(lacking)}; {due}")


def _box(value: Any, where: str) -> list[float]:
    numbers = [_number(part) for part in value] if isinstance(value, list) else []
    if len(numbers) != 4 or not np.isfinite(numbers).all():
        raise StoreError(f"{where}: bbox {_shown(value)} is not [left, top, width, height]")
    if min(numbers[2:]) < 0:
        raise StoreError(f"{where}: bbox {_shown(value)} has a negative width or height")
    return numbers


def _score(item: Mapping[str, Any], where: str) -> float:
    score = _number(item["score"])
    if not math.isfinite(score):
        raise StoreError(f"{where}: score {_shown(item['score'])} is no finite number")
    return score


def _number(value: Any) -> float:
    """Return a number of the file; nan for what is none, or no float."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _list(file: Path) -> list[Any]:
    content = read_json(file)
    if not isinstance(content, list):
        raise StoreError(f"{file}: is no list of detections, as COCO's results are")
    return content
