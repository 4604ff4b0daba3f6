"""Slot Attention as an autoencoder: images in, slots, masks and a reconstruction out.

A convolutional encoder with embedded positions makes features of an image; slots, which start
as noise, compete for them by attention, three times over; each slot is broadcast to a grid and
decoded to an image of its own and a mask, and the images are added up under the masks. Written
from the paper [1]_, in which the slots' number of an image need not be that of training.

References
----------
.. [1] F. Locatello et al., "Object-centric learning with slot attention", NeurIPS 2020,
   arXiv:2006.15055: algorithm 1, appendix E.
.. [2] N. Watters et al., "Spatial broadcast decoder", 2019, arXiv:1901.07017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from robustclevr.baselines.slot_attention.config import Config

_EPSILON = 1e-8  # of the weighted mean of [1]_, so that an empty slot divides by no 0
_COLORS = 3
_LEAST_SPREAD = 1e-3  # chosen: an eighth of the step between two levels of 8 bits, for flat images


@dataclass(frozen=True)
class Decoded:
    """What a model makes of a batch of B images with K slots.

    Attributes
    ----------
    image : Tensor, float, shape (B, 3, H, W)
        The reconstruction, of what :func:`to_input` made.
    masks : Tensor, float, shape (B, K, H, W)
        The share that each slot has in each pixel; they sum to 1.
    """

    image: Tensor
    masks: Tensor


class PositionEmbedding(nn.Module):
    """Adds a linear map of each cell's distances from the four borders to its features."""

    grid: Tensor

    def __init__(self, channels: int, height: int, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(4, channels)
        down, right = torch.meshgrid(
            torch.linspace(0, 1, height), torch.linspace(0, 1, width), indexing="ij"
        )
        grid = torch.stack([down, right, 1 - down, 1 - right], dim=-1)
        self.register_buffer("grid", grid, persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """Return (B, C, H, W) as it came, positions added."""
        placed: Tensor = features + self.project(self.grid).permute(2, 0, 1)
        return placed


class Encoder(nn.Module):
    """Images (B, 3, H, W) to features (B, N, D), one for each cell of a grid."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        channels, kernel = config.encoder_channels, config.encoder_kernel
        layers: list[nn.Module] = []
        for place, stride in enumerate(config.encoder_strides):
            entering = channels if place else _COLORS
            layers += [nn.Conv2d(entering, channels, kernel, stride, kernel // 2), nn.ReLU()]
        self.convolutions = nn.Sequential(*layers)
        scale = math.prod(config.encoder_strides)
        self.positions = PositionEmbedding(channels, config.height // scale, config.width // scale)
        self.mlp = nn.Sequential(
            nn.LayerNorm(channels),
            nn.Linear(channels, channels),
            nn.ReLU(),
            nn.Linear(channels, channels),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return the features, row by row of the grid."""
        features = self.positions(self.convolutions(images))
        made: Tensor = self.mlp(features.flatten(2).transpose(1, 2))
        return made


class SlotAttention(nn.Module):
    """Features (B, N, D) and noise (B, K, S) to slots (B, K, S): algorithm 1 of [1]_."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        size, features = config.slot_size, config.encoder_channels
        self.iterations = config.iterations
        self.mean = nn.Parameter(torch.empty(1, 1, size))
        self.log_sigma = nn.Parameter(torch.empty(1, 1, size))
        self.norm_features = nn.LayerNorm(features)
        self.norm_slots = nn.LayerNorm(size)
        self.norm_mlp = nn.LayerNorm(size)
        self.query = nn.Linear(size, size, bias=False)
        self.key = nn.Linear(features, size, bias=False)
        self.value = nn.Linear(features, size, bias=False)
        self.gru = nn.GRUCell(size, size)
        self.mlp = nn.Sequential(
            nn.Linear(size, config.hidden_size), nn.ReLU(), nn.Linear(config.hidden_size, size)
        )

    def forward(self, features: Tensor, noise: Tensor) -> Tensor:
        """Return the slots after all iterations."""
        features = self.norm_features(features)
        keys, values = self.key(features), self.value(features)
        slots = self.mean + self.log_sigma.exp() * noise
        for _ in range(self.iterations):
            slots = self._iterate(slots, keys, values)
        return slots

    def _iterate(self, slots: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        queries = self.query(self.norm_slots(slots)) * slots.shape[-1] ** -0.5
        # Slots compete: the softmax is over slots, and only then each takes a mean of features.
        shares = torch.softmax(queries @ keys.transpose(1, 2), dim=1) + _EPSILON
        updates = (shares / shares.sum(dim=2, keepdim=True)) @ values
        slots = self.gru(updates.flatten(0, 1), slots.flatten(0, 1)).view_as(slots)
        grown: Tensor = slots + self.mlp(self.norm_mlp(slots))
        return grown


class Decoder(nn.Module):
    """Slots (B, K, S) to an image and a mask each: a spatial broadcast decoder [2]_."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        channels, kernel = config.decoder_channels, config.decoder_kernel
        scale = math.prod(config.decoder_strides)
        self.height, self.width = config.height // scale, config.width // scale
        self.positions = PositionEmbedding(config.slot_size, self.height, self.width)
        layers: list[nn.Module] = []
        for place, stride in enumerate(config.decoder_strides):
            entering = channels if place else config.slot_size
            layers += [
                nn.ConvTranspose2d(
                    entering, channels, kernel, stride, kernel // 2, output_padding=stride - 1
                ),
                nn.ReLU(),
            ]
        self.layers = nn.Sequential(*layers, nn.Conv2d(channels, _COLORS + 1, 3, padding=1))

    def forward(self, slots: Tensor) -> Decoded:
        """Return the images of all slots, added up under their masks."""
        batch, count, size = slots.shape
        grid = slots.reshape(batch * count, size, 1, 1).expand(-1, -1, self.height, self.width)
        decoded = self.layers(self.positions(grid)).unflatten(0, (batch, count))
        masks = torch.softmax(decoded[:, :, _COLORS], dim=1)
        return Decoded((decoded[:, :, :_COLORS] * masks.unsqueeze(2)).sum(dim=1), masks)


class Autoencoder(nn.Module):
    """Encoder, slot attention and decoder."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.encoder = Encoder(config)
        self.attention = SlotAttention(config)
        self.decoder = Decoder(config)

    def forward(self, images: Tensor, noise: Tensor) -> Decoded:
        """Return what the model makes of images.

        Parameters
        ----------
        images : Tensor, float, shape (B, 3, H, W)
            As :func:`to_input` makes them.
        noise : Tensor, float, shape (B, K, S)
            Standard normal; where the slots start from.
        """
        decoded: Decoded = self.decoder(self.attention(self.encoder(images), noise))
        return decoded


def make_model(config: Config, *, seed: int) -> Autoencoder:
    """Return a model whose weights are drawn anew.

    Torch's global generator is as before. Weights are Glorot's, and offsets 0, as in [1]_.
    """
    with torch.random.fork_rng(devices=[]):
        model = Autoencoder(config)
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if parameter.ndim > 1:
            nn.init.xavier_uniform_(parameter, generator=generator)
        elif "norm" not in name and "mlp.0" not in name:
            nn.init.zeros_(parameter)
    # Half the time of a step on a CPU, measured.
    model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return model


def to_input(images: Tensor, config: Config) -> Tensor:
    """Return images as a model sees them, and as it reconstructs them.

    Parameters
    ----------
    images : Tensor, uint8, shape (B, H, W, 3)
    config : Config

    Returns
    -------
    Tensor, float32, shape (B, 3, H, W)
        In [-1, 1], or with ``even_contrast`` of mean 0 in each color and variance 1. The model
        then learns from the first step on where things are, and not first their colors.
    """
    seen = images.permute(0, 3, 1, 2).to(torch.float32) * (2 / 255) - 1  # stays channels last
    if not config.even_contrast:
        return seen
    seen = seen - seen.mean(dim=(2, 3), keepdim=True)
    spread = seen.square().mean(dim=(1, 2, 3), keepdim=True).sqrt()
    return seen / (spread + _LEAST_SPREAD)


def loss_of(decoded: Decoded, images: Tensor) -> Tensor:
    """Return the mean squared error of the reconstruction, over all pixels and colors."""
    return functional.mse_loss(decoded.image, images)
