"""Changes of a DAG given on the command line: ``--do node.parameter=value`` and the like."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def read_changes(option: str, texts: Iterable[str]) -> dict[str, Any]:
    """Return the values by their names.

    Raises
    ------
    SpecError
        If a text has no ``=``, or a name stands twice.
    """
    from robustclevr.errors import SpecError
    from robustclevr.spec.reading import read_value

    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            hint = "write node.parameter=value"
            raise SpecError.single(f"'{text}' is not a change", file=option, hint=hint)
        if name in found:
            raise SpecError.single(f"'{name}' is changed twice", file=option, hint="keep one")
        found[name] = read_value(value, name=option)
    return found
