"""What encoder, attention and decoder share: slots, and the coordinates of a grid's cells."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

COORDINATES = 4
"""Numbers that say where a cell is, whatever they are measured from."""


@dataclass(frozen=True)
class Slots:
    """Slots of a batch.

    Attributes
    ----------
    states : Tensor, float, shape (B, K, S)
    places, extents : Tensor, float, shape (B, K, 2), or None
        Mean and standard deviation (y, x) of the cells that a slot attends to, in units in which
        the image goes from -1 to 1; None for slots without a place.
    """

    states: Tensor
    places: Tensor | None = None
    extents: Tensor | None = None


def border_distances(height: int, width: int) -> Tensor:
    """Return the distances of each cell from top, left, bottom and right, shape (N, 4), in [0, 1].

    The linear position embedding of Locatello et al. 2020, appendix E.2, is a linear map of them.
    """
    down, right = torch.meshgrid(
        torch.linspace(0, 1, height), torch.linspace(0, 1, width), indexing="ij"
    )
    return torch.stack([down, right, 1 - down, 1 - right], dim=-1).flatten(0, 1)


def cell_centers(height: int, width: int) -> Tensor:
    """Return the centers (y, x) of the cells, shape (N, 2), of an image from -1 to 1."""
    down, right = torch.meshgrid(_centers(height), _centers(width), indexing="ij")
    return torch.stack([down, right], dim=-1).flatten(0, 1)


def _centers(count: int) -> Tensor:
    return (torch.arange(count) + 0.5) * (2 / count) - 1
