"""The training of a model: batches and noise as functions of the seed and the step.

Frames enter, steps are made, and a checkpoint can be taken between any two of them. Step s sees
frames s B to (s + 1) B - 1 of an endless row: one shuffle of the split after the other, each of
a stream of its own. The slots' noise of step s has a stream of its own too. So training stands
on no generator's state, and what went on from a checkpoint is, to the last bit on one machine
with as many threads, what was never stopped.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from robustclevr.baselines.slot_attention.checkpoint import Checkpoint
from robustclevr.baselines.slot_attention.config import Config
from robustclevr.baselines.slot_attention.model import loss_of, make_model, to_input
from robustclevr.errors import SetupError, SpecError, suggest
from robustclevr.seeds import stream

_STAGE = "slot-attention"
_WEIGHT_SEEDS = 2**63  # torch takes seeds below this

DEVICES = ("auto", "cpu", "cuda")


def device_named(name: str) -> torch.device:
    """Return where to compute.

    Parameters
    ----------
    name : str
        Of :data:`DEVICES`; ``auto`` is a GPU where there is one.

    Raises
    ------
    SpecError
        If there is no such name.
    SetupError
        If there is no GPU that torch can use.
    """
    if name not in DEVICES:
        hint = suggest(name, DEVICES)
        raise SpecError.single(f"no device '{name}'", file="--device", hint=hint)
    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise SetupError(
            f"torch {torch.__version__} finds no GPU here; install a torch for CUDA and the "
            "driver, or choose --device cpu"
        )
    return torch.device("cuda" if there and name != "cpu" else "cpu")


def batch_places(count: int, batch: int, step: int, *, seed: int, split: str) -> NDArray[np.int64]:
    """Return which frames a step sees.

    Parameters
    ----------
    count : int
        Frames there are.
    batch : int
        Frames a step.
    step : int
        From 0.
    seed, split : int, str
        Of the run.

    Returns
    -------
    ndarray of int64, shape (batch,)
        Of any ``count`` steps' frames that follow each other from a multiple of ``count`` on,
        each comes once.
    """
    row = np.arange(step * batch, (step + 1) * batch)
    shuffles, within = np.divmod(row, count)
    places = np.empty(batch, np.int64)
    for shuffle in np.unique(shuffles):
        order = stream(seed, split, f"{_STAGE}.order", int(shuffle)).permutation(count)
        chosen = shuffles == shuffle
        places[chosen] = order[within[chosen]]
    return places


def slot_noise(
    shape: tuple[int, int, int], *, seed: int, split: str, stage: str, index: int
) -> Tensor:
    """Return the standard normal numbers that slots start from, float32, shape (B, K, Z)."""
    rng = stream(seed, split, f"{_STAGE}.{stage}", index)
    return torch.from_numpy(rng.standard_normal(shape, np.float32))


class Trainer:
    """A model in training.

    Parameters
    ----------
    frames : ndarray of uint8, shape (N, H, W, 3)
        Of the model's size.
    config : Config
    seed, split : int, str
        They decide the weights that training starts from, the order of frames and all noise.
    device : torch.device
    """

    def __init__(
        self,
        frames: NDArray[np.uint8],
        config: Config,
        *,
        seed: int,
        split: str,
        device: torch.device,
    ) -> None:
        self.frames, self.config, self.seed, self.split = frames, config, seed, split
        self.device = device
        self.step = 0
        weights = int(stream(seed, split, f"{_STAGE}.weights", 0).integers(_WEIGHT_SEEDS))
        self.model = make_model(config, seed=weights).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config.learning_rate)

    def load(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of a run with the same arguments."""
        self.model.load_state_dict(checkpoint.model)
        self.optimizer.load_state_dict(dict(checkpoint.optimizer))
        self.step = checkpoint.step

    def advance(self) -> float:
        """Make one step; return the loss before it."""
        images, noise = self._images(), self._noise()
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.rate(self.step)
        loss = loss_of(self.model(images, noise), images)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.gradient_norm)
        self.optimizer.step()
        self.step += 1
        return float(loss.detach())

    def _images(self) -> Tensor:
        places = batch_places(
            len(self.frames), self.config.batch, self.step, seed=self.seed, split=self.split
        )
        # In the order of the file, so that the disk is read in one direction.
        back = np.argsort(np.argsort(places, kind="stable"), kind="stable")
        images = np.ascontiguousarray(self.frames[np.sort(places)][back])
        return to_input(torch.from_numpy(images).to(self.device), self.config)

    def _noise(self) -> Tensor:
        shape = (self.config.batch, self.config.slots, self.config.noise_size)
        noise = slot_noise(shape, seed=self.seed, split=self.split, stage="train", index=self.step)
        return noise.to(self.device)
