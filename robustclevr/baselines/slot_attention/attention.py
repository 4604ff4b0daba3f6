"""Slot attention itself: slots compete for features; algorithm 1 of Locatello et al. 2020."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from robustclevr.baselines.slot_attention.config import Config
from robustclevr.baselines.slot_attention.grids import Slots

_EPSILON = 1e-8  # of the paper's weighted mean, so that an empty slot divides by no 0


class SlotAttention(nn.Module):
    """Features (B, N, C) and noise (B, K, S) to slots."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        size, channels = config.slot_size, config.encoder_channels
        self.iterations, self.size = config.iterations, size
        self.mean = nn.Parameter(torch.empty(1, 1, size))
        self.log_sigma = nn.Parameter(torch.empty(1, 1, size))
        self.norm_features = nn.LayerNorm(channels)
        self.norm_slots = nn.LayerNorm(size)
        self.norm_grown = nn.LayerNorm(size)
        self.query = nn.Linear(size, size, bias=False)
        self.key = nn.Linear(channels, size, bias=False)
        self.value = nn.Linear(channels, size, bias=False)
        self.gru = nn.GRUCell(size, size)
        self.mlp = nn.Sequential(
            nn.Linear(size, config.hidden_size), nn.ReLU(), nn.Linear(config.hidden_size, size)
        )

    def forward(self, features: Tensor, noise: Tensor) -> Slots:
        """Return the slots after all iterations."""
        features = self.norm_features(features)
        keys, values = self.key(features), self.value(features)
        states = self.started(noise)
        for _ in range(self.iterations):
            states = self.updated(states, shares_of(self.scores(states, keys)) @ values)
        return Slots(states)

    def started(self, noise: Tensor) -> Tensor:
        """Return what slots are before the first iteration."""
        states: Tensor = self.mean + self.log_sigma.exp() * noise
        return states

    def scores(self, states: Tensor, keys: Tensor) -> Tensor:
        """Return how much each slot asks for each feature, shape (B, K, N)."""
        queries: Tensor = self.query(self.norm_slots(states)) * self.size**-0.5
        return queries @ keys.transpose(1, 2)

    def updated(self, states: Tensor, found: Tensor) -> Tensor:
        """Return the slots after they have seen the mean of what they attended to."""
        states = self.gru(found.flatten(0, 1), states.flatten(0, 1)).view_as(states)
        grown: Tensor = states + self.mlp(self.norm_grown(states))
        return grown


def shares_of(scores: Tensor) -> Tensor:
    """Return the weights of each slot's mean of features, shape (B, K, N); each sums to 1.

    Slots compete: the softmax is over slots, and only then each takes a mean of features.
    """
    shares = torch.softmax(scores, dim=1) + _EPSILON
    return shares / shares.sum(dim=2, keepdim=True)
