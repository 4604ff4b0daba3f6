"""Detections and captions in the JSON files of COCO.

Detections are COCO's results, one file a variant: a list of ``{"image_id": 17, "category_id": 1,
"bbox": [left, top, width, height], "score": 0.9}``. ``image_id`` is the index of the sample;
categories are the shapes of objects, numbered from 1 as in :data:`CATEGORIES`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robustclevr.errors import StoreError
from robustclevr.metrics.overlap import FloatArray, IntArray

CATEGORIES: Mapping[str, int] = {"cube": 1, "cylinder": 2, "sphere": 3}
"""``category_id`` by shape: CLEVR's three, in the order of the alphabet."""


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
        If the file is not of this form, or names an image or category that is not there.
    """
    by_image: dict[int, list[tuple[list[float], int, float]]] = defaultdict(list)
    for number, item in enumerate(_list(file)):
        where = f"{file}: entry {number}"
        try:
            image, category = item["image_id"], item["category_id"]
            box, score = [float(value) for value in item["bbox"]], float(item["score"])
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"{where} has no usable {error}; image_id, category_id, bbox, score are due"
            ) from error
        if image not in range(samples):
            raise StoreError(f"{where}: no image_id {image}; the samples are 0 to {samples - 1}")
        if category not in CATEGORIES.values():
            allowed = ", ".join(f"{value} ({name})" for name, value in CATEGORIES.items())
            raise StoreError(f"{where}: no category_id {category}; allowed: {allowed}")
        if len(box) != 4 or not np.isfinite([*box, score]).all():
            raise StoreError(f"{where}: bbox {item['bbox']}, score {item['score']} are no numbers")
        by_image[image].append((box, category, score))
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
    content = _json(file)
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


def _list(file: Path) -> list[Any]:
    content = _json(file)
    if not isinstance(content, list):
        raise StoreError(f"{file}: is no list of detections, as COCO's results are")
    return content


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise StoreError(f"{file}: cannot be read as JSON: {error}") from error
