"""Formulas that a comma has cut: inside ``{ }`` YAML ends an entry at every comma.

``{factor: where(u > 0.75, h, 0)}`` reaches us as three entries, of which the first holds half
a formula and the others hold nothing. Found here, so that the message can say what happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from yaml.nodes import Node, ScalarNode

QUOTE_HINT = (
    "inside { } a comma ends the entry: put the formula in quotes, or write it in block style"
)


@dataclass(frozen=True)
class Cut:
    """An entry of a flow mapping that cannot be what was meant.

    Attributes
    ----------
    message : str
        What is wrong.
    length : int
        Number of entries that the broken formula takes up, the first included.
    """

    message: str
    length: int


def cut_formula(entries: Sequence[tuple[Node, Node]], start: int) -> Cut | None:
    """Return what is wrong with entry ``start`` of a flow mapping, or None.

    Parameters
    ----------
    entries : sequence of (key node, value node)
    start : int
        Index of the entry to look at.
    """
    value = entries[start][1]
    if is_empty(value):
        return Cut("has no value", 1)
    if not _is_plain(value) or (balance := _balance(value)) == 0:
        return None
    length = 1
    while balance > 0 and start + length < len(entries) and is_empty(entries[start + length][1]):
        balance += _balance(entries[start + length][0])
        length += 1
    if length == 1:
        return Cut(f"unbalanced parenthesis in '{value.value}'", 1)
    return Cut(f"a comma cut the formula: only '{value.value}' is left of it", length)


def is_empty(node: Node) -> bool:
    """Return whether nothing at all is written where a value belongs."""
    return _is_plain(node) and node.value == ""


def _is_plain(node: Node) -> bool:
    return isinstance(node, ScalarNode) and not node.style


def _balance(node: Node) -> int:
    text = node.value if _is_plain(node) else ""
    return text.count("(") - text.count(")")
