"""Masks out of a COCO annotation file: polygons and run lengths to label maps."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import SpecError, StoreError
from robustclevr.pictures.decode import MAX_OBJECTS, Mask


class CocoAnnotations:
    """The instances of a COCO file by the names of its pictures.

    Regions that are marked as crowds are left out: they are no single object.

    Parameters
    ----------
    file : Path

    Raises
    ------
    SpecError
        If it is no such file.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        content = _content(file)
        try:
            self._images = {image["file_name"]: image for image in content["images"]}
            by_image: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
            for annotation in content["annotations"]:
                if not annotation.get("iscrowd", 0):
                    by_image[annotation["image_id"]].append(annotation)
        except (KeyError, TypeError) as error:
            what = f"lacks {error} of COCO's instances"
            raise SpecError.single(what, file=str(file)) from error
        self._annotations = dict(by_image)

    @property
    def names(self) -> tuple[str, ...]:
        """``file_name`` of every picture."""
        return tuple(self._images)

    def mask(self, name: str) -> Mask:
        """Return the objects of one picture, smaller ones before larger ones where they overlap.

        Returns
        -------
        Mask
            Objects in the file's order; their values are the annotations' ids.

        Raises
        ------
        StoreError
            If an annotation cannot be read, or there are too many.
        """
        image = self._images[name]
        found = self._annotations.get(image["id"], [])
        if len(found) > MAX_OBJECTS:
            raise StoreError(f"{name}: has {len(found)} objects, at most {MAX_OBJECTS} fit")
        size = int(image["height"]), int(image["width"])
        labels = np.zeros(size, np.uint8)
        regions = []
        for number, annotation in enumerate(found, start=1):
            try:
                regions.append((number, region(annotation["segmentation"], *size)))
            except (KeyError, TypeError, ValueError, IndexError) as error:
                where = f"{self._file}: annotation {annotation.get('id')} of {name}"
                raise StoreError(f"{where} has no readable segmentation: {error}") from error
        for number, inside in sorted(regions, key=lambda item: (-item[1].sum(), item[0])):
            labels[inside] = number
        return Mask(labels, tuple(int(annotation["id"]) for annotation in found))


def region(segmentation: Any, height: int, width: int) -> NDArray[np.bool_]:
    """Return the pixels of a COCO segmentation.

    Parameters
    ----------
    segmentation : list or mapping
        Polygons, each ``[x0, y0, x1, y1, …]`` in pixels; or run lengths, ``counts`` a list or
        COCO's text.
    height, width : int
        Of the picture. [px]

    Returns
    -------
    ndarray of bool, shape (height, width)
    """
    if isinstance(segmentation, Mapping):
        counts = segmentation["counts"]
        return from_runs(_runs(counts) if isinstance(counts, str) else counts, height, width)
    inside = np.zeros((height, width), np.bool_)
    for polygon in segmentation:
        inside |= _filled(np.asarray(polygon, np.float64).reshape(-1, 2), height, width)
    return inside


def _filled(corners: NDArray[np.float64], height: int, width: int) -> NDArray[np.bool_]:
    """Return the pixels whose middles lie inside a polygon, by counting the sides to their left."""
    inside = np.zeros((height, width), np.bool_)
    middles = np.arange(width) + 0.5
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        low, high = sorted((y0, y1))
        # Each side without its upper end, so that a corner is not counted twice.
        first, last = (int(np.clip(np.ceil(y - 0.5), 0, height)) for y in (low, high))
        if first < last:
            rows = np.arange(first, last)
            crossing = x0 + (rows + 0.5 - y0) * (x1 - x0) / (y1 - y0)
            inside[first:last] ^= middles[None, :] >= crossing[:, None]
    return inside


def from_runs(counts: list[int], height: int, width: int) -> NDArray[np.bool_]:
    """Return the mask of COCO's run lengths: outside and inside in turn, column by column."""
    lengths = np.asarray(counts, np.int64)
    if lengths.min(initial=0) < 0 or lengths.sum() != height * width:
        raise ValueError(f"runs of {lengths.sum()} pixels for a picture of {height} x {width}")
    inside = np.arange(len(lengths)) % 2 == 1
    return np.repeat(inside, lengths).reshape(width, height).T


def _runs(text: str) -> list[int]:
    """Decode COCO's text: base 32 in printable characters, differences to the run before last."""
    counts: list[int] = []
    at = 0
    while at < len(text):
        value, shift, more = 0, 0, True
        while more:
            digit = ord(text[at]) - 48
            value |= (digit & 0x1F) << shift
            shift, at, more = shift + 5, at + 1, bool(digit & 0x20)
        if digit & 0x10:
            value -= 1 << shift
        counts.append(value + counts[-2] if len(counts) > 2 else value)
    return counts


def _content(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise SpecError.single(f"cannot be read as JSON: {error}", file=str(file)) from error
    if not isinstance(content, dict):
        raise SpecError.single("holds no COCO instances", file=str(file))
    return content
