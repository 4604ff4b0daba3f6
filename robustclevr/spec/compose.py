"""YAML text to pyyaml's nodes; every syntax error in our words, with its line."""

from __future__ import annotations

from typing import Any

from yaml.composer import Composer
from yaml.error import MarkedYAMLError, YAMLError
from yaml.nodes import Node
from yaml.parser import Parser
from yaml.reader import Reader, ReaderError
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from robustclevr.errors import Problem, SpecError

MAX_CHARACTERS = 500_000
MAX_DEPTH = 50
"""Bounds of a file; chosen: each far above what a thousand-node DAG needs."""

_FLOW = "while parsing a flow"


def compose(text: str, file: str) -> Node | None:
    """Return the root node of the one document in ``text``; None if there is nothing in it.

    A node's tag is empty unless the file itself holds one.

    Raises
    ------
    SpecError
        If the text is not YAML or exceeds the bounds.
    """
    if len(text) > MAX_CHARACTERS:
        what = f"has {len(text)} characters; at most {MAX_CHARACTERS} are read"
        raise SpecError.single(what, file=file)
    try:
        root: Node | None = _Loader(text).get_single_node()
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        what = f"holds the character {_code(error.character)}, which YAML does not allow"
        raise SpecError.single(what, file=file, line=line) from error
    except MarkedYAMLError as error:
        raise SpecError(_problems(error, text, file)) from error
    except (YAMLError, ValueError, OverflowError) as error:
        raise SpecError.single(f"is not YAML: {error}", file=file) from error
    return root


class _Loader(Reader, Scanner, Parser, Composer, BaseResolver):
    """Leaves the meaning of plain scalars to us, and bounds the depth."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        BaseResolver.__init__(self)
        self._depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise MarkedYAMLError(
                problem=f"more than {MAX_DEPTH} levels", problem_mark=self.get_mark()
            )
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        del kind, value, implicit
        return ""


def _problems(error: MarkedYAMLError, text: str, file: str) -> list[Problem]:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else None
    what = error.problem or error.context or "cannot be read"
    if "'\\t'" in what:
        hint = "YAML is indented with spaces"
        return [Problem("a tab", file, number, hint=hint) for number in _tabs(text, line)]
    hint = ""
    if "<stream end>" in what:
        what = "a bracket or brace is not closed"
    elif "another document" in what:
        what = "a second document begins here"
    elif (error.context or "").startswith(_FLOW):
        hint = "inside { } and [ ] formulas and distributions need quotes"
    return [Problem(f"is not YAML: {what}", file, line, hint=hint)]


def _tabs(text: str, line: int | None) -> list[int]:
    """Return the lines that begin with a tab among their spaces, and ``line``."""
    lines = text.splitlines()
    found = {i for i, row in enumerate(lines, 1) if "\t" in row[: len(row) - len(row.lstrip())]}
    return sorted(found | ({line} if line else set()))


def _code(character: Any) -> str:
    return f"U+{character if isinstance(character, int) else ord(character):04X}"
