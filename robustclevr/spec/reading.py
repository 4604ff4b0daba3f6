"""YAML text to a :class:`Document`: composing by pyyaml, meaning by YAML 1.2's core schema."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from robustclevr.errors import SpecError
from robustclevr.spec.compose import MAX_DEPTH, compose
from robustclevr.spec.document import Document, Place, join, read_text
from robustclevr.spec.flow import QUOTE_HINT, cut_formula
from robustclevr.spec.scalars import parse_scalar

MAX_NODES = 50_000
"""Most entries of a file, aliases counted each time; chosen: aliases cannot fill memory."""


def read_document(source: Path | str, *, name: str = "<text>") -> Document:
    """Read one YAML document whose top level is a mapping.

    Parameters
    ----------
    source : Path or str
        A file, or the text itself.
    name : str
        File name for messages where ``source`` is a text.

    Returns
    -------
    Document
        What is wrong with single entries stands in its ``problems``.

    Raises
    ------
    SpecError
        If the file cannot be read, is not YAML, is not one mapping or exceeds the bounds.
    """
    text, file = (read_text(source), str(source)) if isinstance(source, Path) else (source, name)
    root = compose(text, file)
    document = Document(file, {})
    if not isinstance(root, MappingNode):
        what = "is empty" if root is None else "the top level must be a mapping of 'key: value'"
        raise SpecError.single(what, file=file, line=1 if root is None else _line(root))
    document.data.update(_Builder(document).mapping(root, "", 0))
    return document


def read_value(text: str, *, name: str) -> Any:
    """Read the value of a command line option: a scalar, or a list or mapping in brackets.

    Raises
    ------
    SpecError
        If a value in brackets or quotes is not YAML.
    """
    stripped = text.strip()
    if not stripped.startswith(("[", "{", "'", '"')):
        return parse_scalar(stripped)
    document = read_document(f"value: {stripped}", name=name)
    document.raise_problems()
    return document.data["value"]


class _Builder:
    """Turns nodes into plain data, noting places and problems in the document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._nodes = 0

    def mapping(self, node: MappingNode, path: str, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        lines: dict[str, int] = {}
        index = 0
        while index < len(node.value):
            key_node, value_node = node.value[index]
            cut = cut_formula(node.value, index) if node.flow_style else None
            index += cut.length if cut else 1
            key = self._key(key_node, path, lines)
            if key is None:
                continue
            child = join(path, key)
            self._document.places[child] = self._place(key_node)
            if cut:
                self._document.problem(child, cut.message, QUOTE_HINT)
                self._document.broken.add(child)
            else:
                self._set(result, key, value_node, child, depth)
        return result

    def _set(self, result: dict[str, Any], key: str, node: Node, path: str, depth: int) -> None:
        before = len(self._document.problems)
        value = self._value(node, path, depth + 1)
        if isinstance(node, ScalarNode) and len(self._document.problems) > before:
            self._document.broken.add(path)
        else:
            result[key] = value

    def _value(self, node: Node, path: str, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > MAX_DEPTH:
            bound = f"{MAX_NODES} entries" if self._nodes > MAX_NODES else f"{MAX_DEPTH} levels"
            what = f"holds more than {bound}, aliases counted each time"
            raise SpecError.single(what, file=self._document.file, line=_line(node))
        if node.tag:
            what, hint = f"the tag '{node.tag}' is not supported", "quotes make a string"
            self._document.problem(path, what, hint, place=self._place(node))
        if isinstance(node, MappingNode):
            return self.mapping(node, path, depth)
        if isinstance(node, SequenceNode):
            return [self._item(item, path, i, depth) for i, item in enumerate(node.value)]
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        raise TypeError(f"pyyaml composed a {type(node).__name__}")

    def _item(self, node: Node, path: str, index: int, depth: int) -> Any:
        child = join(path, index)
        self._document.places[child] = self._place(node)
        return self._value(node, child, depth + 1)

    def _scalar(self, node: ScalarNode, path: str) -> Any:
        text: str = node.value
        value = text if node.style else parse_scalar(text)
        if isinstance(value, float) and not math.isfinite(value):
            self._document.problem(path, f"the number {text[:40]} is not finite")
        if any("\ud800" <= character <= "\udfff" for character in text):
            self._document.problem(path, "holds half of a surrogate pair, which is no character")
        return value

    def _key(self, node: Node, path: str, lines: dict[str, int]) -> str | None:
        key = self._scalar(node, path) if isinstance(node, ScalarNode) else None
        if not isinstance(key, str):
            shown = f"'{node.value}'" if isinstance(node, ScalarNode) else "a collection"
            hint = "put it in quotes if it is meant"
            self._document.problem(
                path, f"keys must be words, got {shown}", hint, place=self._place(node)
            )
            return None
        if key in lines:
            what = f"the key stands twice, first in line {lines[key]}"
            self._document.problem(join(path, key), what, "remove one", place=self._place(node))
            return None
        lines[key] = _line(node)
        return key

    def _place(self, node: Node) -> Place:
        return Place(self._document.file, _line(node))


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1
