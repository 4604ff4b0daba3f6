"""Formulas to numbers, for many samples at once, with a record of which noises were read.

Enters: an expression tree and the columns of its names. Leaves: a column, and per noise the rows
whose taken branch read it. ``where`` reads its condition and the branch taken; ``and`` and ``or``
read their right side only where the left one does not decide. Both branches are computed for all
rows, because that is fast and the same bit for bit whatever the number of rows; what the branch
not taken gave is neither kept nor complained about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.scm.distributions import LAWS, valid_arguments
from robustclevr.scm.operations import FUNCTIONS, OPERATORS, number, truth
from robustclevr.spec.expression import (
    Call,
    Expression,
    Name,
    Number,
    Operation,
    ParentValue,
    Quantile,
)

Column = NDArray[Any]
"""float64 or bool, shape (n,), or () for the same value in every row."""

Rows = NDArray[np.bool_] | None
"""Which rows a branch is taken in; None for all of them."""


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
    reads : dict of str to Rows
        Filled by :func:`evaluate`: noises read, and in which rows. A noise that no row can read
        is missing.
    """

    own: dict[str, Column]
    noises: frozenset[str]
    parents: Mapping[tuple[str, str], Column]
    reads: dict[str, Rows] = field(default_factory=dict)

    def read(self, name: str, rows: Rows) -> Column:
        """Return a column of the node itself and note that it was read."""
        if name in self.noises:
            before = self.reads.get(name, rows)
            self.reads[name] = None if before is None or rows is None else before | rows
        return self.own[name]


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
    match expression:
        case Number(value):
            return np.asarray(value, dtype=np.float64)
        case Name(name):
            return scope.read(name, rows)
        case ParentValue(node, parameter):
            return scope.parents[node, parameter]
        case Operation("and" | "or" as operator, (left, right)):
            return _connective(operator, left, right, scope, rows)
        case Operation(operator, operands):
            values = [evaluate(operand, scope, rows) for operand in operands]
            result = OPERATORS[operator](*values)
            return _finite(result, rows, operator, values)
        case Call("where", (condition, then, otherwise)):
            return _where(condition, then, otherwise, scope, rows)
        case Call(function, operands):
            values = [evaluate(operand, scope, rows) for operand in operands]
            return _finite(FUNCTIONS[function](*values), rows, function, values)
        case Quantile():
            return _quantile(expression, scope, rows)
    raise TypeError(f"not an expression: {expression!r}")


def _where(
    condition: Expression, then: Expression, otherwise: Expression, scope: Scope, rows: Rows
) -> Column:
    holds = truth(evaluate(condition, scope, rows))
    if holds.ndim == 0:
        return evaluate(then if holds else otherwise, scope, rows)
    return np.where(
        holds,
        evaluate(then, scope, _and(rows, holds)),
        evaluate(otherwise, scope, _and(rows, ~holds)),
    )


def _connective(
    operator: str, left: Expression, right: Expression, scope: Scope, rows: Rows
) -> Column:
    first = truth(evaluate(left, scope, rows))
    undecided = first if operator == "and" else ~first
    if undecided.ndim == 0:
        return truth(evaluate(right, scope, rows)) if undecided else first
    second = truth(evaluate(right, scope, _and(rows, undecided)))
    return first & second if operator == "and" else first | second


def _quantile(expression: Quantile, scope: Scope, rows: Rows) -> Column:
    names = [name for name, _ in expression.arguments]
    values = [evaluate(argument, scope, rows) for _, argument in expression.arguments]
    level = number(evaluate(expression.level, scope, rows))
    arguments = {name: number(value) for name, value in zip(names, values, strict=True)}
    valid = valid_arguments(expression.distribution, arguments) & (level >= 0.0) & (level <= 1.0)
    inside = LAWS[expression.distribution].quantile(level, arguments)
    labels = [f"{expression.distribution}.{name}" for name in names]
    result = np.where(valid, inside, np.nan)
    return _finite(result, rows, "quantile", [*values, level], [*labels, "level"])


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
