"""``--set PATH=VALUE``: changes to a document before it is checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robustclevr.errors import Problem, SpecError, suggest
from robustclevr.spec.document import Document, Place
from robustclevr.spec.reading import read_value

OPTION = "--set"
OPTION_PREFIX = "--"
"""Places that begin so are options of a command line, and not files."""


def apply_overrides(document: Document, overrides: Iterable[str]) -> None:
    """Set each ``PATH=VALUE`` in the document; what is wrong with one is noted in it.

    A value is a YAML scalar, or a list or mapping in brackets. A path may lead through keys that
    hold dots, such as ``splits.test.do.gaussian_blur.size``. New keys are made on the way, but no
    new split: that would be a misspelt one.
    """
    for text in overrides:
        try:
            _apply(document, text)
        except SpecError as error:
            document.problems.extend(error.problems)


def _apply(document: Document, text: str) -> None:
    option = f"{OPTION} {text}"
    path, sign, value = text.partition("=")
    parts = path.strip().split(".")
    if not sign or not all(parts):
        raise SpecError.single("is not PATH=VALUE", file=option, hint="such as shard_size=2")
    splits = document.data.get("splits")
    if parts[0] == "splits" and len(parts) > 1 and isinstance(splits, dict):
        lost = document.broken_below("splits")
        if parts[1] not in splits and parts[1] not in lost:
            what = f"there is no split '{parts[1]}'"
            raise SpecError.single(what, file=option, hint=suggest(parts[1], splits))
    set_value(document, path.strip(), read_value(value, name=option), option=option)


def set_value(document: Document, path: str, value: Any, *, option: str) -> None:
    """Set one entry; ``option`` is named in messages.

    Raises
    ------
    SpecError
        If the path leads through something that is not a mapping.
    """
    _set(document.data, path.split("."), value, option)
    for below in [name for name in document.places if name.startswith(f"{path}.")]:
        del document.places[below]
    document.places[path] = Place(option)


def _set(data: dict[str, Any], parts: list[str], value: Any, option: str) -> None:
    inside = data
    for index, part in enumerate(parts[:-1]):
        flat = ".".join(parts[index:])
        if flat in inside:
            inside[flat] = value
            return
        below = inside.setdefault(part, {})
        if not isinstance(below, dict):
            whole = ".".join(parts[: index + 1])
            hint = f"set {whole} itself"
            raise SpecError([Problem(f"{whole} is not a mapping", option, hint=hint)])
        inside = below
    inside[parts[-1]] = value
