"""Rules for intervals: one for each operator and function of the formulas.

Each takes regions without a list of values and returns an interval that holds every finite
result. A rule may be wider than need be; it may never be narrower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from robustclevr.scm import elementary
from robustclevr.scm.distributions import LAWS
from robustclevr.scm.operations import FUNCTIONS
from robustclevr.scm.regions import LINE, Region, may_be_false, may_be_true, outward, truths

Rule = Callable[..., Region]


def _times(x: float, y: float) -> float:
    return 0.0 if x == 0.0 or y == 0.0 else x * y  # 0 times a bound at infinity is 0


def _add(x: Region, y: Region) -> Region:
    return Region(x.low + y.low, x.high + y.high)


def _negate(x: Region) -> Region:
    return Region(-x.high, -x.low)


def _multiply(x: Region, y: Region) -> Region:
    corners = [_times(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
    return Region(min(corners), max(corners))


def _divide(x: Region, y: Region) -> Region:
    if y.low < 0.0 < y.high or (y.low == 0.0 == y.high):
        return LINE
    # The divisor is never 0 in a draw, so a bound at 0 is one that is never reached.
    least = math.inf if y.low == 0.0 else 1.0 / y.low
    most = -math.inf if y.high == 0.0 else 1.0 / y.high
    inverse = Region(min(least, most), max(least, most))
    product = _multiply(x, inverse)
    return outward(product.low, product.high)  # a / b is rounded once, a * (1 / b) twice


def _remainder(x: Region, y: Region) -> Region:
    if x.low >= 0.0 and x.high < y.low:
        return x
    return Region(min(y.low, 0.0), max(y.high, 0.0))


def _power(x: Region, y: Region) -> Region:
    whole = y.low == y.high and float(y.low).is_integer()
    if x.low < 0.0 and not whole:
        return LINE  # negative bases take whole exponents only, of either sign
    if x.low < 0.0 and y.low < 0.0:
        return LINE
    corners = [_corner(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
    if x.low < 0.0 <= x.high:
        corners.append(0.0)
    never_negative = x.low >= 0.0 or y.low % 2.0 == 0.0
    return _inside(outward(min(corners), max(corners)), 0.0 if never_negative else -math.inf)


def _inside(x: Region, low: float, high: float = math.inf) -> Region:
    return Region(max(x.low, low), min(x.high, high))


def _corner(base: float, exponent: float) -> float:
    with np.errstate(all="ignore"):  # 0 ** -1 is the infinite bound that is meant
        return float(elementary.power(base, exponent))


def _absolute(x: Region) -> Region:
    if x.low <= 0.0 <= x.high:
        return Region(0.0, max(-x.low, x.high))
    return Region(min(abs(x.low), abs(x.high)), max(abs(x.low), abs(x.high)))


def _rising(
    name: str, least: float = -math.inf, low: float = -math.inf, high: float = math.inf
) -> Rule:
    """Return the rule of a function that never falls.

    It is defined from ``least`` on and gives values in [``low``, ``high``].
    """
    function = FUNCTIONS[name]

    def rule(x: Region) -> Region:
        with np.errstate(all="ignore"):  # log(0) is the infinite bound that is meant
            start, end = (float(function(np.asarray(max(b, least)))) for b in (x.low, x.high))
        if name in ("floor", "round"):
            return Region(start, end)
        return _inside(outward(start, end), low, high)

    return rule


def _least(*regions: Region) -> Region:
    return Region(min(r.low for r in regions), min(r.high for r in regions))


def _greatest(*regions: Region) -> Region:
    return Region(max(r.low for r in regions), max(r.high for r in regions))


def _clip(x: Region, low: Region, high: Region) -> Region:
    return _least(_greatest(x, low), high)


def _below(x: Region, y: Region) -> Region:
    return truths(may_be_true=x.low < y.high, may_be_false=x.high >= y.low)


def _at_most(x: Region, y: Region) -> Region:
    return truths(may_be_true=x.low <= y.high, may_be_false=x.high > y.low)


def _equal(x: Region, y: Region) -> Region:
    single = x.low == x.high == y.low == y.high
    return truths(may_be_true=x.meets(y.low, y.high), may_be_false=not single)


def _unequal(x: Region, y: Region) -> Region:
    single = x.low == x.high == y.low == y.high
    return truths(may_be_true=not single, may_be_false=x.meets(y.low, y.high))


def _wave(_: Region) -> Region:
    return Region(-1.0, 1.0)


OPERATOR_RULES: Mapping[str, Rule] = {
    "+": _add,
    "-": lambda x, y: _add(x, _negate(y)),
    "*": _multiply,
    "/": _divide,
    "%": _remainder,
    "**": _power,
    "neg": _negate,
    "pos": lambda x: x,
    "<": _below,
    "<=": _at_most,
    ">": lambda x, y: _below(y, x),
    ">=": lambda x, y: _at_most(y, x),
    "==": _equal,
    "!=": _unequal,
    "not": lambda x: truths(may_be_true=may_be_false(x), may_be_false=may_be_true(x)),
}

FUNCTION_RULES: Mapping[str, Rule] = {
    "clip": _clip,
    "min": _least,
    "max": _greatest,
    "abs": _absolute,
    "exp": _rising("exp", low=0.0),
    "log": _rising("log", least=0.0),
    "sqrt": _rising("sqrt", least=0.0, low=0.0),
    "sin": _wave,
    "cos": _wave,
    "tanh": _rising("tanh", low=-1.0, high=1.0),
    "sigmoid": _rising("sigmoid", low=0.0, high=1.0),
    "floor": _rising("floor"),
    "round": _rising("round"),
}


def quantile_rule(name: str, arguments: Mapping[str, Region]) -> Region:
    """Return the hull of a law's supports over all its arguments.

    The ends of every law's support rise with each of its arguments, so two corners suffice.
    """
    support = LAWS[name].support
    least = support({argument: region.low for argument, region in arguments.items()})
    most = support({argument: region.high for argument, region in arguments.items()})
    return outward(min(least.low, most.low), max(least.high, most.high))
