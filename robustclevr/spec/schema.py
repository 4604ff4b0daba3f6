"""Building blocks of the two file schemas, and their errors in our words.

pydantic models say which keys exist and of what type each value is. :func:`validate` runs one over
a document, notes every error with file, line and nearest spelling, leaves the wrong entries out
and returns the rest, so that the checks of meaning still run.
"""

from __future__ import annotations

import copy
import re
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from robustclevr.errors import suggest
from robustclevr.spec.document import Document, join

Model = TypeVar("Model", bound=BaseModel)

_EXPECTED = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "list_type": "must be a list, such as [a, b]",
    "dict_type": "must be a mapping of 'key: value'",
    "model_type": "must be a mapping of 'key: value'",
    "model_attributes_type": "must be a mapping of 'key: value'",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be above {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be below {lt}",
    "too_short": "must have at least {min_length} entry",
}
_MAX_OBJECTS = 255
_MAX_SHOWN = 60  # characters of a wrong value that are repeated; chosen: one line of a terminal


class Section(BaseModel):
    """A mapping of the file: unknown keys and loose types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def wrong(message: str, hint: str = "") -> PydanticCustomError:
    """Return the error that a validator raises to say what is wrong in its own words."""
    return PydanticCustomError("spec", "{text}", {"text": message, "hint": hint})


def validate(model: type[Model], document: Document) -> Model:
    """Return the valid part of ``document`` as a ``model``; problems go into the document.

    Every field of ``model`` must have a default, because wrong entries are left out.
    """
    data = copy.deepcopy(document.data)
    while True:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            for details in error.errors(include_url=False):
                _note(document, model, details)
                _prune(data, details["loc"], document)


def show(value: object) -> str:
    """Return how a message repeats a value of the file."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


def count_range(value: list[int]) -> list[int]:
    """Return a pair [least, most] of numbers of objects, or raise what is wrong with it.

    At most 255: a label map has 8 bits and 0 is the background.
    """
    if len(value) != 2 or not 1 <= value[0] <= value[1] <= _MAX_OBJECTS:
        hint = f"1 <= least <= most <= {_MAX_OBJECTS}"
        raise wrong(f"must be [least, most], got {show(value)}", hint)
    return value


def _note(document: Document, model: type[BaseModel], details: ErrorDetails) -> None:
    path = join(*details["loc"])
    if any(path == name or path.startswith(f"{name}.") for name in document.broken):
        return
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    if kind == "spec":
        document.problem(path, context["text"], context["hint"])
    elif kind == "extra_forbidden":
        word, allowed = str(details["loc"][-1]), _keys(model, details["loc"][:-1])
        document.problem(path, f"unknown key '{word}'", suggest(word, allowed))
    elif kind == "literal_error":
        allowed = re.findall(r"'([^']*)'", context["expected"])
        document.problem(path, f"{show(value)} is not allowed", suggest(str(value), allowed))
    else:
        wanted = _EXPECTED.get(kind, details["msg"]).format(**context)
        document.problem(path, f"{wanted}, got {show(value)}")


def _prune(data: Any, loc: Sequence[int | str], document: Document) -> None:
    """Remove the wrong entry; of a list, the whole list, for the others' sake."""
    parent = data
    for depth, part in enumerate(loc):
        if part not in parent:
            return  # went with an earlier error
        if depth == len(loc) - 1 or not isinstance(parent[part], dict):
            del parent[part]
            document.broken.add(join(*loc[: depth + 1]))
            return
        parent = parent[part]


def _keys(model: type[BaseModel], loc: Sequence[int | str]) -> list[str]:
    """Return the keys that the section at ``loc`` allows."""
    kind: Any = model
    for part in loc:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            kind = kind.model_fields[str(part)].annotation
        else:
            kind = typing.get_args(kind)[-1]
        kind = _without_none(kind)
    return list(kind.model_fields)


def _without_none(kind: Any) -> Any:
    inner = [item for item in typing.get_args(kind) if item is not type(None)]
    if typing.get_origin(kind) in (typing.Union, typing.types.UnionType) and len(inner) == 1:  # type: ignore[attr-defined]
        return inner[0]
    return typing.get_args(kind)[0] if typing.get_origin(kind) is Annotated else kind


def _from_entries(value: Any) -> Any:
    """Read ``[{a: 1}, {b: 2}]`` as ``{a: 1, b: 2}``: JSON with sorted keys keeps a list's order."""
    if not isinstance(value, list):
        return value
    if not all(isinstance(item, Mapping) and len(item) == 1 for item in value):
        raise wrong("must be a mapping of 'key: value'")
    pairs = [pair for item in value for pair in item.items()]
    if len(dict(pairs)) < len(pairs):
        raise wrong("holds a key twice")
    return dict(pairs)


def _formula_value(value: Any) -> Any:
    if value is None:
        raise wrong("has no value", "write a formula, such as 1 + k")
    if isinstance(value, list | dict):
        raise wrong(f"must be a formula, got {show(value)}")
    return value


def _distribution_text(value: Any) -> Any:
    if not isinstance(value, str):
        hint = "a constant stands under 'set'" if isinstance(value, int | float) else ""
        raise wrong(f"must be a distribution, such as HalfNormal(0.3), got {show(value)}", hint)
    return value


FormulaValue = Annotated[Any, BeforeValidator(_formula_value)]
"""What may stand for a formula: text, a number, or true and false."""

DistributionText = Annotated[str, BeforeValidator(_distribution_text)]

OrderedEntries = BeforeValidator(_from_entries)
"""Marks a mapping whose order has a meaning; a list of one-entry mappings is read too."""
