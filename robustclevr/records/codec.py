"""Frozen records to JSON and back, without a third-party library.

The Blender process reads Plans too and may run in an interpreter that has only numpy, so this
stands on the standard library. Supported fields: str, int, float, bool, None, unions of those,
tuples, mappings with string keys, and other records.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

Record = TypeVar("Record")


def to_json(value: Any) -> Any:
    """Return ``value`` as plain JSON data: records and mappings as dicts, tuples as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: to_json(getattr(value, field.name)) for field in fields}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    return value


def from_json(kind: type[Record], data: Any) -> Record:
    """Rebuild a record of type ``kind`` from what :func:`to_json` returned.

    Raises
    ------
    KeyError, TypeError
        If the data do not have the record's fields.
    """
    result: Record = _rebuild(kind, data)
    return result


def canonical_json(value: Any) -> bytes:
    """Return the one byte string that stands for ``value``: sorted keys, no spaces, one newline.

    Raises
    ------
    ValueError
        If a number is NaN or infinite, which JSON cannot say.
    """
    text = json.dumps(
        to_json(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode() + b"\n"


@lru_cache(maxsize=64)  # resolving the texts takes longer than all else; there are 20 records
def field_types(kind: type) -> Mapping[str, Any]:
    """Return the types of a record's fields by name."""
    return typing.get_type_hints(kind)


def _rebuild(kind: Any, data: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = field_types(kind)
        # A field with a default may be absent: it was added after the data were written.
        fields = [
            field.name
            for field in dataclasses.fields(kind)
            if field.name in data or field.default is dataclasses.MISSING
        ]
        return kind(**{name: _rebuild(hints[name], data[name]) for name in fields})
    if origin in (typing.Union, types.UnionType):
        inner = [item for item in arguments if item is not type(None)]
        return None if data is None else _rebuild(inner[0], data) if len(inner) == 1 else data
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_rebuild(arguments[0], item) for item in data)
        return tuple(_rebuild(part, item) for part, item in zip(arguments, data, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        return {key: _rebuild(arguments[1], item) for key, item in data.items()}
    return float(data) if kind is float else data
