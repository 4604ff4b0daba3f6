"""The von Mises law: no closed quantile function, so the distribution function is inverted.

The angle is not wrapped: it lies within pi of ``loc``, so that it stays a continuous function of
its uniform. pyro wraps its draws into [-pi, pi); the two agree modulo 2 pi, and in density.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from robustclevr.scm.elementary import FloatArray, arcsin, cos, log, sin
from robustclevr.scm.laws import Arguments, Law, Support

_NODE_COUNT = 64


def _fejer_rule(count: int) -> list[tuple[float, float]]:
    """Return nodes in (-1, 1) and weights of Fejér's first rule.

    Gauss-Legendre would need fewer, but its nodes come from linear algebra, whose last bits
    depend on the processor.
    """
    angles = np.pi * (np.arange(count) + 0.5) / count
    terms = np.arange(1, count // 2 + 1)
    ripples = cos(2.0 * np.outer(angles, terms)) / (4.0 * terms**2 - 1.0)
    weights = [2.0 / count * (1.0 - 2.0 * math.fsum(row)) for row in ripples]
    return list(zip(cos(angles).tolist(), weights, strict=True))


_RULE = _fejer_rule(_NODE_COUNT)
_STEPS = 9
"""Halley steps, always as many, so that a value does not depend on its neighbours.

With these and the nodes, cdf(quantile(u)) is within 1e-13 of u for concentrations of 1e-3 to 1e6.
"""
_NEGLIGIBLE = 40.0
"""Where the density has fallen by exp(-40), a double holds no more of the mass."""


def _fallen_density(x: Any, kappa: Any) -> Any:
    # exp(kappa (cos x - 1)) by cosm1 and expm1: scalar code, and faster than long double.
    return 1.0 + special.expm1(kappa * special.cosm1(x))


def _half_mass(x: FloatArray, kappa: Any) -> FloatArray:
    """Return P(0 < X < x) of the centred law, by quadrature."""
    reach = 2.0 * arcsin(np.sqrt(np.minimum(0.5 * _NEGLIGIBLE / kappa, 1.0)))
    end = np.minimum(x, reach)
    total = np.zeros(np.broadcast(x, kappa).shape)
    for node, weight in _RULE:
        total += weight * _fallen_density(0.5 * end * (node + 1.0), kappa)
    return np.asarray(total * end / (4.0 * math.pi * special.i0e(kappa)))


def _quantile(u: FloatArray, a: Arguments) -> FloatArray:
    kappa = np.asarray(a["concentration"])
    target = np.abs(u - 0.5)
    sigma = 1.0 / np.sqrt(kappa + 0.3)  # chosen: a start that suits small kappa as well
    x = np.minimum(-sigma * special.ndtri(0.5 - target), 2.0 * math.pi * target)
    for _ in range(_STEPS):
        slope = _fallen_density(x, kappa) / (2.0 * math.pi * special.i0e(kappa))
        newton = (_half_mass(x, kappa) - target) / np.maximum(slope, 1e-300)
        step = newton / np.maximum(1.0 + 0.5 * newton * kappa * sin(x), 0.5)
        x = np.clip(x - step, 0.0, math.pi)
    return np.asarray(a["loc"] + np.copysign(x, u - 0.5))


def _log_density(x: FloatArray, a: Arguments) -> FloatArray:
    kappa = a["concentration"]
    norm = math.log(2.0 * math.pi) + log(special.i0e(kappa))
    return np.asarray(kappa * special.cosm1(x - a["loc"]) - norm)


VON_MISES = Law(_quantile, _log_density, lambda a: Support(a["loc"] - math.pi, a["loc"] + math.pi))
