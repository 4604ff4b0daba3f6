"""Plain YAML scalars by the rules of YAML 1.2's core schema.

``1e-3`` is a number, ``012`` is twelve, ``0o17`` is fifteen, and ``on``, ``no``, ``1_000`` and
``12:30`` are strings: pyyaml's own rules are those of YAML 1.1 and differ in each of these.
"""

from __future__ import annotations

import re

Scalar = None | bool | int | float | str

_NULL = re.compile(r"null|Null|NULL|~|")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_NAN = re.compile(r"\.(?:nan|NaN|NAN)")
_MAX_DIGITS = 300  # chosen: about the digits of the largest float64; Python refuses 4300


def parse_scalar(text: str) -> Scalar:
    """Return the value of a plain scalar.

    Parameters
    ----------
    text : str
        As it stands in the file, without surrounding spaces or quotes.

    Returns
    -------
    None, bool, int, float or str
        Infinities and NaN included: where numbers must be finite, the reader says so.

    Examples
    --------
    >>> [parse_scalar(text) for text in ("1e-3", "on", "012", "0o17", "~", "HalfNormal(0.3)")]
    [0.001, 'on', 12, 15, None, 'HalfNormal(0.3)']
    """
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text) or _FALSE.fullmatch(text):
        return text[0] in "tT"
    number = _integer(text)
    return _float(text) if number is None else number


def _integer(text: str) -> int | float | None:
    for pattern, base in ((_INTEGER, 10), (_OCTAL, 8), (_HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            if len(text) > _MAX_DIGITS:
                return float("inf")
            return int(text if base == 10 else text[2:], base)
    return None


def _float(text: str) -> float | str:
    if _FLOAT.fullmatch(text):
        return float(text)
    if infinite := _INFINITE.fullmatch(text):
        return float(f"{infinite[1]}inf")
    return float("nan") if _NAN.fullmatch(text) else text
