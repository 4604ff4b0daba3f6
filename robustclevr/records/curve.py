"""The measured way from severity to a recipe's parameters."""

from __future__ import annotations

import itertools
from dataclasses import dataclass


@dataclass(frozen=True)
class Curve:
    """Knots of a piecewise linear, strictly increasing map.

    Attributes
    ----------
    severity : tuple of float
        From 0 to 1: the share of the worst image's mean degradation, 1 - SSIM.
    fraction : tuple of float
        Where that share is reached on the straight line from clean to worst parameters; from 0
        to 1.
    """

    severity: tuple[float, ...]
    fraction: tuple[float, ...]

    def problem(self) -> str:
        """Return what is wrong with the knots, or nothing."""
        for name, knots in (("severity", self.severity), ("fraction", self.fraction)):
            if len(knots) < 2 or knots[0] != 0.0 or knots[-1] != 1.0:
                return f"{name} must go from 0 to 1"
            if any(not a < b for a, b in itertools.pairwise(knots)):
                return f"{name} must increase from knot to knot"
        if len(self.severity) != len(self.fraction):
            return "severity and fraction must have the same number of knots"
        return ""
