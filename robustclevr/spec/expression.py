"""Formulas as trees of frozen records; `formula` parses them, `scm` evaluates them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    """A literal."""

    value: float


@dataclass(frozen=True)
class Name:
    """A noise variable of the node, or a parameter set above in the same node."""

    name: str


@dataclass(frozen=True)
class ParentValue:
    """``parent.parameter``, ``parent.severity`` or ``parent.active``."""

    node: str
    field: str


@dataclass(frozen=True)
class Operation:
    """An operator: ``+ - * / ** %``, a comparison, ``and or not``, ``neg`` or ``pos``.

    A chained comparison is an ``and`` of comparisons.
    """

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Call:
    """A whitelisted function."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Quantile:
    """``quantile(Beta(a, b), q)``: the distribution's arguments are formulas too."""

    distribution: str
    arguments: tuple[tuple[str, Expression], ...]
    level: Expression


Expression = Number | Name | ParentValue | Operation | Call | Quantile
