"""Regions: which values a number can take, and arithmetic on them that never leaves one out.

A region is a finite set of values where that is known, else a closed interval. Operations on
finite sets compute every combination with the same functions that draws are computed with;
operations on intervals return a hull. What gives no finite number is left out, because a draw
with such a value ends in an error.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_VALUES = 4096
"""Larger sets become intervals; chosen: above every grid of the authors' models."""

_MAX_COMBINATIONS = 65_536  # chosen: half a megabyte an operation
_ROUNDING = 8  # units in the last place; the functions below are good to two


@dataclass(frozen=True)
class Region:
    """Every value that a number can take, and perhaps some more.

    Attributes
    ----------
    low, high : float
        Bounds, -inf and inf included.
    values : tuple of float, optional
        Sorted, if there are finitely many and few.
    """

    low: float
    high: float
    values: tuple[float, ...] | None = None

    def contains(self, value: float) -> bool:
        """Return whether ``value`` lies inside."""
        if self.values is not None:
            return value in self.values
        return self.low <= value <= self.high

    def meets(self, low: float, high: float) -> bool:
        """Return whether some value may lie in [low, high]; False is a proof that none does."""
        if self.values is not None:
            return any(low <= value <= high for value in self.values)
        return self.low <= high and low <= self.high

    def __str__(self) -> str:
        if self.values is not None and len(self.values) <= 5:
            return "{" + ", ".join(f"{value:.6g}" for value in self.values) + "}"
        left = "(-inf" if self.low == -math.inf else f"[{self.low:.6g}"
        right = "inf)" if self.high == math.inf else f"{self.high:.6g}]"
        count = "" if self.values is None else f", {len(self.values)} values"
        return f"{left}, {right}{count}"


LINE = Region(-math.inf, math.inf)
EITHER = Region(0.0, 1.0, (0.0, 1.0))


def of_values(values: Iterable[float] | NDArray[Any]) -> Region:
    """Return the smallest region that holds the finite ones of ``values``."""
    array = np.asarray(values, dtype=np.float64)
    found = np.unique(array[np.isfinite(array)])
    if not found.size:
        return LINE  # nothing can be drawn, so anything is true of it
    low, high = float(found[0]), float(found[-1])
    return Region(low, high, tuple(found.tolist()) if found.size <= MAX_VALUES else None)


def union(regions: Sequence[Region]) -> Region:
    """Return a region that holds all of them."""
    if all(region.values is not None for region in regions):
        return of_values(list(itertools.chain(*(region.values or () for region in regions))))
    return Region(min(r.low for r in regions), max(r.high for r in regions))


def truths(*, may_be_true: bool, may_be_false: bool) -> Region:
    """Return the region of an answer."""
    answers = (0.0,) * may_be_false + (1.0,) * may_be_true
    return of_values(answers)


def may_be_true(region: Region) -> bool:
    """Return whether a value may count as true."""
    return (region.low, region.high) != (0.0, 0.0)


def may_be_false(region: Region) -> bool:
    """Return whether a value may count as false."""
    return region.contains(0.0)


def combine(
    function: Callable[..., Any], hull: Callable[..., Region], regions: Sequence[Region]
) -> Region:
    """Apply an operation: to every combination of finite sets, else by its rule for intervals."""
    sizes = [len(region.values) if region.values is not None else 0 for region in regions]
    if all(sizes) and math.prod(sizes) <= _MAX_COMBINATIONS:
        grids = np.meshgrid(*(np.asarray(region.values) for region in regions), indexing="ij")
        with np.errstate(all="ignore"):  # what is not finite is left out
            return of_values(np.asarray(function(*(grid.ravel() for grid in grids))))
    found = hull(*(Region(region.low, region.high) for region in regions))
    if math.isnan(found.low) or math.isnan(found.high):
        return LINE  # infinite bounds of opposite sign met
    return found


def outward(low: float, high: float) -> Region:
    """Return an interval, widened by what rounding may do and with NaN read as unknown."""
    low = -math.inf if math.isnan(low) else low
    high = math.inf if math.isnan(high) else high
    for _ in range(_ROUNDING):
        low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    return Region(low, high)
