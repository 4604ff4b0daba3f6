"""Configurations of Slot Attention by name: the published one, and one that a CPU trains."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from robustclevr.errors import SpecError, suggest

_MAX_SLOTS = 255  # labels are bytes and 0 is no object
_SMALL_PX = 64  # chosen: the clips of the video benchmark


@dataclass(frozen=True)
class Config:
    """Everything that a model and its training are made of, but the data and the seed.

    Attributes
    ----------
    name : str
    height, width : int
        That images are resized to; a multiple of what the strides of the encoder and of the
        decoder need. [px]
    slots : int
        Segments of an image, the background's included.
    slot_size, hidden_size : int
        Numbers of a slot, and of the hidden layer of the MLP behind the GRU. Keys, queries and
        values are as large as slots.
    iterations : int
        Of slot attention.
    places : bool
        Whether each slot has a place and an extent in the image, see
        :mod:`robustclevr.baselines.slot_attention.places`.
    even_contrast : bool
        Whether each image is brought to mean 0 in each color, and variance 1, before the model
        sees it; else it sees [-1, 1].
    encoder_channels, encoder_kernel, encoder_strides : int, int, tuple of int
        Of each convolution; kernels are odd. [px]
    decoder_channels, decoder_kernel, decoder_strides : int, int, tuple of int
        Of each transposed convolution. The product of strides is how much smaller the grid is
        that a slot is broadcast to.
    batch : int
        Images a step.
    steps : int
    learning_rate : float
        Of Adam, at its highest.
    warmup_steps : int
        Over which the rate rises from 0, linearly.
    halving_steps : int
        Over which the rate halves, exponentially, from the first step on.
    gradient_norm : float
        Longer gradients are cut to this length; may be infinite.
    """

    name: str
    height: int
    width: int
    slots: int
    slot_size: int
    hidden_size: int
    iterations: int
    places: bool
    even_contrast: bool
    encoder_channels: int
    encoder_kernel: int
    encoder_strides: tuple[int, ...]
    decoder_channels: int
    decoder_kernel: int
    decoder_strides: tuple[int, ...]
    batch: int
    steps: int
    learning_rate: float
    warmup_steps: int
    halving_steps: int
    gradient_norm: float

    @property
    def cells(self) -> tuple[int, int]:
        """Height and width of the grid of features."""
        scale = math.prod(self.encoder_strides)
        return self.height // scale, self.width // scale

    @property
    def noise_size(self) -> int:
        """Random numbers that a slot starts from: its own, and two of its place."""
        return self.slot_size + 2 * self.places

    def rate(self, step: int) -> float:
        """Return the learning rate of one step, counted from 0."""
        warm = min(1.0, (step + 1) / self.warmup_steps)
        return float(self.learning_rate * warm * 0.5 ** (step / self.halving_steps))

    def with_options(
        self, *, slots: int | None = None, batch: int | None = None, steps: int | None = None
    ) -> Config:
        """Return the configuration with some numbers replaced; None keeps one.

        Raises
        ------
        SpecError
            If there are too many slots.
        """
        changed = replace(
            self,
            slots=self.slots if slots is None else slots,
            batch=self.batch if batch is None else batch,
            steps=self.steps if steps is None else steps,
        )
        if not 1 <= changed.slots <= _MAX_SLOTS:
            hint = f"1 to {_MAX_SLOTS} are possible"
            raise SpecError.single(f"{changed.slots} slots", file="--slots", hint=hint)
        return changed


def config_named(name: str) -> Config:
    """Return a configuration; SpecError with the nearest spelling if there is none."""
    if name not in CONFIGS:
        hint = suggest(name, CONFIGS)
        raise SpecError.single(f"no configuration '{name}'", file="--config", hint=hint)
    return CONFIGS[name]


def config_for(height: int) -> Config:
    """Return the configuration for images of a height: the small one up to 64 pixels."""
    return CONFIGS["sprites-32" if height <= _SMALL_PX else "clevr-128"]


CONFIGS: Mapping[str, Config] = MappingProxyType(
    {
        "sprites-32": Config(
            name="sprites-32",
            height=32,
            width=32,
            slots=5,
            slot_size=32,
            hidden_size=64,
            iterations=3,
            places=True,
            even_contrast=True,
            encoder_channels=32,
            encoder_kernel=5,
            encoder_strides=(2, 2, 1),
            decoder_channels=24,
            decoder_kernel=3,
            decoder_strides=(2, 2),
            batch=32,
            steps=3000,
            learning_rate=1e-3,
            warmup_steps=200,
            halving_steps=4000,
            gradient_norm=1.0,
        ),
        "clevr-128": Config(
            name="clevr-128",
            height=128,
            width=128,
            slots=11,
            slot_size=128,
            hidden_size=256,
            iterations=3,
            places=False,
            even_contrast=False,
            encoder_channels=64,
            encoder_kernel=5,
            encoder_strides=(1, 1, 1, 1),
            decoder_channels=64,
            decoder_kernel=5,
            decoder_strides=(2, 2, 2, 2, 1),
            batch=64,
            steps=300_000,
            learning_rate=4e-4,
            warmup_steps=10_000,
            halving_steps=100_000,
            gradient_norm=math.inf,
        ),
    }
)
"""``clevr-128``: Zimmermann et al. 2023, appendix B, and where it refers to them Locatello et al.
2020, appendix E (encoder, decoder, learning rate): 11 slots are CLEVR's ten objects and the
background. ``sprites-32``: chosen so that two cores train it in ten minutes."""
