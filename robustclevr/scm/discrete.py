"""Laws of discrete variables, under the names and arguments of pyro, and our DiscreteUniform."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from robustclevr.scm.elementary import FloatArray, log
from robustclevr.scm.laws import Arguments, Law, Support, supported
from robustclevr.scm.operations import same_everywhere

_INF = math.inf
_OFF_GRID = 1e-9
"""How far n times a value may lie from a whole number and count as one."""


def _whole(x: FloatArray) -> Any:
    return (x >= 0.0) & (x == np.floor(x))


def _counts(_: Arguments) -> Support:
    return Support(0.0, _INF, 1.0)


def _least_count(guess: Any, u: FloatArray, cdf: Any) -> FloatArray:
    """Return the least k with cdf(k) >= u, near a real-valued solution of cdf(k) = u."""
    k = np.maximum(np.ceil(guess), 0.0)
    below = np.maximum(k - 1.0, 0.0)
    k = np.where(cdf(below) >= u, below, k)
    return np.asarray(np.where(cdf(k) < u, k + 1.0, k))


def _discrete_uniform_quantile(u: FloatArray, a: Arguments) -> FloatArray:
    values = np.asarray(u * a["n"])
    np.floor(values, out=values)
    values /= a["n"]
    return values


def _discrete_uniform_log(x: FloatArray, a: Arguments) -> FloatArray:
    n = a["n"]
    distance = x * n
    distance -= np.rint(distance)
    if _between(x, 0.0, 1.0 - 0.5 / n) and _between(distance, -_OFF_GRID, _OFF_GRID):
        return same_everywhere(-log(n), x.size)
    inside = (np.abs(distance) <= _OFF_GRID) & (x >= 0.0) & (x < 1.0)
    return supported(inside, -log(n))


def _between(x: FloatArray, low: float, high: float) -> bool:
    """Return whether a whole column lies in [low, high]: faster than row by row."""
    return x.ndim == 1 and x.size > 0 and bool(x.min() >= low and x.max() <= high)


def _categorical_quantile(u: FloatArray, a: Arguments) -> FloatArray:
    probs = a["probs"]
    if min(probs) == max(probs):
        return np.asarray(np.floor(u * len(probs)))
    cumulative = np.cumsum(probs)
    k = np.searchsorted(cumulative / cumulative[-1], u, side="left")
    return np.minimum(k, np.flatnonzero(probs)[-1]).astype(np.float64)


def _categorical_log(x: FloatArray, a: Arguments) -> FloatArray:
    probs = a["probs"]
    even = min(probs) == max(probs)
    if even and _between(x, 0.0, len(probs) - 1.0) and bool((x == np.floor(x)).all()):
        return same_everywhere(log(probs[0]), x.size)
    inside = _whole(x) & (x < len(probs))
    if even:
        return supported(inside, log(probs[0]))
    masses = np.append(log(probs), -_INF)
    return np.asarray(masses[np.where(inside, x, -1.0).astype(np.intp)])


def _categorical_support(a: Arguments) -> Support:
    possible = np.flatnonzero(np.asarray(a["probs"]))
    return Support(float(possible[0]), float(possible[-1]), 1.0)


def _bernoulli_log(x: FloatArray, a: Arguments) -> FloatArray:
    p = a["probs"]
    return supported((x == 0.0) | (x == 1.0), np.where(x == 1.0, log(p), special.log1p(-p)))


def _bernoulli_support(a: Arguments) -> Support:
    return Support(float(a["probs"] == 1.0), float(a["probs"] > 0.0), 1.0)


def _binomial_quantile(u: FloatArray, a: Arguments) -> FloatArray:
    n, p = a["total_count"], a["probs"]
    inner = np.clip(p, 1e-300, 1.0 - 2.0**-53)  # the ends are mended below

    def cdf(k: Any) -> Any:
        rest = np.maximum(n - k, 0.5)
        return np.where(k >= n, 1.0, special.betainc(rest, k + 1.0, 1.0 - inner))

    k = _least_count(special.bdtrik(u, n, inner), u, cdf)
    return np.minimum(np.where(p <= 0.0, 0.0, np.where(p >= 1.0, n, k)), n)


def _binomial_log(x: FloatArray, a: Arguments) -> FloatArray:
    n, p = a["total_count"], a["probs"]
    ways = -special.betaln(1.0 + n - x, 1.0 + x) - special.log1p(n)
    density = ways + special.xlogy(x, p) + special.xlog1py(n - x, -p)
    return supported(_whole(x) & (x <= n), density)


def _geometric_quantile(u: FloatArray, a: Arguments) -> FloatArray:
    p = a["probs"]
    guess = special.log1p(-u) / special.log1p(-p) - 1.0
    k = _least_count(guess, u, lambda k: -special.expm1((k + 1.0) * special.log1p(-p)))
    return np.where(np.asarray(p) >= 1.0, 0.0, k)


def _negative_binomial_quantile(u: FloatArray, a: Arguments) -> FloatArray:
    n, failure = a["total_count"], 1.0 - a["probs"]
    guess = special.nbdtrik(u, n, failure)
    return _least_count(guess, u, lambda k: special.betainc(n, k + 1.0, failure))


def _negative_binomial_log(x: FloatArray, a: Arguments) -> FloatArray:
    n, p = a["total_count"], a["probs"]
    ways = special.gammaln(n + x) - special.gammaln(1.0 + x) - special.gammaln(n)
    return supported(_whole(x), ways + special.xlog1py(n, -p) + special.xlogy(x, p))


def _poisson_quantile(u: FloatArray, a: Arguments) -> FloatArray:
    rate = a["rate"]
    return _least_count(special.pdtrik(u, rate), u, lambda k: special.pdtr(k, rate))


DISCRETE: dict[str, Law] = {
    # The largest u is 1 - 2**-53, and u n then rounds to below n for every n.
    "DiscreteUniform": Law(
        _discrete_uniform_quantile,
        _discrete_uniform_log,
        lambda a: Support(0.0, (a["n"] - 1.0) / a["n"], 1.0 / a["n"]),
    ),
    "Categorical": Law(_categorical_quantile, _categorical_log, _categorical_support),
    "Bernoulli": Law(
        lambda u, a: (u > 1.0 - a["probs"]).astype(np.float64), _bernoulli_log, _bernoulli_support
    ),
    "Binomial": Law(
        _binomial_quantile, _binomial_log, lambda a: Support(0.0, float(a["total_count"]), 1.0)
    ),
    "Geometric": Law(
        _geometric_quantile,
        lambda x, a: supported(_whole(x), special.xlog1py(x, -a["probs"]) + log(a["probs"])),
        _counts,
    ),
    "NegativeBinomial": Law(_negative_binomial_quantile, _negative_binomial_log, _counts),
    "Poisson": Law(
        _poisson_quantile,
        lambda x, a: supported(
            _whole(x), special.xlogy(x, a["rate"]) - a["rate"] - special.gammaln(x + 1.0)
        ),
        _counts,
    ),
}
