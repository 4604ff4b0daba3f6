"""Formula text to tokens; enters a string, leaves a tuple of tokens or a :class:`FormulaError`.

Formulas and distributions share one alphabet. Nothing is evaluated here or later as Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

MAX_LENGTH = 4000
"""Longest formula in characters; chosen: fifty times the longest formula of the paper's models."""

_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/%<>=().,\[\]])"
)
_SPACE = re.compile(r"[ \t\r\n]*")
_HINTS = {
    "^": "the power is written **",
    "&": "write 'and'",
    "|": "write 'or'",
    "!": "write 'not', or != for unequal",
    "~": "write 'not'",
}


class FormulaError(ValueError):
    """A formula or distribution that cannot be read.

    Parameters
    ----------
    message : str
        What is wrong, the offending piece included.
    column : int
        Where in the text it is wrong, counted from 1.
    hint : str
        What is allowed, or what to do.
    """

    def __init__(self, message: str, column: int, hint: str = "") -> None:
        self.message, self.column, self.hint = message, column, hint
        super().__init__(f"{message} at column {column}" + (f"; {hint}" if hint else ""))


@dataclass(frozen=True)
class Token:
    """One number, name or sign; kind ``end`` with empty text closes the list."""

    kind: Literal["number", "name", "sign", "end"]
    text: str
    column: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"'{self.text}'"


def tokenize(text: str) -> tuple[Token, ...]:
    """Split ``text`` into tokens, the last of which has kind ``end``.

    Raises
    ------
    FormulaError
        At the first character that belongs to no token, or if the text is empty or too long.
    """
    if len(text) > MAX_LENGTH:
        raise FormulaError(
            f"has {len(text)} characters", MAX_LENGTH + 1, f"at most {MAX_LENGTH} are allowed"
        )
    tokens: list[Token] = []
    place = _skip_space(text, 0)
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            character = text[place]
            raise FormulaError(
                f"unexpected character {character!r}", place + 1, _HINTS.get(character, "")
            )
        tokens.append(_token(match))
        place = _skip_space(text, match.end())
    if not tokens:
        raise FormulaError("is empty", 1)
    return (*tokens, Token("end", "", len(text) + 1))


def _skip_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _token(match: re.Match[str]) -> Token:
    column = match.start() + 1
    if match["number"] is not None:
        return Token("number", match["number"], column)
    if match["name"] is not None:
        return Token("name", match["name"], column)
    return Token("sign", match["sign"], column)
