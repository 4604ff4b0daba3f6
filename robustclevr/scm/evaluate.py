"""Formulas to numbers, for many samples at once, with a record of which noises were read.

Enters: an expression tree and the columns of its names. Leaves: a column, how steeply it answers
to the noise it reads, and per noise the rows whose taken branch read it. ``where`` reads its
condition and the branch taken; ``and`` and ``or`` read their right side only where the left one
does not decide. Both branches are computed for all rows, because that is fast and the same bit
for bit whatever the number of rows; what the branch not taken gave is neither kept nor complained
about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustclevr.scm.distributions import LAWS, SMOOTH, valid_arguments
from robustclevr.scm.operations import FUNCTIONS, OPERATORS, number, select, truth
from robustclevr.scm.slopes import Rows, Slope, either, follow, slope_of_noise, with_step
from robustclevr.spec.expression import (
    Call,
    Expression,
    Name,
    Number,
    Operation,
    ParentValue,
    Quantile,
)
from robustclevr.spec.model import Distribution

Column = NDArray[Any]
"""float64 or bool, shape (n,), or () for the same value in every row."""


class NotFiniteError(ArithmeticError):
    """An operation in the taken branch gave NaN or infinity.

    Attributes
    ----------
    row : int
        First such row.
    operation : str
        What was computed there, with its operands.
    """

    def __init__(self, row: int, operation: str) -> None:
        self.row, self.operation = row, operation
        super().__init__(f"{operation} in row {row}")


class Traced(NamedTuple):
    """A value, and how it answers to the noise it reads.

    Attributes
    ----------
    value : Column
    slope : Slope or None
        None if no noise is read, or if the answer is not followed any further.
    """

    value: Column
    slope: Slope | None


@dataclass
class Scope:
    """What the names in the formulas of one node stand for.

    Attributes
    ----------
    own : dict of str to Column
        Noises of the node, and its parameters set so far.
    noises : frozenset of str
        Which names of ``own`` are noises.
    parents : mapping of (node, field) to Column
    laws : mapping of str to Distribution
        Of the noises whose slopes are followed; none by default.
    reads : dict of str to Rows
        Filled by :func:`evaluate`: noises read, and in which rows. A noise that no row can read
        is missing.
    lost : list of Rows
        Filled as well: rows in which a noise was read by what is no invertible function of it, or
        twice.
    """

    own: dict[str, Column]
    noises: frozenset[str]
    parents: Mapping[tuple[str, str], Column]
    laws: Mapping[str, Distribution] = field(default_factory=dict)
    reads: dict[str, Rows] = field(default_factory=dict)
    lost: list[Rows] = field(default_factory=list)

    def read(self, name: str, rows: Rows) -> Traced:
        """Return a column of the node itself and note that it was read."""
        if name not in self.noises:
            return Traced(self.own[name], None)
        again = name in self.reads
        before = self.reads.get(name, rows)
        self.reads[name] = None if before is None or rows is None else before | rows
        if name not in self.laws:
            return Traced(self.own[name], None)
        if again:
            self.lost.append(rows if before is None else _and(rows, before))
        return Traced(self.own[name], slope_of_noise(self.laws[name], rows))

    def lose(self, *slopes: Slope | None) -> None:
        """Note that values are used for what does not tell their noise any more."""
        self.lost.extend(slope.rows for slope in slopes if slope is not None)


def evaluate(expression: Expression, scope: Scope, rows: Rows = None) -> Column:
    """Compute one formula; numpy's own warnings are for the caller to silence.

    Parameters
    ----------
    expression : Expression
    scope : Scope
        Its ``reads`` are extended.
    rows : ndarray of bool, shape (n,), optional
        Rows in which the formula counts; None for all.

    Returns
    -------
    ndarray of float64 or bool, shape (n,) or ()
        Bool where the outermost operation is a comparison or logical. Rows outside ``rows`` hold
        anything.

    Raises
    ------
    NotFiniteError
        If an operation gives NaN or infinity in a row in which its branch is taken.
    """
    return trace(expression, scope, rows).value


def trace(expression: Expression, scope: Scope, rows: Rows = None) -> Traced:
    """Compute one formula as :func:`evaluate` does, and its slope with it."""
    return _KINDS[type(expression)](expression, scope, rows)


def _operation(expression: Operation, scope: Scope, rows: Rows) -> Traced:
    operator = expression.operator
    if operator in ("and", "or"):
        left, right = expression.operands
        return Traced(_connective(operator, left, right, scope, rows), None)
    return _apply(operator, OPERATORS[operator], expression.operands, scope, rows)


def _call(expression: Call, scope: Scope, rows: Rows) -> Traced:
    function = expression.function
    if function == "where":
        condition, then, otherwise = expression.arguments
        return _where(condition, then, otherwise, scope, rows)
    return _apply(function, FUNCTIONS[function], expression.arguments, scope, rows)


def _apply(
    operation: str,
    compute: Callable[..., Column],
    operands: Sequence[Expression],
    scope: Scope,
    rows: Rows,
) -> Traced:
    values: list[Column] = []
    reading: list[tuple[int, Slope]] = []
    for place, operand in enumerate(operands):
        value, slope = trace(operand, scope, rows)
        values.append(value)
        if slope is not None:
            reading.append((place, slope))
    result = _finite(compute(*values), rows, operation, values)
    if not reading:
        return Traced(result, None)
    place, one = reading[0]
    followed = follow(one, place, values, operation, compute) if len(reading) == 1 else None
    if followed is None:
        scope.lose(*(slope for _, slope in reading))
    return Traced(result, followed)


def _known(expression: Expression, scope: Scope, rows: Rows) -> Column:
    """Return a value whose slope is not followed."""
    traced = trace(expression, scope, rows)
    scope.lose(traced.slope)
    return traced.value


def _truth(expression: Expression, scope: Scope, rows: Rows) -> NDArray[np.bool_]:
    return truth(_known(expression, scope, rows))


def _where(
    condition: Expression, then: Expression, otherwise: Expression, scope: Scope, rows: Rows
) -> Traced:
    holds = _truth(condition, scope, rows)
    if holds.ndim == 0:
        return trace(then if holds else otherwise, scope, rows)
    one = trace(then, scope, _and(rows, holds))
    other = trace(otherwise, scope, _and(rows, ~holds))
    slope = either(holds, one.slope, other.slope)
    return Traced(select(holds, one.value, other.value), slope)


def _connective(
    operator: str, left: Expression, right: Expression, scope: Scope, rows: Rows
) -> Column:
    first = _truth(left, scope, rows)
    undecided = first if operator == "and" else ~first
    if undecided.ndim == 0:
        return _truth(right, scope, rows) if undecided else first
    second = _truth(right, scope, _and(rows, undecided))
    return first & second if operator == "and" else first | second


def _quantile(expression: Quantile, scope: Scope, rows: Rows) -> Traced:
    law = expression.distribution
    names = [name for name, _ in expression.arguments]
    values = [_known(argument, scope, rows) for _, argument in expression.arguments]
    level = trace(expression.level, scope, rows)
    u = number(level.value)
    arguments = {name: number(value) for name, value in zip(names, values, strict=True)}
    valid = valid_arguments(law, arguments) & (u >= 0.0) & (u <= 1.0)
    inside = LAWS[law].quantile(u, arguments)
    labels = [f"{law}.{name}" for name in names]
    result = np.where(valid, inside, np.nan)
    result = _finite(result, rows, "quantile", [*values, u], [*labels, "level"])
    if level.slope is None or law not in SMOOTH:
        scope.lose(level.slope)
        return Traced(result, None)
    ends = level.slope.ends

    def values_at_ends() -> tuple[Column, Column]:
        low, high = (LAWS[law].quantile(end, arguments) for end in ends())
        return low, high

    step = -LAWS[law].log_density(result, arguments)
    return Traced(result, with_step(level.slope, step, values_at_ends))


def _and(rows: Rows, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return holds if rows is None else rows & holds


def _finite(
    result: Column,
    rows: Rows,
    operation: str,
    operands: list[Column],
    labels: list[str] | None = None,
) -> Column:
    if result.dtype == np.bool_:
        return result
    finite = np.isfinite(result)
    if finite.all():
        return result
    bad = ~finite if rows is None else rows & ~finite
    if bad.any():
        row = int(np.argmax(bad))
        values = [f"{_at(operand, row):.17g}" for operand in operands]
        shown = [f"{a}={b}" for a, b in zip(labels, values, strict=True)] if labels else values
        raise NotFiniteError(row, f"{operation}({', '.join(shown)}) = {_at(result, row)}")
    return result


def _at(column: Column, row: int) -> float:
    return float(column if column.ndim == 0 else column[row])


_KINDS: Mapping[type, Callable[[Any, Scope, Rows], Traced]] = {
    Number: lambda number, _scope, _rows: Traced(np.asarray(number.value, np.float64), None),
    Name: lambda name, scope, rows: scope.read(name.name, rows),
    ParentValue: lambda value, scope, _: Traced(scope.parents[value.node, value.field], None),
    Operation: _operation,
    Call: _call,
    Quantile: _quantile,
}
"""How each kind of expression is computed."""
