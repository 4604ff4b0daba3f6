"""Distribution functions by scipy, independent of the quantile functions that draws come from.

A distribution of a DAG enters, by pyro's name and arguments; its distribution function leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from robustclevr.spec import Distribution

FloatArray = NDArray[np.float64]
Arguments = Mapping[str, Any]

_CONTINUOUS: Mapping[str, Callable[[Arguments], Any]] = {
    "Beta": lambda a: stats.beta(a["concentration1"], a["concentration0"]),
    "Cauchy": lambda a: stats.cauchy(a["loc"], a["scale"]),
    "Chi2": lambda a: stats.chi2(a["df"]),
    "Exponential": lambda a: stats.expon(scale=1 / a["rate"]),
    "FisherSnedecor": lambda a: stats.f(a["df1"], a["df2"]),
    "Gamma": lambda a: stats.gamma(a["concentration"], scale=1 / a["rate"]),
    "Gumbel": lambda a: stats.gumbel_r(a["loc"], a["scale"]),
    "HalfCauchy": lambda a: stats.halfcauchy(scale=a["scale"]),
    "HalfNormal": lambda a: stats.halfnorm(scale=a["scale"]),
    "InverseGamma": lambda a: stats.invgamma(a["concentration"], scale=a["rate"]),
    "Kumaraswamy": lambda a: _Kumaraswamy(a["concentration1"], a["concentration0"]),
    "Laplace": lambda a: stats.laplace(a["loc"], a["scale"]),
    "LogNormal": lambda a: stats.lognorm(a["scale"], scale=np.exp(a["loc"])),
    "Logistic": lambda a: stats.logistic(a["loc"], a["scale"]),
    "Normal": lambda a: stats.norm(a["loc"], a["scale"]),
    "Pareto": lambda a: stats.pareto(a["alpha"], scale=a["scale"]),
    "StudentT": lambda a: stats.t(a["df"], a["loc"], a["scale"]),
    "Uniform": lambda a: stats.uniform(a["low"], a["high"] - a["low"]),
    "VonMises": lambda a: stats.vonmises(a["concentration"], loc=a["loc"]),
    "Weibull": lambda a: stats.weibull_min(a["concentration"], scale=a["scale"]),
}
_WHOLE: Mapping[str, Callable[[Arguments], Any]] = {
    "Bernoulli": lambda a: stats.bernoulli(a["probs"]),
    "Binomial": lambda a: stats.binom(a["total_count"], a["probs"]),
    "Categorical": lambda a: _Categorical(np.cumsum(a["probs"])),
    # pyro counts the failures before the first success, scipy all trials.
    "Geometric": lambda a: stats.geom(a["probs"], loc=-1),
    "NegativeBinomial": lambda a: stats.nbinom(a["total_count"], 1 - a["probs"]),
    "Poisson": lambda a: stats.poisson(a["rate"]),
}
"""Laws of whole numbers, from 0."""


@dataclass(frozen=True)
class Law:
    """One law.

    Attributes
    ----------
    cdf : callable
        P(X <= x), array to array.
    below : callable
        P(X < x).
    """

    cdf: Callable[[FloatArray], FloatArray]
    below: Callable[[FloatArray], FloatArray]


def law_of(distribution: Distribution) -> Law:
    """Return the law of a distribution with constant arguments.

    Raises
    ------
    KeyError
        If there is no such distribution.
    """
    name, arguments = distribution.name, dict[str, Any](distribution.arguments)
    if name == "Delta":
        value = np.float64(arguments["v"])
        return Law(lambda x: (x >= value).astype(float), lambda x: (x > value).astype(float))
    if name == "DiscreteUniform":
        count = np.float64(arguments["n"])
        # Values are k / n; rounding to the nearest k undoes the division.
        return Law(
            lambda x: np.clip((np.rint(x * count) + 1) / count, 0, 1),
            lambda x: np.clip(np.rint(x * count) / count, 0, 1),
        )
    if name in _WHOLE:
        whole = _WHOLE[name](arguments)
        return Law(whole.cdf, lambda x: np.asarray(whole.cdf(x - 1)))
    smooth = _CONTINUOUS[name](arguments)
    return Law(smooth.cdf, smooth.cdf)


@dataclass(frozen=True)
class _Kumaraswamy:
    """scipy has none; F(x) = 1 - (1 - x**a)**b (Kumaraswamy 1980)."""

    a: float
    b: float

    def cdf(self, x: FloatArray) -> FloatArray:
        return np.asarray(-np.expm1(self.b * np.log1p(-(np.clip(x, 0, 1) ** self.a))))


@dataclass(frozen=True)
class _Categorical:
    cumulative: FloatArray

    def cdf(self, x: FloatArray) -> FloatArray:
        place = np.clip(np.floor(x), -1, len(self.cumulative) - 1).astype(int)
        return np.asarray(np.append(self.cumulative / self.cumulative[-1], 0.0)[place])
