"""Predictions of a trained model: the slot that a pixel belongs to most is its segment.

Each image by itself; the slots of consecutive frames of a clip are linked by overlap, as the
clusters of k-means are. All frames of a clip and all variants of a sample start from the same
noise, so that what differs between their predictions is due to the pixels.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from robustclevr.baselines.kmeans import link_segments
from robustclevr.baselines.slot_attention.checkpoint import read_checkpoint
from robustclevr.baselines.slot_attention.config import Config
from robustclevr.baselines.slot_attention.frames import resized
from robustclevr.baselines.slot_attention.model import Autoencoder, make_model, to_input
from robustclevr.baselines.slot_attention.training import device_named, slot_noise
from robustclevr.predictions import Target

_FRAMES_AT_ONCE = 32  # chosen: enough to keep a processor busy, few enough for its memory


def load_predictor(
    place: Path, *, slots: int, seed: int, device: str
) -> Callable[[Target], NDArray[np.uint8]]:
    """Return the function that predicts labels, shape (H, W) or (T, H, W), from 1 on.

    Parameters
    ----------
    place : Path
        Checkpoint, or the folder of its run.
    slots : int
        Segments of an image; may be other than in training.
    seed : int
        Of the noise that slots start from.
    device : str
        auto, cpu or cuda.

    Raises
    ------
    SetupError
        If there is no such device.
    StoreError
        If there is no such checkpoint.
    """
    where = device_named(device)
    checkpoint = read_checkpoint(place)
    config = checkpoint.config.with_options(slots=slots)
    model = make_model(config, seed=0)
    model.load_state_dict(checkpoint.model)
    model.to(where)

    def predict(target: Target) -> NDArray[np.uint8]:
        pixels = target.pixels
        frames = pixels if target.is_clip else pixels[np.newaxis]
        shape = (1, config.slots, config.noise_size)
        split, index = target.sample.split, target.index
        noise = slot_noise(shape, seed=seed, split=split, stage="predict", index=index)
        segments = segment(model, config, frames, noise.to(where))
        labels = link_segments(segments, config.slots) + np.uint8(1)
        return labels if target.is_clip else labels[0]

    return predict


def segment(
    model: Autoencoder, config: Config, frames: NDArray[np.uint8], noise: torch.Tensor
) -> NDArray[np.uint8]:
    """Return the slot that each pixel belongs to most.

    Parameters
    ----------
    model : Autoencoder
    config : Config
    frames : ndarray of uint8, shape (T, H, W, 3)
        Of any size: the model sees them at its own, and its masks are brought back.
    noise : Tensor, shape (1, K, Z)
        The same for all frames.

    Returns
    -------
    ndarray of uint8, shape (T, H, W)
        From 0 to K - 1; of equal shares the first.
    """
    found = [
        _segment(model, config, frames[start : start + _FRAMES_AT_ONCE], noise)
        for start in range(0, len(frames), _FRAMES_AT_ONCE)
    ]
    return np.concatenate(found)


def _segment(
    model: Autoencoder, config: Config, frames: NDArray[np.uint8], noise: torch.Tensor
) -> NDArray[np.uint8]:
    height, width = frames.shape[1:3]
    images = torch.from_numpy(resized(frames, config.height, config.width)).to(noise.device)
    with torch.inference_mode(), _one_thread():
        masks = model(to_input(images, config), noise.expand(len(frames), -1, -1)).masks
        if (height, width) != (config.height, config.width):
            masks = functional.interpolate(
                masks, (height, width), mode="bilinear", align_corners=False
            )
        labels: NDArray[np.uint8] = masks.argmax(dim=1).to(torch.uint8).cpu().numpy()
    return labels


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch use one thread: with several, the last bits depend on how many there are."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
