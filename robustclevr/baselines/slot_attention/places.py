"""Slots that have a place and an extent, so that objects of one color come apart.

What tells objects of one color from each other is where they are. So each slot carries the mean
and the standard deviation of the cells that it attends to, attention falls off with distance as
under the components of a Gaussian mixture, and what a slot sees and what is decoded from it is
measured from its place in units of its extent, as in [1]_ (which has no fall-off).

References
----------
.. [1] O. Biza et al., "Invariant slot attention: object discovery with slot-centric reference
   frames", ICML 2023, arXiv:2302.04973.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from robustclevr.baselines.slot_attention.attention import SlotAttention, shares_of
from robustclevr.baselines.slot_attention.config import Config
from robustclevr.baselines.slot_attention.grids import COORDINATES, Slots, cell_centers

_FIRST_SPREAD = 0.5  # chosen: of the first places, and of the first extents: a quarter of the image
_LEAST_EXTENT = 0.05  # chosen: under a pixel at 32x32
_LEAST_VARIANCE = 1e-4  # keeps the gradient of the root finite where all weight is on one cell
_FARTHEST = 9.0  # chosen: what is three extents away, squared, is far away


class PlacedAttention(SlotAttention):
    """Features (B, N, C) and noise (B, K, S + 2) to slots with places."""

    centers: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        size = config.slot_size
        self.register_buffer("centers", cell_centers(*config.cells), persistent=False)
        self.coordinates = nn.Linear(COORDINATES, size)
        self.seen = nn.Sequential(
            nn.LayerNorm(size), nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size)
        )

    def forward(self, features: Tensor, noise: Tensor) -> Slots:
        """Return the slots after all iterations, and where they are then."""
        features = self.norm_features(features)
        keys, values = self.key(features), self.value(features)
        states = self.started(noise[..., : self.size])
        places = noise[..., self.size :] * _FIRST_SPREAD
        extents = torch.full_like(places, _FIRST_SPREAD)
        for _ in range(self.iterations):
            shares, places, extents = self._attended(states, keys, places, extents)
            offsets = _described(self._offsets(places, extents))
            seen = self.seen(values.unsqueeze(1) + self.coordinates(offsets))
            states = self.updated(states, (shares.unsqueeze(2) @ seen).squeeze(2))
        _, places, extents = self._attended(states, keys, places, extents)
        return Slots(states, places, extents)

    def _offsets(self, places: Tensor, extents: Tensor) -> Tensor:
        return (self.centers - places.unsqueeze(2)) / extents.unsqueeze(2)

    def _attended(
        self, states: Tensor, keys: Tensor, places: Tensor, extents: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the weights of cells, and their mean and deviation: one step of a mixture."""
        distance = 0.5 * self._offsets(places, extents).square().sum(dim=-1)
        fall_off = distance + extents.log().sum(dim=-1, keepdim=True)
        shares = shares_of(self.scores(states, keys) - fall_off)
        places = shares @ self.centers
        square = (self.centers - places.unsqueeze(2)).square()
        variance = (shares.unsqueeze(2) @ square).squeeze(2)
        extents = (variance + _LEAST_VARIANCE).sqrt().clamp_min(_LEAST_EXTENT)
        return shares, places, extents


def relative_coordinates(size: tuple[int, int], slots: Slots) -> Tensor | None:
    """Return where the cells of a grid are for each slot, shape (B, K, N, 4).

    Parameters
    ----------
    size : tuple of int
        Height and width of the grid.
    slots : Slots

    Returns
    -------
    Tensor or None
        None for slots without places.
    """
    if slots.places is None or slots.extents is None:
        return None
    centers = cell_centers(*size).to(slots.places)
    return _described((centers - slots.places.unsqueeze(2)) / slots.extents.unsqueeze(2))


def _described(offsets: Tensor) -> Tensor:
    """Return offsets (…, 2) and their squares, from which a layer can tell near from far."""
    both = torch.cat([offsets, offsets.square() - 1], dim=-1)
    return both.clamp(-_FARTHEST, _FARTHEST)
