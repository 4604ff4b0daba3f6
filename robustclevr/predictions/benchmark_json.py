"""Predictions of clips in the JSON of the video benchmark of Weis et al. (2021).

A list of videos, each a list of frames ``{"masks": [...], "ids": [...]}``. A mask is a text of
run lengths, ``"start length start length …"``, starts counted from 1 along rows. Videos are
those of the split, by position; ids tell which masks of a video are one object
(ecker-lab/object-centric-representation-benchmark, ``ocrb/eval``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import StoreError
from robustclevr.predictions.json_files import read_json
from robustclevr.predictions.labels import Prediction

Frame = Mapping[str, Sequence[Any]]
Video = Sequence[Frame]


@lru_cache(maxsize=2)
def read_benchmark_json(file: Path) -> list[Video]:
    """Return the videos of a file.

    Raises
    ------
    StoreError
        If it cannot be read, is not of this form, or names two masks of a frame alike.
    """
    content = read_json(file)
    if not isinstance(content, list) or not all(isinstance(video, list) for video in content):
        raise StoreError(f"{file}: is no list of videos, each a list of frames")
    for number, video in enumerate(content):
        for t, frame in enumerate(video):
            if not _is_frame(frame):
                raise StoreError(
                    f"{file}: video {number}, frame {t} is not "
                    '{"masks": [...], "ids": [...]} with one id for each mask'
                )
            _check_ids(frame["ids"], f"{file}: video {number}, frame {t}")
    return content


def clip_prediction(video: Video, shape: tuple[int, ...], where: str) -> Prediction:
    """Return the labels of a video, and its masks where some lie over each other.

    Parameters
    ----------
    video : Video
    shape : tuple of int
        (T, H, W) of the true labels.
    where : str
        What an error begins with.

    Raises
    ------
    StoreError
        If it has another number of frames, or a mask does not fit.
    """
    if len(shape) != 3:
        raise StoreError(f"{where}: this form is for clips, and the dataset holds images")
    if len(video) != shape[0]:
        raise StoreError(f"{where}: has {len(video)} frames, the clip has {shape[0]}")
    ids = {name: place for place, name in enumerate(_ids(video))}
    masks = np.zeros((shape[0], len(ids), *shape[1:]), np.bool_)
    for t, frame in enumerate(video):
        for mask, name in zip(frame["masks"], frame["ids"], strict=True):
            try:
                masks[t, ids[name]] |= decode_mask(mask, shape[1:])
            except ValueError as error:
                raise StoreError(f"{where}, frame {t}, id {name}: {error}") from error
    if not ids:
        return Prediction(np.zeros(shape, np.int64))
    labels = np.where(masks.any(axis=1), masks.argmax(axis=1) + 1, 0)
    overlapping = bool((masks.sum(axis=1) > 1).any())
    return Prediction(labels, masks if overlapping else None)


def encode_clip(labels: NDArray[Any], first_id: int) -> list[dict[str, list[Any]]]:
    """Return a clip of labels as a video: label i has the id ``first_id + i``.

    Parameters
    ----------
    labels : ndarray of int, shape (T, H, W)
        0 no object.
    first_id : int
        Ids of different videos shall differ.
    """
    frames: list[dict[str, list[Any]]] = []
    for frame in labels:
        names = [int(name) for name in np.unique(frame) if name != 0]
        masks = [encode_mask(frame == name) for name in names]
        frames.append({"masks": masks, "ids": [first_id + name for name in names]})
    return frames


def encode_mask(mask: NDArray[np.bool_]) -> str:
    """Return the runs of a mask.

    Examples
    --------
    >>> encode_mask(np.array([[False, True, True], [True, False, True]]))
    '2 3 6 1'
    """
    padded = np.concatenate([[False], mask.reshape(-1), [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1]) + 1
    runs = np.stack([edges[::2], edges[1::2] - edges[::2]], axis=1)
    return " ".join(str(int(number)) for number in runs.reshape(-1))


def decode_mask(text: str, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the mask of shape (H, W) that runs describe; undoes :func:`encode_mask`.

    Raises
    ------
    ValueError
        If the text is no pairs of numbers, or a run leaves the picture.
    """
    mask = np.zeros(int(np.prod(shape)), np.bool_)
    numbers = [int(part) for part in str(text).split()]
    if len(numbers) % 2:
        raise ValueError(f"a mask of {len(numbers)} numbers is not of starts and lengths")
    for start, length in zip(numbers[::2], numbers[1::2], strict=True):
        if start < 1 or length < 0 or start - 1 + length > mask.size:
            raise ValueError(f"a run of {length} from {start} leaves a picture of {shape}")
        mask[start - 1 : start - 1 + length] = True
    return mask.reshape(shape)


def _is_frame(frame: Any) -> bool:
    return (
        isinstance(frame, dict)
        and isinstance(frame.get("masks"), list)
        and isinstance(frame.get("ids"), list)
        and len(frame["masks"]) == len(frame["ids"])
    )


def _check_ids(ids: list[Any], where: str) -> None:
    for name in ids:
        if not _is_id(name):
            raise StoreError(f"{where}: no id {name!r}; an id is a whole number or a text")
    if len(set(ids)) < len(ids):
        double = next(name for place, name in enumerate(ids) if name in ids[:place])
        raise StoreError(
            f"{where}: two masks have the id {double!r}; an object has one mask in a frame"
        )


def _is_id(name: Any) -> bool:
    if isinstance(name, float):
        return math.isfinite(name) and name.is_integer()
    return isinstance(name, (int, str)) and not isinstance(name, bool)


def _ids(video: Video) -> list[Any]:
    """Return the ids of a video, each once, in the order of their appearance."""
    return list(dict.fromkeys(name for frame in video for name in frame["ids"]))
