"""Predictions of a baseline for whole splits, in several processes.

A dataset enters; files as in :mod:`robustclevr.predictions` leave.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.baselines.predict import Baseline, default_segments, trained_segments
from robustclevr.errors import SpecError, StoreError
from robustclevr.imaging import encode_npz, encode_png
from robustclevr.predictions import (
    Chunk,
    Target,
    chunk_samples,
    chunks,
    encode_clip,
    file_stem,
    targets,
)
from robustclevr.run.parallel import ordered_results
from robustclevr.store.dataset import Dataset

_LABELS = 256
"""Ids of the masks of one video, at most."""


@dataclass(frozen=True)
class _Task:
    """A chunk to predict.

    Attributes
    ----------
    baseline : Baseline
    chunk : Chunk
    folder : Path or None
        Where predictions are written; None to return them as videos.
    """

    baseline: Baseline
    chunk: Chunk
    folder: Path | None


def run_baseline(
    dataset: Dataset,
    splits: Sequence[str],
    method: str,
    output: Path,
    *,
    segments: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    checkpoint: Path | None = None,
    device: str = "cpu",
    on_progress: Callable[[int], None] = lambda _: None,
) -> int:
    """Predict every image or clip of some splits.

    Parameters
    ----------
    dataset : Dataset
    splits : sequence of str
    method : str
        One of :data:`robustclevr.baselines.METHODS`.
    output : Path
        Folder of the predictions; a name in ``.json`` is written in the form of the video
        benchmark, for one split of clips.
    segments : int, optional
        None: what fits the split, see :func:`default_segments`; of a trained model the slots
        of its training.
    seed : int, optional
        None: the dataset's.
    workers : int, optional
        Processes; None: one a core, and on a GPU one. The predictions do not depend on it.
    checkpoint : Path, optional
        Of a trained model, or the folder of its run.
    device : str
        Of a trained model: auto, cpu or cuda.
    on_progress : callable
        Hears the number of samples done since it was last called.

    Returns
    -------
    int
        Predictions made.

    Raises
    ------
    SpecError
        If an option is wrong.
    SetupError
        If the method needs what is not installed, or the device is not there.
    StoreError
        If the dataset lacks a split or shard, there is no such checkpoint, or the disk refuses.
    """
    as_json = output.suffix == ".json"
    if as_json and len(splits) != 1:
        hint = "choose one with --split, or give a folder"
        raise SpecError.single(f"one file for {len(splits)} splits", file=str(output), hint=hint)
    tasks = []
    for split in splits:
        baseline = Baseline(
            method,
            _segments(dataset, split, checkpoint) if segments is None else segments,
            dataset.content["seed"] if seed is None else seed,
            checkpoint,
            device,
        )
        folder = None if as_json else output / split
        tasks += [_Task(baseline, chunk, folder) for chunk in chunks(dataset, split)]
    if device != "cpu" and workers is None:
        workers = 1  # processes would share the GPU, and each would fill it
    made, videos = 0, []
    for task, (count, found) in zip(
        tasks, ordered_results(predict_chunk, tasks, workers=workers), strict=True
    ):
        made += count
        videos += found
        on_progress(task.chunk.stop - task.chunk.start)
    if as_json:
        _write(output, json.dumps(videos, separators=(",", ":")).encode())
    return made


def _segments(dataset: Dataset, split: str, checkpoint: Path | None) -> int:
    """Return how many segments to make where nobody says it."""
    if checkpoint is not None:
        return trained_segments(checkpoint)
    return default_segments(dataset.split(split).document)


def predict_chunk(task: _Task) -> tuple[int, list[Any]]:
    """Predict the samples of a chunk.

    Returns
    -------
    count : int
        Predictions made.
    videos : list
        Those of the chunk in the video benchmark's form, if they are not written.
    """
    count, videos = 0, []
    predict = task.baseline.predictor()
    for sample in chunk_samples(task.chunk):
        for target in targets(sample):
            if task.folder is not None:
                _store(task.folder, target, predict(target))
            elif not target.is_clip:
                hint = "give a folder for the predictions"
                raise SpecError.single("the video benchmark's form is for clips", hint=hint)
            elif target.variant == "clean":
                videos.append(encode_clip(predict(target), target.index * _LABELS))
            else:
                continue
            count += 1
    return count, videos


def _store(folder: Path, target: Target, predicted: NDArray[np.uint8]) -> None:
    labels: Any = np.ascontiguousarray(predicted)
    stem = file_stem(target.sample.key, target.variant, is_clip=target.is_clip)
    if target.is_clip:
        _write(folder / f"{stem}.npz", encode_npz(masks=labels))
    else:
        _write(folder / f"{stem}.png", encode_png(labels))


def _write(file: Path, data: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    except OSError as error:
        raise StoreError(f"{file}: cannot be written: {error.strerror}") from error
