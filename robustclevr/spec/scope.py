"""What a formula may read where it stands, and whether it keeps to that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from robustclevr.errors import suggest
from robustclevr.recipe import Recipe
from robustclevr.spec.expression import (
    Call,
    Expression,
    Name,
    Number,
    Operation,
    ParentValue,
    Quantile,
)
from robustclevr.spec.grammar import COMPARISONS
from robustclevr.spec.tree import walk

Kinds = Mapping[str, str]
"""Name to ``number``, ``integer``, ``boolean``, ``choice`` or ``any`` (not known)."""

NODE_FIELDS: Kinds = {"severity": "number", "active": "boolean"}
"""What every node lets its children read beside its parameters."""


@dataclass(frozen=True)
class Scope:
    """What one formula may read.

    Attributes
    ----------
    node : str
        Id of the node it belongs to; empty for a formula over all nodes.
    names : mapping of str to str
        Noise and earlier parameters of the node, with their kinds.
    later : collection of str
        Parameters of the node that are not set yet where the formula stands.
    parents : collection of str, or None
        Nodes whose values it may read; None where they are not known because of another error.
    fields : mapping of str to mapping, or to None
        Kinds of every node's parameters; None for a node whose recipe is not known.
    """

    node: str
    names: Kinds
    later: Collection[str]
    parents: Collection[str] | None
    fields: Mapping[str, Kinds | None]


def parameter_kinds(recipe: Recipe) -> Kinds:
    """Return the kind of each parameter."""
    return {parameter.name: parameter.kind for parameter in recipe.parameters}


def name_problems(expression: Expression, scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield a message and a hint for every name that may not be read; each name once."""
    seen: set[Expression] = set()
    for part in walk(expression):
        if part in seen:
            continue
        if isinstance(part, Name):
            seen.add(part)
            yield from _name(part.name, scope)
        elif isinstance(part, ParentValue):
            seen.add(part)
            yield from _parent_value(part, scope)


def is_truth(expression: Expression, scope: Scope) -> bool:
    """Return whether a formula answers yes or no, as far as can be known."""
    if isinstance(expression, Operation):
        return expression.operator in COMPARISONS | {"and", "or", "not"}
    if isinstance(expression, Call) and expression.function == "where":
        return all(is_truth(branch, scope) for branch in expression.arguments[1:])
    if isinstance(expression, Quantile):
        return expression.distribution == "Bernoulli"
    if isinstance(expression, Number):
        return expression.value in (0.0, 1.0)
    if isinstance(expression, Name):
        return scope.names.get(expression.name, "any") in ("boolean", "any")
    if isinstance(expression, ParentValue):
        kinds = scope.fields.get(expression.node)
        kinds = {**kinds, **NODE_FIELDS} if kinds is not None else {}
        return kinds.get(expression.field, "any") in ("boolean", "any")
    return False


def _name(name: str, scope: Scope) -> Iterator[tuple[str, str]]:
    kind = scope.names.get(name)
    if kind == "choice":
        yield f"'{name}' is a word, not a number", ""
    elif kind is not None:
        return
    elif name == scope.node and name not in scope.later:
        yield f"'{name}' is this node itself", suggest(name, scope.names)
    elif name in scope.later:
        hint = "a formula reads the noise of its node and the parameters set above it"
        yield f"'{name}' is read before it is set", hint
    elif name in scope.fields:
        fields = scope.fields[name]
        example = next(iter(fields), "severity") if fields else "severity"
        yield f"'{name}' is a node, not a number", f"write {name}.{example}"
    else:
        hint = suggest(name, scope.names) if scope.node else "write node.parameter"
        yield f"unknown name '{name}'", hint


def _parent_value(value: ParentValue, scope: Scope) -> Iterator[tuple[str, str]]:
    text = f"{value.node}.{value.field}"
    if scope.parents is None:
        return
    if value.node not in scope.parents:
        yield _not_a_parent(value, text, scope)
        return
    fields = scope.fields.get(value.node)
    if fields is None:
        return
    kinds = {**fields, **NODE_FIELDS}
    if value.field not in kinds:
        hint = suggest(value.field, kinds)
        yield f"node '{value.node}' has no '{value.field}' to read", hint
    elif kinds[value.field] == "choice":
        yield f"'{text}' is a word, not a number", ""


def _not_a_parent(value: ParentValue, text: str, scope: Scope) -> tuple[str, str]:
    if value.node == scope.node:
        return f"'{text}' is the node's own", f"write '{value.field}' without the node"
    if not scope.node:
        return f"unknown node '{value.node}'", suggest(value.node, scope.parents or ())
    if value.node in scope.fields:
        hint = f"add {value.node} to the parents of {scope.node}"
        return f"'{text}' is read, but '{value.node}' is not a parent", hint
    return f"'{text}' is read, but there is no node '{value.node}'", suggest(
        value.node, scope.parents or ()
    )
