"""The images that a model sees, at its size, in one file that can be read at any place.

A split enters, clips frame by frame; uint8 (N, H, W, 3) leaves, as a file beside the checkpoints
that is mapped into memory, so that a step costs the reading of its batch whatever the split's
size. The clean images only: a model is trained on those.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from robustclevr.errors import StoreError
from robustclevr.predictions import Chunk, chunk_samples, chunks, targets
from robustclevr.run.parallel import ordered_results
from robustclevr.store.atomic import remove_empty_dirs, replacing
from robustclevr.store.dataset import Dataset
from robustclevr.store.layout import Layout
from robustclevr.store.sample import CLEAN


@dataclass(frozen=True)
class FrameTask:
    """A chunk to read, and the size that its frames shall have."""

    chunk: Chunk
    height: int
    width: int


def resized(frames: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """Return frames at another size, whole: nothing is cut off, so the aspect may change.

    Parameters
    ----------
    frames : ndarray of uint8, shape (T, h, w, 3)
    height, width : int
        [px]

    Returns
    -------
    ndarray of uint8, shape (T, height, width, 3)
        Triangle filter, as wide as what is left out; ``frames`` itself where nothing changes.
    """
    if frames.shape[1:3] == (height, width):
        return frames
    size = (width, height)
    bilinear = Image.Resampling.BILINEAR
    return np.stack([np.asarray(Image.fromarray(f).resize(size, bilinear)) for f in frames])


def frames_of_chunk(task: FrameTask) -> NDArray[np.uint8]:
    """Return the clean frames of a chunk at the size of the model, shape (T, H, W, 3)."""
    found = []
    for sample in chunk_samples(task.chunk):
        for target in targets(sample):
            if target.variant == CLEAN:
                pixels = target.pixels if target.is_clip else target.pixels[np.newaxis]
                found.append(resized(pixels, task.height, task.width))
    if not found:
        return np.zeros((0, task.height, task.width, 3), np.uint8)
    return np.concatenate(found)


def split_digest(dataset: Dataset, split: str) -> str:
    """Return a digest that is equal if, and only if, the samples of a split are.

    Its fingerprint covers all that makes a sample but the root seed and how many there are.
    """
    entry = dataset.split(split)
    text = f"{entry.fingerprint}\0{dataset.content['seed']}\0{split}\0{entry.samples}"
    return hashlib.sha256(text.encode()).hexdigest()


def frame_count(dataset: Dataset, split: str) -> tuple[int, int, int]:
    """Return how many clean frames a split has, and their height and width.

    Raises
    ------
    StoreError
        If it stores no clean images.
    """
    first = [item for item in targets(dataset.sample(split, 0)) if item.variant == CLEAN]
    if not first:
        raise StoreError(
            f"{dataset.layout.root}: split '{split}' stores no clean images, on which a model is "
            "trained; add 'clean' to its emit"
        )
    shape = first[0].pixels.shape
    frames = shape[0] if first[0].is_clip else 1
    return frames * dataset.split(split).samples, shape[-3], shape[-2]


def open_frames(
    dataset: Dataset,
    split: str,
    run: Path,
    *,
    height: int,
    width: int,
    workers: int | None = None,
    on_progress: Callable[[int], None] = lambda _: None,
) -> NDArray[np.uint8]:
    """Return the clean frames of a split, writing them down first if they are not there yet.

    Parameters
    ----------
    dataset, split : Dataset, str
    run : Path
        Folder of the training run.
    height, width : int
        Of the model. [px]
    workers : int, optional
        Processes that read the split; None: one a core.
    on_progress : callable
        Hears the number of samples read since it was last called.

    Returns
    -------
    ndarray of uint8, shape (N, height, width, 3)
        Mapped from the file, read-only; in order of sample and frame.

    Raises
    ------
    StoreError
        If a shard is missing or unreadable, or the disk refuses.
    """
    digest = hashlib.sha256(f"{split_digest(dataset, split)}\0{height}\0{width}".encode())
    file = run / f"frames-{digest.hexdigest()[:16]}.npy"
    if not file.is_file():
        _write(dataset, split, file, (height, width), workers, on_progress)
    frames: NDArray[np.uint8] = np.load(file, mmap_mode="r")
    return frames


def _write(
    dataset: Dataset,
    split: str,
    file: Path,
    size: tuple[int, int],
    workers: int | None,
    on_progress: Callable[[int], None],
) -> None:
    count, _, _ = frame_count(dataset, split)
    tasks = [FrameTask(chunk, *size) for chunk in chunks(dataset, split)]
    results = ordered_results(frames_of_chunk, tasks, workers=workers)
    written = 0
    with replacing(file, Layout(file.parent)) as stream:
        header = {"descr": "|u1", "fortran_order": False, "shape": (count, *size, 3)}
        np.lib.format.write_array_header_1_0(stream, header)  # type: ignore[no-untyped-call]
        for task, frames in zip(tasks, results, strict=True):
            stream.write(frames.tobytes())
            written += len(frames)
            on_progress(task.chunk.stop - task.chunk.start)
        if written != count:
            raise StoreError(
                f"{dataset.layout.root}: split '{split}' holds {written} clean frames, not "
                f"{count}; 'robustclevr verify' says which samples are damaged"
            )
    remove_empty_dirs(Layout(file.parent).work)
