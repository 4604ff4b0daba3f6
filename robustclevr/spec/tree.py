"""What can be asked of an expression tree without evaluating it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robustclevr.spec.expression import Call, Expression, Number, Operation, Quantile
from robustclevr.spec.tokens import FormulaError

MAX_DEPTH = 50
"""Deepest expression tree; chosen: nine stack frames a level stay within half of Python's 1000."""


def children(expression: Expression) -> Sequence[Expression]:
    """Return the direct operands of the root, from left to right."""
    if isinstance(expression, Operation):
        return expression.operands
    if isinstance(expression, Call):
        return expression.arguments
    if isinstance(expression, Quantile):
        return (*(value for _, value in expression.arguments), expression.level)
    return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield every part of the tree, from left to right, a whole before its parts."""
    yield expression
    for child in children(expression):
        yield from walk(child)


def check_depth(expression: Expression) -> None:
    """Raise FormulaError if the tree is deeper than :data:`MAX_DEPTH` (``1 + 1 + …`` is)."""
    level: list[Expression] = [expression]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level for child in children(parent)]
        if not level:
            return
    raise FormulaError(
        f"chains more than {MAX_DEPTH} operations", 1, "set a part of it in a latent node first"
    )


def constant_value(expression: Expression) -> float | None:
    """Return the value of a number with or without signs, None for anything else."""
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Operation) and expression.operator in ("neg", "pos"):
        inner = constant_value(expression.operands[0])
        return -inner if inner is not None and expression.operator == "neg" else inner
    return None
