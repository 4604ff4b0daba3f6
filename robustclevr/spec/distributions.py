"""The table of distributions: names, argument names, domains, canonical arguments.

Names and arguments are those of pyro; ``DiscreteUniform`` and ``Categorical(n)`` are ours. What
leaves :func:`canonical` is all that the numerics (``robustclevr.scm.distributions``) ever see:
every argument by name, defaults filled in, numbers as floats. Three rules make the spellings one:

* ``probs | logits`` always becomes ``probs``: Bernoulli, Binomial, Geometric, NegativeBinomial.
* ``Categorical(n)``, ``Categorical(probs=[…])`` and ``Categorical(logits=[…])`` all become
  ``{"probs": (p0, p1, …)}``, summing to one; its values are 0, 1, …
* ``DiscreteUniform(n)`` keeps ``{"n": n}``; its values are k / n for k = 0 … n - 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from robustclevr.errors import suggest

Argument = float | tuple[float, ...]
"""A constant argument: a number, or a list of numbers."""

_Value = TypeVar("_Value")
_SUM_TOLERANCE = 1e-6  # as torch.distributions.constraints.simplex
_MAX_CATEGORIES = 10_000  # chosen: a table of this length is still read into memory at once


@dataclass(frozen=True)
class Domain:
    """What one argument may be.

    Attributes
    ----------
    text : str
        In words, for messages: "must be {text}".
    low, high : float
        Bounds; excluded where ``open_low`` or ``open_high``.
    whole : bool
        Only whole numbers.
    listed : bool
        A list of numbers within the bounds in place of one number.
    """

    text: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    whole: bool = False
    listed: bool = False

    def holds(self, value: Argument) -> bool:
        """Return whether ``value`` may be passed."""
        if isinstance(value, tuple):
            return self.listed and bool(value) and all(self._inside(item) for item in value)
        return not self.listed and self._inside(value)

    def _inside(self, value: float) -> bool:
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return math.isfinite(value) and above and below and (not self.whole or value % 1 == 0)


@dataclass(frozen=True)
class Parameter:
    """One argument of a distribution; ``default`` None means that it must be given."""

    name: str
    domain: Domain
    default: float | None = None


@dataclass(frozen=True)
class Signature:
    """How a distribution is called.

    Attributes
    ----------
    name : str
    parameters : tuple of Parameter
        In the order of positional arguments, which is pyro's.
    either : tuple of str
        Exactly one of these is given.
    discrete : bool
        True for a mass function, False for a density.
    """

    name: str
    parameters: tuple[Parameter, ...]
    either: tuple[str, ...] = ()
    discrete: bool = False

    def parameter(self, name: str) -> Parameter:
        """Return the parameter called ``name``; KeyError if there is none."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(name)

    def canonical_names(self) -> tuple[str, ...]:
        """Return the names that :func:`canonical` returns, in order."""
        names = [p.name for p in self.parameters if p.name not in self.either]
        return (*names, "probs") if self.either else tuple(names)

    def __str__(self) -> str:
        others = [p for p in self.parameters if p.name not in self.either]
        parts = [p.name if p.default is None else f"{p.name}={p.default:g}" for p in others]
        parts += [" | ".join(self.either)] if self.either else []
        return f"{self.name}({', '.join(parts)})"


_REAL = Domain("a number")
_POSITIVE = Domain("a number above 0", low=0.0, open_low=True)
_UNIT = Domain("a number in [0, 1]", low=0.0, high=1.0)
_UNIT_FROM_0 = Domain("a number in [0, 1)", low=0.0, high=1.0, open_high=True)
_UNIT_TO_1 = Domain("a number in (0, 1]", low=0.0, high=1.0, open_low=True)
_COUNT = Domain("a whole number of at least 1", low=1.0, high=2.0**53, whole=True)
_CATEGORIES = Domain(
    f"a whole number from 1 to {_MAX_CATEGORIES}", low=1.0, high=_MAX_CATEGORIES, whole=True
)
_WEIGHTS = Domain("a list of numbers in [0, 1]", low=0.0, high=1.0, listed=True)
_REALS = Domain("a list of numbers", listed=True)

_LOC = Parameter("loc", _REAL)
_SCALE = Parameter("scale", _POSITIVE)
_RATE = Parameter("rate", _POSITIVE)
_CONCENTRATION = Parameter("concentration", _POSITIVE)
_TWO_SHAPES = (Parameter("concentration1", _POSITIVE), Parameter("concentration0", _POSITIVE))
_LOGITS = Parameter("logits", _REAL)
_PROBS_OR_LOGITS = ("probs", "logits")

_ALL = (
    Signature("Beta", _TWO_SHAPES),
    Signature("Cauchy", (_LOC, _SCALE)),
    Signature("Chi2", (Parameter("df", _POSITIVE),)),
    Signature("Exponential", (_RATE,)),
    Signature("FisherSnedecor", (Parameter("df1", _POSITIVE), Parameter("df2", _POSITIVE))),
    Signature("Gamma", (_CONCENTRATION, _RATE)),
    Signature("Gumbel", (_LOC, _SCALE)),
    Signature("HalfCauchy", (_SCALE,)),
    Signature("HalfNormal", (_SCALE,)),
    Signature("InverseGamma", (_CONCENTRATION, _RATE)),
    Signature("Kumaraswamy", _TWO_SHAPES),
    Signature("Laplace", (_LOC, _SCALE)),
    Signature("LogNormal", (_LOC, _SCALE)),
    Signature("Logistic", (_LOC, _SCALE)),
    Signature("Normal", (_LOC, _SCALE)),
    Signature("Pareto", (_SCALE, Parameter("alpha", _POSITIVE))),
    Signature(
        "StudentT",
        (
            Parameter("df", _POSITIVE),
            Parameter("loc", _REAL, 0.0),
            Parameter("scale", _POSITIVE, 1.0),
        ),
    ),
    Signature("Uniform", (Parameter("low", _REAL), Parameter("high", _REAL))),
    Signature("VonMises", (_LOC, _CONCENTRATION)),
    Signature("Weibull", (_SCALE, _CONCENTRATION)),
    Signature(
        "Bernoulli", (Parameter("probs", _UNIT), _LOGITS), either=_PROBS_OR_LOGITS, discrete=True
    ),
    Signature(
        "Binomial",
        (Parameter("total_count", _COUNT, 1.0), Parameter("probs", _UNIT), _LOGITS),
        either=_PROBS_OR_LOGITS,
        discrete=True,
    ),
    Signature(
        "Categorical",
        (Parameter("probs", _WEIGHTS), Parameter("logits", _REALS), Parameter("n", _CATEGORIES)),
        either=("n", "probs", "logits"),
        discrete=True,
    ),
    Signature("Delta", (Parameter("v", _REAL),), discrete=True),
    Signature("DiscreteUniform", (Parameter("n", _COUNT),), discrete=True),
    Signature(
        "Geometric",
        (Parameter("probs", _UNIT_TO_1), _LOGITS),
        either=_PROBS_OR_LOGITS,
        discrete=True,
    ),
    Signature(
        "NegativeBinomial",
        (Parameter("total_count", _POSITIVE), Parameter("probs", _UNIT_FROM_0), _LOGITS),
        either=_PROBS_OR_LOGITS,
        discrete=True,
    ),
    Signature("Poisson", (_RATE,), discrete=True),
)

DISTRIBUTIONS: Mapping[str, Signature] = {entry.name: entry for entry in _ALL}
"""Every distribution by name."""


class ArgumentError(ValueError):
    """Wrong arguments; carries the message and, where there is one, a hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message, self.hint = message, hint
        super().__init__(f"{message}; {hint}" if hint else message)


def bind(
    signature: Signature, positional: Sequence[_Value], named: Sequence[tuple[str, _Value]]
) -> dict[str, _Value]:
    """Give every argument its name; values may be numbers or formulas.

    Raises
    ------
    ArgumentError
        For too many, unknown, repeated or missing arguments; the message names the argument and
        the hint is the signature.
    """
    names = [parameter.name for parameter in signature.parameters]
    if len(positional) > len(names):
        raise ArgumentError(
            f"{signature.name} takes at most {len(names)} arguments, got {len(positional)}",
            str(signature),
        )
    bound = dict(zip(names, positional, strict=False))
    for name, value in named:
        if name not in names:
            raise ArgumentError(f"{signature.name} has no argument '{name}'", suggest(name, names))
        if name in bound:
            raise ArgumentError(f"{signature.name} is given '{name}' twice", str(signature))
        bound[name] = value
    _check_complete(signature, bound)
    return bound


def check_domain(signature: Signature, name: str, value: Argument) -> None:
    """Raise ArgumentError if ``value`` may not be argument ``name``."""
    domain = signature.parameter(name).domain
    if not domain.holds(value):
        raise ArgumentError(f"{signature.name}: {name} must be {domain.text}, got {_show(value)}")


def canonical(signature: Signature, bound: Mapping[str, Argument]) -> dict[str, Argument]:
    """Check constant arguments and return them in their one canonical form.

    Parameters
    ----------
    signature : Signature
    bound : mapping of str to float or tuple of float
        From :func:`bind`.

    Returns
    -------
    dict of str to float or tuple of float
        See the module's docstring.

    Raises
    ------
    ArgumentError
        If a value lies outside its domain.

    Examples
    --------
    >>> canonical(DISTRIBUTIONS["Categorical"], {"n": 4})
    {'probs': (0.25, 0.25, 0.25, 0.25)}
    >>> canonical(DISTRIBUTIONS["StudentT"], {"df": 3})
    {'df': 3.0, 'loc': 0.0, 'scale': 1.0}
    """
    for name, value in bound.items():
        check_domain(signature, name, value)
    if signature.name == "Uniform" and not bound["low"] < bound["high"]:  # type: ignore[operator]
        raise ArgumentError(
            f"Uniform: low must be below high, got {_show(bound['low'])} and {_show(bound['high'])}"
        )
    if signature.name == "Categorical":
        return {"probs": _category_probs(bound)}
    return {name: _filled(signature, name, bound) for name in signature.canonical_names()}


def sigmoid(logit: float) -> float:
    """Return 1 / (1 + exp(-logit)) without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    return math.exp(logit) / (1.0 + math.exp(logit))


def _filled(signature: Signature, name: str, bound: Mapping[str, Argument]) -> Argument:
    default = signature.parameter(name).default
    if name in bound:
        return _number(bound[name])
    if default is not None:
        return default
    probs = sigmoid(_number(bound["logits"]))
    check_domain(signature, name, probs)  # a huge logit rounds to a bound
    return probs


def _check_complete(signature: Signature, bound: Mapping[str, object]) -> None:
    chosen = [name for name in signature.either if name in bound]
    if signature.either and len(chosen) != 1:
        got = " and ".join(chosen) if chosen else "none"
        raise ArgumentError(
            f"{signature.name} needs exactly one of {', '.join(signature.either)}, got {got}",
            str(signature),
        )
    for parameter in signature.parameters:
        optional = parameter.default is not None or parameter.name in signature.either
        if not optional and parameter.name not in bound:
            raise ArgumentError(
                f"{signature.name} needs the argument '{parameter.name}'", str(signature)
            )


def _category_probs(bound: Mapping[str, Argument]) -> tuple[float, ...]:
    if "n" in bound:
        count = int(_number(bound["n"]))
        return (1.0 / count,) * count
    name = "probs" if "probs" in bound else "logits"
    values = bound[name]
    weights = values if isinstance(values, tuple) else (values,)
    if len(weights) > _MAX_CATEGORIES:
        raise ArgumentError(f"Categorical: {name} has more than {_MAX_CATEGORIES} entries")
    if name == "logits":
        weights = tuple(math.exp(logit - max(weights)) for logit in weights)
    elif abs(math.fsum(weights) - 1.0) > _SUM_TOLERANCE:
        raise ArgumentError(f"Categorical: probs must sum to 1, got {math.fsum(weights):g}")
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def _number(value: Argument) -> float:
    if isinstance(value, tuple):
        raise ArgumentError(f"must be a number, got {_show(value)}")
    return float(value)


def _show(value: Argument) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(f'{item:g}' for item in value)}]"
    return f"{value:g}"
