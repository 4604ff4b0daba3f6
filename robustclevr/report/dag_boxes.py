"""What the drawing of a DAG says: a box of text a node, and its edges, cut ones among them.

Enters: a DAG, and what an intervention changes. Leaves: text and names; no geometry.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from robustclevr.records import Value
from robustclevr.spec.expression import Expression, Number, ParentValue
from robustclevr.spec.model import Assignment, DagSpec, NodeSpec
from robustclevr.spec.tree import walk

_COLUMNS = 60
"""Longest line of a box, in characters; chosen: most formulas of the paper's models fit in one."""

_FIXED_SPACE = "\N{NO-BREAK SPACE}"

Style = Literal["title", "kind", "when", "noise", "set", "constant", "changed"]


@dataclass(frozen=True)
class Line:
    """One line of a box."""

    text: str
    style: Style


@dataclass(frozen=True)
class Box:
    """One node."""

    id: str
    lines: tuple[Line, ...]
    latent: bool
    changed: bool


@dataclass(frozen=True)
class Edge:
    """One edge; ``cut`` where an intervention leaves nothing that reads the parent."""

    parent: str
    child: str
    cut: bool


@dataclass(frozen=True)
class Changes:
    """What an intervention changes.

    Attributes
    ----------
    do : mapping of str to Value
        ``node.parameter`` to the value that it is held at.
    shift : frozenset of str
        ``node.parameter`` and ``node.noise`` that were replaced in the DAG that is drawn.
    """

    do: Mapping[str, Value] = field(default_factory=dict)
    shift: frozenset[str] = frozenset()


def boxes(dag: DagSpec, changes: Changes) -> dict[str, Box]:
    """Return the text of every node, in drawing order."""
    return {node.id: _box(node, changes) for node in dag.nodes}


def edges(dag: DagSpec, changes: Changes) -> list[Edge]:
    """Return every edge."""
    return [
        Edge(parent, node.id, cut=_is_cut(parent, node, changes))
        for node in dag.nodes
        for parent in node.parents
    ]


def _box(node: NodeSpec, changes: Changes) -> Box:
    named = [*changes.do, *changes.shift]
    changed = any(name.partition(".")[0] == node.id for name in named)
    return Box(node.id, tuple(_lines(node, changes)), node.latent, changed)


def _lines(node: NodeSpec, changes: Changes) -> Iterator[Line]:
    yield Line(node.id, "title")
    if node.recipe is None:
        yield Line("latent", "kind")
    elif node.recipe.id != node.id:
        yield Line(f"applies {node.recipe.id}", "kind")
    if node.when_text:
        yield from _wrapped(f"when {node.when_text}", "when")
    for noise in node.noise:
        style: Style = "changed" if f"{node.id}.{noise.name}" in changes.shift else "noise"
        yield from _wrapped(f"{noise.name} ~ {noise.text}", style)
    yield from _settings(node, changes)


def _settings(node: NodeSpec, changes: Changes) -> Iterator[Line]:
    constants: list[str] = []
    for item in _assignments(node):
        name = f"{node.id}.{item.parameter}"
        if name in changes.do:
            continue
        if name in changes.shift:
            yield from _wrapped(f"{item.parameter} = {item.text}", "changed")
        elif item.formula is None or isinstance(item.formula, Number):
            constants.append(f"{item.parameter}{_FIXED_SPACE}={_FIXED_SPACE}{item.text}")
        else:
            yield from _wrapped(f"{item.parameter} = {item.text}", "set")
    if constants:
        yield from _wrapped(", ".join(constants), "constant")
    for name, value in changes.do.items():
        if name.partition(".")[0] == node.id:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield from _wrapped(f"do({name.partition('.')[2]} = {text})", "changed")


def _wrapped(text: str, style: Style) -> Iterator[Line]:
    for line in textwrap.wrap(text, _COLUMNS, subsequent_indent="    ", break_on_hyphens=False):
        yield Line(line, style)


def _assignments(node: NodeSpec) -> list[Assignment]:
    return [*node.assignments, *([node.severity] if node.severity else [])]


def _is_cut(parent: str, node: NodeSpec, changes: Changes) -> bool:
    """Tell whether only formulas that are held at a value read the parent."""
    held = [item for item in _assignments(node) if f"{node.id}.{item.parameter}" in changes.do]
    left = [item for item in _assignments(node) if item not in held]
    remaining = [node.when, *(item.formula for item in left)]
    return _read(parent, (item.formula for item in held)) and not _read(parent, remaining)


def _read(parent: str, formulas: Iterable[Expression | None]) -> bool:
    return any(
        isinstance(part, ParentValue) and part.node == parent
        for formula in formulas
        if formula is not None
        for part in walk(formula)
    )
