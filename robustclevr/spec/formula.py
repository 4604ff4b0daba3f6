"""Formulas and distributions: text to records and back.

What enters is one string of the YAML; what leaves is an expression tree or a distribution with
canonical arguments, or a :class:`FormulaError` with the column. Which names exist is decided by
the reader of the DAG, not here.
"""

from __future__ import annotations

from robustclevr.spec.arguments import with_constants
from robustclevr.spec.expression import (
    Call,
    Expression,
    Name,
    Number,
    Operation,
    ParentValue,
    Quantile,
)
from robustclevr.spec.grammar import Parser
from robustclevr.spec.model import Distribution
from robustclevr.spec.tree import check_depth

_SIGNS = {"neg": "-", "pos": "+", "not": "not "}


def parse_formula(text: str) -> Expression:
    """Read a formula.

    Raises
    ------
    FormulaError
        With the column at which the text is wrong.

    Examples
    --------
    >>> parse_formula("1 + k")
    Operation(operator='+', operands=(Number(value=1.0), Name(name='k')))
    """
    expression = Parser(text).formula()
    check_depth(expression)
    return expression


def parse_distribution(text: str) -> Distribution:
    """Read the distribution of a noise variable; its arguments are constants.

    Returns
    -------
    Distribution
        With the canonical arguments of ``robustclevr.spec.distributions``.

    Raises
    ------
    FormulaError
        With the column at which the text is wrong.

    Examples
    --------
    >>> parse_distribution("HalfNormal(0.3)")
    Distribution(name='HalfNormal', arguments={'scale': 0.3})
    """
    return with_constants(Parser(text).distribution())


def format_expression(expression: Expression) -> str:
    """Return a text that :func:`parse_formula` reads as the same tree.

    Every operation stands in parentheses: for machines and tests, not for people.
    """
    if isinstance(expression, Number):
        return repr(expression.value)
    if isinstance(expression, Name):
        return expression.name
    if isinstance(expression, ParentValue):
        return f"{expression.node}.{expression.field}"
    if isinstance(expression, Operation):
        return _format_operation(expression)
    if isinstance(expression, Call):
        return f"{expression.function}({', '.join(map(format_expression, expression.arguments))})"
    return _format_quantile(expression)


def _format_operation(operation: Operation) -> str:
    parts = [format_expression(operand) for operand in operation.operands]
    if operation.operator in _SIGNS:
        return f"({_SIGNS[operation.operator]}{parts[0]})"
    return f"({f' {operation.operator} '.join(parts)})"


def _format_quantile(expression: Quantile) -> str:
    named = (f"{name}={format_expression(value)}" for name, value in expression.arguments)
    distribution = f"{expression.distribution}({', '.join(named)})"
    return f"quantile({distribution}, {format_expression(expression.level)})"
