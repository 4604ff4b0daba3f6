"""What the sampler knows of a distribution: quantile function, log-density and support.

All three work element by element in float64; an argument may be a number or an array that
broadcasts against the first operand, because ``quantile(Beta(a, b), q)`` in a formula has
formulas as arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustclevr.scm.elementary import FloatArray
from robustclevr.scm.operations import same_everywhere

Arguments = Mapping[str, Any]
"""By canonical name: float, float64 array, or a tuple of floats for ``probs`` of Categorical."""


@dataclass(frozen=True)
class Support:
    """Closed hull of the values that a variable can take.

    Attributes
    ----------
    low, high : float
        Least and largest value, or -inf and inf.
    step : float, optional
        Distance of neighbouring values of a discrete variable, counted from ``low``; None for a
        continuous one.
    """

    low: float
    high: float
    step: float | None = None


@dataclass(frozen=True)
class Law:
    """The numeric side of one distribution.

    Attributes
    ----------
    quantile : callable
        ``quantile(u, arguments)``: least x with P(X <= x) >= u, for u in (0, 1).
    log_density : callable
        ``log_density(x, arguments)``: log of the density, or of the mass of a discrete
        variable; -inf outside the support. [nat]
    support : callable
        ``support(arguments)`` of constant arguments.
    """

    quantile: Callable[[FloatArray, Arguments], FloatArray]
    log_density: Callable[[FloatArray, Arguments], FloatArray]
    support: Callable[[Arguments], Support]


def supported(inside: Any, density: Any) -> FloatArray:
    """Return a log-density that is -inf where ``inside`` is false.

    One that is the same in all rows is a view of one number.
    """
    if np.ndim(inside) and np.ndim(density) == 0 and inside.all():
        return same_everywhere(np.asarray(density), inside.size)
    return np.where(inside, density, -np.inf)
