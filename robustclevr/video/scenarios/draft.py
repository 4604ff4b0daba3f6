"""A clip while it is drawn, and what a scenario is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Values = Mapping[str, tuple[float, ...]]
"""Options of one scenario, or what it drew, by name."""


@dataclass
class Draft:
    """A clip of N sprites and T frames before its paths are drawn; scenarios change it.

    Attributes
    ----------
    shape : list of str
        One a sprite.
    scale, orientation : ndarray of float64, shape (N, T)
        [1, rad]
    color : ndarray of float64, shape (N, T, 3)
        sRGB, whole numbers. [0, 255]
    background : ndarray of float64, shape (3,)
        As ``color``.
    frame : ndarray of int64, shape (N, 2)
        The frame in which each coordinate (x, y) is given.
    value : ndarray of float64, shape (N, 2)
        Its value there. [px]
    low, high : ndarray of float64, shape (N, 2, T)
        Bounds of each coordinate in each frame. [px]
    size : pair of int
        Width and height of the picture. [px]
    unit : float
        Pixels of the picture for one of dSprites' canvas.
    free : list of int
        Sprites whose paths no scenario has taken yet.
    """

    shape: list[str]
    scale: NDArray[np.float64]
    orientation: NDArray[np.float64]
    color: NDArray[np.float64]
    background: NDArray[np.float64]
    frame: NDArray[np.int64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    size: tuple[int, int]
    unit: float
    free: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Number of sprites."""
        return len(self.shape)

    @property
    def frames(self) -> int:
        """Number of frames."""
        return self.scale.shape[1]

    def take(self, rng: np.random.Generator, count: int) -> list[int]:
        """Take sprites whose paths are still free, at random."""
        chosen = [int(k) for k in rng.permutation(len(self.free))[:count]]
        taken = [self.free[k] for k in chosen]
        self.free = [sprite for sprite in self.free if sprite not in taken]
        return taken


@dataclass(frozen=True)
class Option:
    """An option of a scenario.

    Attributes
    ----------
    default : tuple of float
        Its length is that of the option: a range has two.
    least, most : float
        What each number may be.
    meaning : str
        With its unit and where the default comes from.
    """

    default: tuple[float, ...]
    least: float
    most: float
    meaning: str


@dataclass(frozen=True)
class Scenario:
    """One way in which clips differ from plain VMDS.

    Attributes
    ----------
    summary : str
        One line.
    apply : callable
        Changes a draft with the scenario's options and a random stream of its own; returns
        what it drew.
    options : mapping of str to Option
    sets : frozenset of str
        Properties that only one scenario may set: ``scale``, ``orientation``, ``color``,
        ``count``.
    least_sprites : int
        Needed where it takes no paths.
    takes : int
        Sprites whose paths it takes for itself.
    least_frames : int
    needs_colors : bool
        True if it means nothing for textured sprites.
    """

    summary: str
    apply: Callable[[Draft, Values, np.random.Generator], dict[str, tuple[float, ...]]]
    options: Mapping[str, Option] = field(default_factory=dict)
    sets: frozenset[str] = frozenset()
    least_sprites: int = 1
    takes: int = 0
    least_frames: int = 1
    needs_colors: bool = False


def floats(values: NDArray[np.float64] | NDArray[np.int64]) -> tuple[float, ...]:
    """Return an array as a tuple of plain floats."""
    return tuple(float(value) for value in values)
