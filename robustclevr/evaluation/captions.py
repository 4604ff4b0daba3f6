"""Captions of a scene, made from its record: what a person might say who looks at it.

They stand in for human captions in object importance. Each caption names two objects; large ones
are named more often, as people do, by CLEVR's attributes and one of the words for their shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robustclevr.metrics import caption_typicality

WORDS: Mapping[str, tuple[str, ...]] = {
    "cube": ("cube", "block"),
    "cylinder": ("cylinder",),
    "sphere": ("sphere", "ball"),
}
"""Words for each shape: clevr-dataset-gen, ``question_generation/synonyms.json``."""

_CAPTIONS = 5  # as many as COCO has of an image
_NAMED = 2  # chosen: a caption of COCO is mostly about two things


def scene_captions(
    objects: Sequence[Mapping[str, Any]], *, rng: np.random.Generator
) -> tuple[str, ...]:
    """Return five captions.

    Parameters
    ----------
    objects : sequence of mapping
        Of the record: ``size``, ``color``, ``material``, ``shape``, ``visible_pixels``.
    rng : numpy.random.Generator
        Consumed.

    Returns
    -------
    tuple of str
        Empty for a scene in which nothing is visible.
    """
    pixels = np.array([item["visible_pixels"] for item in objects], np.float64)
    if not pixels.any():
        return ()
    named = min(_NAMED, int(np.count_nonzero(pixels)))
    captions = []
    for _ in range(_CAPTIONS):
        chosen = rng.choice(len(objects), named, replace=False, p=pixels / pixels.sum())
        phrases = [_phrase(objects[index], rng) for index in chosen.tolist()]
        captions.append(f"There is {' next to '.join(phrases)}.")
    return tuple(captions)


def shape_typicality(captions: Sequence[str]) -> dict[str, float]:
    """Return the share of captions that name each shape."""
    return caption_typicality(captions, WORDS)


def _phrase(item: Mapping[str, Any], rng: np.random.Generator) -> str:
    words = WORDS[item["shape"]]
    word = words[int(rng.integers(len(words)))]
    return f"a {item['size']} {item['color']} {item['material']} {word}"
