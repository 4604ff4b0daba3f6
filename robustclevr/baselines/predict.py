"""The simple methods: what each predicts for one image or clip."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.baselines.kmeans import CLUSTERS, kmeans_labels
from robustclevr.errors import SpecError, suggest
from robustclevr.predictions import Target
from robustclevr.seeds import stream

_MAX_SEGMENTS = 255  # labels are bytes and 0 is no object


@dataclass(frozen=True)
class Baseline:
    """A method and what it takes.

    Attributes
    ----------
    method : str
        One of :data:`METHODS`.
    segments : int
        That kmeans and random make of an image, the background's included.
    seed : int
        Of kmeans and random. Together with split, variant and index of a sample it decides what
        is predicted; nothing else does.

    Raises
    ------
    SpecError
        If there is no such method, or segments are out of range.
    """

    method: str
    segments: int
    seed: int

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            hint = suggest(self.method, METHODS)
            raise SpecError.single(f"no baseline '{self.method}'", hint=hint)
        if not 1 <= self.segments <= _MAX_SEGMENTS:
            hint = f"1 to {_MAX_SEGMENTS} are possible"
            raise SpecError.single(f"{self.segments} segments", hint=hint)

    def predict(self, target: Target) -> NDArray[np.uint8]:
        """Return labels of shape (H, W) or (T, H, W)."""
        return METHODS[self.method](self, target)

    def rng(self, target: Target) -> np.random.Generator:
        """Return the random numbers for one target."""
        stage = f"baseline.{self.method}.{target.variant}"
        return stream(self.seed, target.sample.split, stage, target.index)


def default_segments(split: Mapping[str, Any]) -> int:
    """Return how many segments fit a split.

    Parameters
    ----------
    split : mapping
        Its resolved spec.

    Returns
    -------
    int
        For clips of the video benchmark the slots of the models that its paper compares with;
        else the most objects that a sample may hold, and the background.
    """
    if split["family"] in CLUSTERS:
        return CLUSTERS[split["family"]]
    counts = split.get("scene", {}).get("objects") or split.get("video", {}).get("sprites")
    return int(counts[1]) + 1 if counts else max(CLUSTERS.values())


def _kmeans(baseline: Baseline, target: Target) -> NDArray[np.uint8]:
    pixels = target.pixels
    frames = pixels if target.is_clip else pixels[np.newaxis]
    labels = kmeans_labels(frames, baseline.segments, rng=baseline.rng(target))
    return labels if target.is_clip else labels[0]


def _truth(_baseline: Baseline, target: Target) -> NDArray[np.uint8]:
    return target.labels


def _empty(_baseline: Baseline, target: Target) -> NDArray[np.uint8]:
    return np.zeros(target.shape, np.uint8)


def _random(baseline: Baseline, target: Target) -> NDArray[np.uint8]:
    """Give each pixel a segment of its own accord, all alike likely."""
    rng = baseline.rng(target)
    return rng.integers(1, baseline.segments, target.shape, np.uint8, endpoint=True)


METHODS: Mapping[str, Callable[[Baseline, Target], NDArray[np.uint8]]] = {
    "kmeans": _kmeans,
    "truth": _truth,
    "random": _random,
    "empty": _empty,
}
"""By name: clusters of colors; the labels themselves; a random segment for each pixel; nothing."""
