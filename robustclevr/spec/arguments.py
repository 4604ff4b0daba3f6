"""A distribution as it was written, made canonical: with constants, or with formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from robustclevr.spec.distributions import (
    Argument,
    ArgumentError,
    Signature,
    canonical,
    check_domain,
)
from robustclevr.spec.expression import Call, Expression, Name, Number, ParentValue
from robustclevr.spec.model import Distribution
from robustclevr.spec.tokens import FormulaError
from robustclevr.spec.tree import constant_value, walk


@dataclass(frozen=True)
class ListArgument:
    """A list of formulas as an argument of a distribution."""

    items: tuple[Expression, ...]


ArgumentValue = Expression | ListArgument


@dataclass(frozen=True)
class DistributionCall:
    """A distribution with its arguments by name, as written at ``column``."""

    signature: Signature
    arguments: Mapping[str, ArgumentValue]
    column: int


def with_constants(call: DistributionCall) -> Distribution:
    """Return the distribution of a noise variable.

    Raises
    ------
    FormulaError
        If an argument is not a constant, or lies outside its domain.
    """
    bound = {name: _constant(call, name, value) for name, value in call.arguments.items()}
    try:
        return Distribution(call.signature.name, canonical(call.signature, bound))
    except ArgumentError as error:
        raise FormulaError(error.message, call.column, error.hint) from error


def with_formulas(call: DistributionCall) -> tuple[tuple[str, Expression], ...]:
    """Return all canonical arguments of the distribution inside ``quantile(…)``.

    Raises
    ------
    FormulaError
        If an argument is a list, or a constant outside its domain.
    """
    for name, value in call.arguments.items():
        if isinstance(value, ListArgument) or (name == "n" and call.signature.either):
            raise FormulaError(
                f"{call.signature.name} may not stand in quantile()",
                call.column,
                "for n equal weights write floor(n * q)",
            )
        constant = constant_value(value)
        if constant is not None:
            _check(call, name, constant)
    return tuple(_canonical_formulas(call))


def _canonical_formulas(call: DistributionCall) -> Iterator[tuple[str, Expression]]:
    for name in call.signature.canonical_names():
        given = call.arguments.get(name)
        default = call.signature.parameter(name).default
        logits = call.arguments.get("logits")
        if given is not None and not isinstance(given, ListArgument):
            yield name, given
        elif default is not None:
            yield name, Number(default)
        elif logits is not None and not isinstance(logits, ListArgument):
            yield name, Call("sigmoid", (logits,))


def _check(call: DistributionCall, name: str, value: Argument) -> None:
    try:
        check_domain(call.signature, name, value)
    except ArgumentError as error:
        raise FormulaError(error.message, call.column, error.hint) from error


def _constant(call: DistributionCall, name: str, value: ArgumentValue) -> Argument:
    items = value.items if isinstance(value, ListArgument) else (value,)
    constants = [constant_value(item) for item in items]
    numbers = tuple(number for number in constants if number is not None)
    if len(numbers) < len(items):
        what = f"{call.signature.name}: {name} must be a number, not a formula"
        names = [
            part for item in items for part in walk(item) if isinstance(part, Name | ParentValue)
        ]
        hint = (
            "a noise is independent of all else; a distribution that depends on something is "
            "written quantile(Distribution(…), u) under 'set'"
        )
        raise FormulaError(what, call.column, hint if names else "write the result")
    return numbers if isinstance(value, ListArgument) else numbers[0]
