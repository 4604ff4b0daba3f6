"""How steeply a value answers to the one noise it reads: log |d value / d noise|.

A parameter that is an invertible function of one noise has a density of its own,
log p(parameter) = log p(noise) - log |d parameter / d noise|. The rules here follow that slope
through a formula, one operation at a time, while everything else in the formula is held. An
operation without a rule, or two operands that both read noise, end it; so does a number that is
no slope, such as that of 0 * h, in the rows where it occurs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from robustclevr.scm.distributions import SMOOTH, support
from robustclevr.scm.elementary import FloatArray, exp, log
from robustclevr.scm.operations import Column, number, select
from robustclevr.spec.model import Distribution

Rows = NDArray[np.bool_] | None
"""Which rows a branch is taken in; None for all of them."""

Real = float | FloatArray
"""One number for all rows, or a column of shape (n,)."""

Ends = Callable[[], tuple[Any, Any]]
"""The values at the two ends of the noise's support, all else held; computed where needed."""


@dataclass(frozen=True)
class Slope:
    """The answer of a value to the noise that it reads.

    Attributes
    ----------
    rows : ndarray of bool, shape (n,), or None
        Where the value reads a noise.
    log : float or ndarray of float64, shape (n,)
        log |d value / d noise| in these rows; 0 for a discrete noise, whose mass has no slope.
        Not finite where the value is no invertible function of the noise.
    smooth : float or ndarray of float64, shape (n,)
        1 where the noise is continuous, 0 where it is discrete.
    ends : callable
        See :data:`Ends`. In between, the value rises or falls without a turn.
    """

    rows: Rows
    log: Real
    smooth: Real
    ends: Ends


def slope_of_noise(distribution: Distribution, rows: Rows) -> Slope:
    """Return the slope of a noise itself."""

    def ends() -> tuple[Any, Any]:
        hull = support(distribution)
        return np.float64(hull.low), np.float64(hull.high)

    return Slope(rows, 0.0, 1.0 if distribution.name in SMOOTH else 0.0, ends)


def follow(
    slope: Slope,
    place: int,
    operands: Sequence[Column],
    operation: str,
    compute: Callable[..., Any],
) -> Slope | None:
    """Return the slope of an operation's result, or None if no rule says it is invertible.

    Parameters
    ----------
    slope : Slope
        Of the one operand that reads noise.
    place : int
        Which operand that is.
    operands : sequence of columns
        All operands.
    operation : str
        Operator or function.
    compute : callable
        What the operation does to columns.
    """

    def ends() -> tuple[Any, Any]:
        low, high = slope.ends()
        pole = operation == "**" or (operation == "/" and place == 1)
        if pole and not np.all(_one_sided(low, high)):
            return np.float64(-np.inf), np.float64(np.inf)
        before, after = operands[:place], operands[place + 1 :]
        return compute(*before, low, *after), compute(*before, high, *after)

    if operation in _RIGID:
        return replace(slope, ends=ends)
    if operation not in _RULES:
        return None
    step = _RULES[operation](place, [_real(x) for x in operands], slope.ends)
    return with_step(slope, step, ends)


def with_step(slope: Slope, step: Real, ends: Ends) -> Slope:
    """Return the slope behind one more invertible operation, of slope exp(``step``)."""
    return Slope(slope.rows, slope.log + slope.smooth * step, slope.smooth, ends)


def either(holds: NDArray[np.bool_], then: Slope | None, otherwise: Slope | None) -> Slope | None:
    """Return the slope of a choice between two values, each read only where it is chosen."""
    if then is None or otherwise is None:
        return then or otherwise
    one, other = then, otherwise

    def ends() -> tuple[Any, Any]:
        low, high = (_chosen(holds, *pair) for pair in zip(one.ends(), other.ends(), strict=True))
        return low, high

    rows = None if one.rows is None or other.rows is None else one.rows | other.rows
    smooth = _chosen(holds, one.smooth, other.smooth)
    return Slope(rows, _chosen(holds, one.log, other.log), smooth, ends)


def _chosen(holds: NDArray[np.bool_], one: Any, other: Any) -> Any:
    if np.ndim(one) == np.ndim(other) == 0 and one == other:
        return one
    return select(holds, number(one), number(other))


def _real(column: Column) -> Real:
    return number(column) if column.ndim else float(column)


def _one_sided(low: Any, high: Any) -> Any:
    return ((low >= 0.0) & (high >= 0.0)) | ((low <= 0.0) & (high <= 0.0))


def _log_size(x: Real) -> Real:
    """Return log |x|; constants of formulas come again and again."""
    return _log_of_number(abs(x)) if isinstance(x, float) else log(np.abs(x))


@lru_cache(maxsize=1024)
def _log_of_number(x: float) -> float:
    with np.errstate(all="ignore"):
        return float(log(x))


def _times(place: int, operands: Sequence[Real], _ends: Ends) -> Real:
    return _log_size(operands[1 - place])


def _divide(place: int, operands: Sequence[Real], _ends: Ends) -> Real:
    if place == 0:
        return -_log_size(operands[1])
    return _log_size(operands[0]) - 2.0 * _log_size(operands[1])


def _power(place: int, operands: Sequence[Real], ends: Ends) -> Real:
    base, exponent = operands
    if place == 1:
        log_base = log(base)
        return exponent * log_base + log(np.abs(log_base))
    # Only a whole power that is even turns, and only at 0.
    rises = (np.mod(exponent, 2.0) == 1.0) | _one_sided(*ends())
    return np.where(rises, _log_size(exponent) + (exponent - 1.0) * _log_size(base), np.nan)


def _absolute(_place: int, _operands: Sequence[Real], ends: Ends) -> Real:
    return np.where(_one_sided(*ends()), 0.0, np.nan)


def _tanh(_place: int, operands: Sequence[Real], _ends: Ends) -> Real:
    x = np.abs(operands[0])
    return np.asarray(2.0 * (math.log(2.0) - x - special.log1p(exp(-2.0 * x))))


def _sigmoid(_place: int, operands: Sequence[Real], _ends: Ends) -> Real:
    x = np.abs(operands[0])
    return np.asarray(-x - 2.0 * special.log1p(exp(-x)))


_Rule = Callable[[int, Sequence[Real], Ends], Real]

_RIGID = frozenset({"+", "-", "neg", "pos"})
"""Operations that shift and mirror."""

_RULES: Mapping[str, _Rule] = {
    "*": _times,
    "/": _divide,
    "**": _power,
    "abs": _absolute,
    "exp": lambda _place, operands, _ends: operands[0],
    "log": lambda _place, operands, _ends: -_log_size(operands[0]),
    "sqrt": lambda _place, operands, _ends: math.log(0.5) - 0.5 * _log_size(operands[0]),
    "tanh": _tanh,
    "sigmoid": _sigmoid,
}
"""log |d result / d operand| of every other invertible operation, by the operand's place."""
