"""The methods: what each predicts for one image or clip."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.baselines.kmeans import CLUSTERS, kmeans_labels
from robustclevr.errors import SpecError, suggest
from robustclevr.predictions import Target
from robustclevr.seeds import stream

Predictor = Callable[[Target], NDArray[np.uint8]]

TRAINED = "slot-attention"
"""The method that has to be trained."""

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
        Of kmeans, random and slot-attention. Together with split, variant and index of a sample
        it decides what is predicted; nothing else does.
    checkpoint : Path or None
        Of slot-attention: the trained model, or the folder of its run.
    device : str
        Of slot-attention: auto, cpu or cuda.

    Raises
    ------
    SpecError
        If there is no such method, segments are out of range, or slot-attention has no
        checkpoint or another method one.
    """

    method: str
    segments: int
    seed: int
    checkpoint: Path | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            hint = suggest(self.method, METHODS)
            raise SpecError.single(f"no baseline '{self.method}'", hint=hint)
        if not 1 <= self.segments <= _MAX_SEGMENTS:
            hint = f"1 to {_MAX_SEGMENTS} are possible"
            raise SpecError.single(f"{self.segments} segments", hint=hint)
        if (self.checkpoint is not None) != (self.method == TRAINED):
            raise SpecError.single(
                f"'{self.method}' takes {'a' if self.method == TRAINED else 'no'} trained model",
                file="--checkpoint",
                hint=f"'{TRAINED}' is the method that needs one, of 'robustclevr train'",
            )

    def predictor(self) -> Predictor:
        """Return the function that makes labels, (H, W) or (T, H, W), of a target.

        It holds what the method needs, such as a trained model, so that it is loaded once.
        """
        return METHODS[self.method](self)

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


def trained_segments(checkpoint: Path) -> int:
    """Return how many segments a trained model makes of an image."""
    from robustclevr.baselines.slot_attention.installed import require_torch

    require_torch()
    from robustclevr.baselines.slot_attention.checkpoint import read_checkpoint

    return read_checkpoint(checkpoint).config.slots


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


def _trained(baseline: Baseline) -> Predictor:
    from robustclevr.baselines.slot_attention.installed import require_torch

    require_torch()
    from robustclevr.baselines.slot_attention.predict import load_predictor

    if baseline.checkpoint is None:  # the constructor refused it
        raise TypeError("no checkpoint")
    return load_predictor(
        baseline.checkpoint,
        slots=baseline.segments,
        seed=baseline.seed,
        device=baseline.device,
    )


def _plain(
    method: Callable[[Baseline, Target], NDArray[np.uint8]],
) -> Callable[[Baseline], Predictor]:
    """Return the maker of predictors for a method that has nothing to load."""
    return lambda baseline: functools.partial(method, baseline)


METHODS: Mapping[str, Callable[[Baseline], Predictor]] = {
    "kmeans": _plain(_kmeans),
    "truth": _plain(_truth),
    "random": _plain(_random),
    "empty": _plain(_empty),
    TRAINED: _trained,
}
"""By name: clusters of colors; the labels themselves; a random segment for each pixel; nothing;
the slots of a trained model."""
