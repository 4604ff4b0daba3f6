"""Laws of continuous variables, under the names and arguments of pyro.

Each entry is the textbook formula, written so that the far tails keep their digits: 1 - u is
exact for the grid that the uniforms lie on, so upper tails are computed from it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from robustclevr.scm.elementary import FloatArray, exp, log, power, tan
from robustclevr.scm.laws import Arguments, Law, Support, supported
from robustclevr.scm.vonmises import VON_MISES

_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_INF = math.inf


def _standardized(x: FloatArray, a: Arguments) -> Any:
    return (x - a["loc"]) / a["scale"]


def _normal_log(z: Any) -> FloatArray:
    density = np.asarray(z * z)  # and on in place: fresh memory costs more than the arithmetic
    density *= -0.5
    density -= _LOG_SQRT_2PI
    return density


def _line(_: Arguments) -> Support:
    return Support(-_INF, _INF)


def _half_line(_: Arguments) -> Support:
    return Support(0.0, _INF)


def _unit(_: Arguments) -> Support:
    return Support(0.0, 1.0)


def _interval(a: Arguments) -> Support:
    return Support(a["low"], a["high"])


def _cotangent_tail(u: FloatArray) -> FloatArray:
    # tan(pi (u - 1/2)) loses its digits near u = 1, 1 / tan(pi (1 - u)) does not.
    return np.where(u < 0.5, -1.0 / tan(np.pi * u), 1.0 / tan(np.pi * (1.0 - u)))


def _laplace_quantile(u: FloatArray, a: Arguments) -> FloatArray:
    magnitude = -log(2.0 * np.minimum(u, 1.0 - u))
    return np.asarray(a["loc"] + a["scale"] * np.where(u < 0.5, -magnitude, magnitude))


def _student_log(x: FloatArray, a: Arguments) -> FloatArray:
    df, z = a["df"], _standardized(x, a)
    norm = special.betaln(0.5 * df, 0.5) + 0.5 * log(df) + log(a["scale"])
    return np.asarray(-0.5 * (df + 1.0) * special.log1p(z * z / df) - norm)


def _beta_log(x: FloatArray, a: Arguments) -> FloatArray:
    p, q = a["concentration1"], a["concentration0"]
    density = special.xlogy(p - 1.0, x) + special.xlog1py(q - 1.0, -x) - special.betaln(p, q)
    return supported((x >= 0.0) & (x <= 1.0), density)


def _gamma_log(x: FloatArray, shape: Any, rate: Any) -> FloatArray:
    density = shape * log(rate) + special.xlogy(shape - 1.0, x) - rate * x - special.gammaln(shape)
    return supported(x >= 0.0, density)


def _fisher_log(x: FloatArray, a: Arguments) -> FloatArray:
    p, q = 0.5 * a["df1"], 0.5 * a["df2"]
    ratio = p / q
    tail = special.xlogy(p - 1.0, x) - (p + q) * special.log1p(ratio * x)
    return supported(x >= 0.0, p * log(ratio) + tail - special.betaln(p, q))


def _inverse_gamma_log(x: FloatArray, a: Arguments) -> FloatArray:
    shape, rate = a["concentration"], a["rate"]
    density = shape * log(rate) - (shape + 1.0) * log(x) - rate / x - special.gammaln(shape)
    return supported(x > 0.0, density)


def _log_normal_log(x: FloatArray, a: Arguments) -> FloatArray:
    log_x = log(x)
    z = (log_x - a["loc"]) / a["scale"]
    return supported(x > 0.0, _normal_log(z) - log(a["scale"]) - log_x)


def _weibull_log(x: FloatArray, a: Arguments) -> FloatArray:
    shape, z = a["concentration"], x / a["scale"]
    density = log(shape / a["scale"]) + special.xlogy(shape - 1.0, z) - power(z, shape)
    return supported(x >= 0.0, density)


def _pareto_log(x: FloatArray, a: Arguments) -> FloatArray:
    alpha, scale = a["alpha"], a["scale"]
    return supported(x >= scale, log(alpha) + alpha * log(scale) - (alpha + 1.0) * log(x))


def _kumaraswamy_log(x: FloatArray, a: Arguments) -> FloatArray:
    p, q = a["concentration1"], a["concentration0"]
    density = log(p * q) + special.xlogy(p - 1.0, x) + special.xlog1py(q - 1.0, -power(x, p))
    return supported((x >= 0.0) & (x <= 1.0), density)


def _kumaraswamy_quantile(u: FloatArray, a: Arguments) -> FloatArray:
    inner = -special.expm1(special.log1p(-u) / a["concentration0"])
    return exp(log(inner) / a["concentration1"])


def _gumbel_log(x: FloatArray, a: Arguments) -> FloatArray:
    z = _standardized(x, a)
    return np.asarray(-(z + exp(-z)) - log(a["scale"]))


def _logistic_log(x: FloatArray, a: Arguments) -> FloatArray:
    z = np.abs(_standardized(x, a))
    return np.asarray(-z - 2.0 * special.log1p(exp(-z)) - log(a["scale"]))


def _delta_quantile(u: FloatArray, a: Arguments) -> FloatArray:
    return np.asarray(a["v"] + 0.0 * u)


CONTINUOUS: dict[str, Law] = {
    "Normal": Law(
        lambda u, a: a["loc"] + a["scale"] * special.ndtri(u),
        lambda x, a: _normal_log(_standardized(x, a)) - log(a["scale"]),
        _line,
    ),
    "HalfNormal": Law(
        lambda u, a: -a["scale"] * special.ndtri(0.5 * (1.0 - u)),
        lambda x, a: supported(
            x >= 0.0, _normal_log(x / a["scale"]) + (math.log(2.0) - log(a["scale"]))
        ),
        _half_line,
    ),
    "LogNormal": Law(
        lambda u, a: exp(a["loc"] + a["scale"] * special.ndtri(u)), _log_normal_log, _half_line
    ),
    "Uniform": Law(
        lambda u, a: a["low"] + (a["high"] - a["low"]) * u,
        lambda x, a: supported((x >= a["low"]) & (x <= a["high"]), -log(a["high"] - a["low"])),
        _interval,
    ),
    "Beta": Law(
        lambda u, a: special.betaincinv(a["concentration1"], a["concentration0"], u),
        _beta_log,
        _unit,
    ),
    "Kumaraswamy": Law(_kumaraswamy_quantile, _kumaraswamy_log, _unit),
    "Gamma": Law(
        lambda u, a: special.gammaincinv(a["concentration"], u) / a["rate"],
        lambda x, a: _gamma_log(x, a["concentration"], a["rate"]),
        _half_line,
    ),
    "InverseGamma": Law(
        lambda u, a: a["rate"] / special.gammainccinv(a["concentration"], u),
        _inverse_gamma_log,
        _half_line,
    ),
    "Chi2": Law(
        lambda u, a: 2.0 * special.gammaincinv(0.5 * a["df"], u),
        lambda x, a: _gamma_log(x, 0.5 * a["df"], 0.5),
        _half_line,
    ),
    "FisherSnedecor": Law(
        lambda u, a: special.fdtri(a["df1"], a["df2"], u), _fisher_log, _half_line
    ),
    "Exponential": Law(
        lambda u, a: -special.log1p(-u) / a["rate"],
        lambda x, a: supported(x >= 0.0, log(a["rate"]) - a["rate"] * x),
        _half_line,
    ),
    "Laplace": Law(
        _laplace_quantile,
        lambda x, a: -log(2.0 * a["scale"]) - np.abs(_standardized(x, a)),
        _line,
    ),
    "Cauchy": Law(
        lambda u, a: a["loc"] + a["scale"] * _cotangent_tail(u),
        lambda x, a: -log(np.pi * a["scale"]) - special.log1p(np.square(_standardized(x, a))),
        _line,
    ),
    "HalfCauchy": Law(
        lambda u, a: a["scale"] / tan(0.5 * np.pi * (1.0 - u)),
        lambda x, a: supported(
            x >= 0.0,
            -log(0.5 * np.pi * a["scale"]) - special.log1p(np.square(x / a["scale"])),
        ),
        _half_line,
    ),
    "StudentT": Law(
        lambda u, a: a["loc"] + a["scale"] * special.stdtrit(a["df"], u), _student_log, _line
    ),
    "Logistic": Law(lambda u, a: a["loc"] + a["scale"] * special.logit(u), _logistic_log, _line),
    "Gumbel": Law(lambda u, a: a["loc"] - a["scale"] * log(-log(u)), _gumbel_log, _line),
    "VonMises": VON_MISES,
    "Weibull": Law(
        lambda u, a: a["scale"] * power(-special.log1p(-u), 1.0 / a["concentration"]),
        _weibull_log,
        _half_line,
    ),
    "Pareto": Law(
        lambda u, a: a["scale"] * exp(-special.log1p(-u) / a["alpha"]),
        _pareto_log,
        lambda a: Support(a["scale"], _INF),
    ),
    "Delta": Law(
        _delta_quantile,
        lambda x, a: supported(x == a["v"], 0.0),
        lambda a: Support(a["v"], a["v"]),
    ),
}
