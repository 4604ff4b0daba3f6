"""The numerics of every distribution in :data:`robustclevr.spec.distributions.DISTRIBUTIONS`.

Enters: uniforms or values, and arguments by their canonical names. Leaves: values, log-densities,
supports. Names, arguments and domains are the spec's; the tests compare with pyro. Branches that
``np.where`` drops and tails that overflow make numpy warn: the caller silences that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from robustclevr.scm.continuous import CONTINUOUS
from robustclevr.scm.discrete import DISCRETE
from robustclevr.scm.elementary import FloatArray
from robustclevr.scm.laws import Arguments, Law, Support
from robustclevr.spec.distributions import DISTRIBUTIONS
from robustclevr.spec.model import Distribution

LAWS: Mapping[str, Law] = {**CONTINUOUS, **DISCRETE}
"""Quantile function, log-density and support by the distribution's name."""

SMOOTH = frozenset(CONTINUOUS) - {"Delta"}
"""Laws with a density, whose quantile function has a slope."""


def quantile(distribution: Distribution, u: FloatArray) -> FloatArray:
    """Return the values at the levels ``u``.

    Parameters
    ----------
    distribution : Distribution
        With constant, valid arguments.
    u : ndarray of float64
        In (0, 1).

    Returns
    -------
    ndarray of float64
        As long as ``u``. Element k depends on ``u[k]`` alone, to the last bit. A continuous
        variable never takes the end of its support, at which its density may be infinite.
    """
    values = np.asarray(LAWS[distribution.name].quantile(u, distribution.arguments))
    hull = support(distribution)
    if hull.step is not None or hull.low == hull.high:
        return values
    return np.asarray(np.clip(values, _above(hull.low), -_above(-hull.high)))


def log_density(distribution: Distribution, x: FloatArray) -> FloatArray:
    """Return the log-density, or log-mass, at ``x``, in nats.

    Returns
    -------
    ndarray of float64
        As long as ``x``; -inf outside the support.
    """
    return np.asarray(LAWS[distribution.name].log_density(x, distribution.arguments))


def support(distribution: Distribution) -> Support:
    """Return the closed hull of the values that can be drawn."""
    return LAWS[distribution.name].support(distribution.arguments)


def valid_arguments(name: str, arguments: Arguments) -> NDArray[np.bool_]:
    """Return where computed arguments lie in their domains.

    Parameters
    ----------
    name : str
        Name of the distribution.
    arguments : mapping of str to float or ndarray
        Numbers only, no lists.

    Returns
    -------
    ndarray of bool
        Of the shape that the arguments broadcast to.
    """
    signature = DISTRIBUTIONS[name]
    valid = np.ones((), dtype=np.bool_)
    for argument, value in arguments.items():
        domain, x = signature.parameter(argument).domain, np.asarray(value)
        valid = valid & (x > domain.low if domain.open_low else x >= domain.low)
        valid = valid & (x < domain.high if domain.open_high else x <= domain.high)
        if domain.whole:
            valid = valid & (x == np.floor(x))
    if name == "Uniform":
        valid = valid & (np.asarray(arguments["low"]) < np.asarray(arguments["high"]))
    return np.asarray(valid)


def _above(x: float) -> float:
    return math.nextafter(x, math.inf) if math.isfinite(x) else x
