"""Slot Attention as an autoencoder: images in, slots, masks and a reconstruction out.

A convolutional encoder with embedded positions makes features of an image; slots, which start
as noise, compete for them by attention, three times over; each slot is broadcast to a grid and
decoded to an image of its own and a mask, and the images are added up under the masks. Written
from the paper [1]_. A model can make more or fewer slots than it was trained with.

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

from robustclevr.baselines.slot_attention.attention import SlotAttention
from robustclevr.baselines.slot_attention.config import Config
from robustclevr.baselines.slot_attention.grids import COORDINATES, Slots, border_distances
from robustclevr.baselines.slot_attention.places import PlacedAttention, relative_coordinates

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


class Encoder(nn.Module):
    """Images (B, 3, H, W) to features (B, N, C), one for each cell of a grid, row by row."""

    borders: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        channels, kernel = config.encoder_channels, config.encoder_kernel
        layers: list[nn.Module] = []
        for place, stride in enumerate(config.encoder_strides):
            entering = channels if place else _COLORS
            layers += [nn.Conv2d(entering, channels, kernel, stride, kernel // 2), nn.ReLU()]
        self.convolutions = nn.Sequential(*layers)
        # A slot with a place sees positions from there, and features are the same everywhere.
        self.positions = None if config.places else nn.Linear(COORDINATES, channels)
        self.register_buffer("borders", border_distances(*config.cells), persistent=False)
        self.mlp = nn.Sequential(
            nn.LayerNorm(channels),
            nn.Linear(channels, channels),
            nn.ReLU(),
            nn.Linear(channels, channels),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return the features."""
        features = self.convolutions(images).flatten(2).transpose(1, 2)
        if self.positions is not None:
            features = features + self.positions(self.borders)
        made: Tensor = self.mlp(features)
        return made


class Decoder(nn.Module):
    """Slots to an image and a mask each: a spatial broadcast decoder [2]_."""

    borders: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        channels, kernel = config.decoder_channels, config.decoder_kernel
        scale = math.prod(config.decoder_strides)
        self.size = config.height // scale, config.width // scale
        self.positions = nn.Linear(COORDINATES, config.slot_size)
        self.register_buffer("borders", border_distances(*self.size), persistent=False)
        layers: list[nn.Module] = []
        for place, stride in enumerate(config.decoder_strides):
            entering = channels if place else config.slot_size
            convolution = nn.ConvTranspose2d(
                entering, channels, kernel, stride, kernel // 2, output_padding=stride - 1
            )
            layers += [convolution, nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Conv2d(channels, _COLORS + 1, 3, padding=1))

    def forward(self, slots: Slots) -> Decoded:
        """Return the images of all slots, added up under their masks."""
        batch, count, size = slots.states.shape
        coordinates = relative_coordinates(self.size, slots)
        if coordinates is None:
            coordinates = self.borders
        grid = slots.states.unsqueeze(2) + self.positions(coordinates)
        grid = grid.reshape(batch * count, *self.size, size).permute(0, 3, 1, 2)
        decoded = self.layers(grid).unflatten(0, (batch, count))
        masks = torch.softmax(decoded[:, :, _COLORS], dim=1)
        return Decoded((decoded[:, :, :_COLORS] * masks.unsqueeze(2)).sum(dim=1), masks)


class Autoencoder(nn.Module):
    """Encoder, slot attention and decoder."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.encoder = Encoder(config)
        self.attention = PlacedAttention(config) if config.places else SlotAttention(config)
        self.decoder = Decoder(config)

    def forward(self, images: Tensor, noise: Tensor) -> Decoded:
        """Return what the model makes of images.

        Parameters
        ----------
        images : Tensor, float, shape (B, 3, H, W)
            As :func:`to_input` makes them.
        noise : Tensor, float, shape (B, K, Z)
            Standard normal, Z as the configuration's ``noise_size``; where slots start from.
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
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            continue  # its scales are 1 and its offsets 0
        for parameter in module.parameters(recurse=False):
            if parameter.ndim > 1:
                nn.init.xavier_uniform_(parameter, generator=generator)
            else:
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
