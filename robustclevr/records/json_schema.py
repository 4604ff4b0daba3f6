"""JSON Schemas of frozen records: types from their fields, words from their docstrings.

Record types enter, definitions for JSON Schema (draft 7) leave. They describe what
:func:`robustclevr.records.to_json` writes and what :func:`robustclevr.records.from_json` reads.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from robustclevr.records.codec import field_types

Schema = dict[str, Any]

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}
_ENTRY = re.compile(r"^(\w[\w, ]*) : (.*)$")


def schema_of(kind: Any) -> Schema:
    """Return the schema of a type, other records by reference to ``#/$defs/NAME``.

    Parameters
    ----------
    kind : type
        A record, ``str``, ``int``, ``float``, ``bool``, or a union, tuple or mapping of these.

    Raises
    ------
    TypeError
        If a record may not have a field of this type.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return {"$ref": f"#/$defs/{typing.cast('type', kind).__name__}"}
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if origin in (typing.Union, types.UnionType):
        return _union([schema_of(item) for item in arguments if item is not type(None)], arguments)
    if origin is tuple:
        return _tuple(arguments)
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    raise TypeError(f"no record has a field of type {kind}")


def definitions(*kinds: type) -> dict[str, Schema]:
    """Return the schema of each record, and of all that are in them, by name.

    Every field without a default is required, and there are no others. Units and meanings are
    those of the docstrings.
    """
    found: dict[str, Schema] = {}
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop(0)
        if kind.__name__ not in found:
            found[kind.__name__] = _record(kind)
            waiting += [inner for field in field_types(kind).values() for inner in _inside(field)]
    return found


def _record(kind: Any) -> Schema:
    hints, texts = field_types(kind), dict(_field_texts(inspect.getdoc(kind) or ""))
    properties = {
        name: schema_of(hint) | ({"description": texts[name]} if texts.get(name) else {})
        for name, hint in hints.items()
    }
    fields = dataclasses.fields(kind)
    return {
        "description": (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " "),
        "type": "object",
        "properties": properties,
        "required": [field.name for field in fields if field.default is dataclasses.MISSING],
        "additionalProperties": False,
    }


def _field_texts(doc: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of each entry under ``Attributes`` in a docstring of numpy's form."""
    _, _, attributes = doc.partition("Attributes\n----------\n")
    names: list[str] = []
    text: list[str] = []
    for line in [*attributes.splitlines(), "end : of entries"]:
        entry = _ENTRY.match(line)
        if entry is None:
            text.append(line.strip())
            continue
        for name in names:
            yield name, " ".join(text).strip().replace("``", "'")
        names, text = [name.strip() for name in entry[1].split(",")], []


def _inside(kind: Any) -> Iterator[type]:
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        yield kind
    for argument in typing.get_args(kind):
        yield from _inside(argument)


def _union(schemas: list[Schema], arguments: tuple[Any, ...]) -> Schema:
    nullable = type(None) in arguments
    if all(schema.keys() == {"type"} for schema in schemas):
        names = [schema["type"] for schema in schemas] + ["null"] * nullable
        if "number" in names and "integer" in names:
            names.remove("integer")  # every integer is a number
        return {"type": names[0] if len(names) == 1 else names}
    return {"anyOf": [*schemas, *([{"type": "null"}] if nullable else [])]}


def _tuple(arguments: tuple[Any, ...]) -> Schema:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": schema_of(arguments[0])}
    size = len(arguments)
    if len(set(arguments)) == 1:
        return {
            "type": "array",
            "items": schema_of(arguments[0]),
            "minItems": size,
            "maxItems": size,
        }
    return {
        "type": "array",
        "items": [schema_of(argument) for argument in arguments],
        "minItems": size,
        "maxItems": size,
    }
