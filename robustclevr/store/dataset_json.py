"""``dataset.json``: what a folder holds, and whether a new spec may go on in it.

More samples or more splits are an extension. Any other difference is an error that names the
first differing field and both values; nothing is overwritten unless the caller forces it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustclevr.errors import SpecError, StoreError
from robustclevr.store.atomic import write_atomic
from robustclevr.store.jsonbytes import sealed_json, unseal_json
from robustclevr.store.layout import Layout

FORMAT = 1
"""Raised when the layout of a dataset's folder changes."""

SPLIT_NAME = re.compile(r"[a-z][a-z0-9_-]*")
"""Names of splits: they are folders of the dataset."""

RESERVED_SPLIT_NAMES = frozenset({"recipes"})
"""Folders of the dataset that are something else."""

_ABSENT = "(absent)"
_SHOWN_CHARACTERS = 80


@dataclass(frozen=True)
class SplitEntry:
    """What ``dataset.json`` says about one split.

    Attributes
    ----------
    name : str
    samples, shard_size : int
    fingerprint : str
    document : mapping
        The resolved spec of the split.
    """

    name: str
    samples: int
    shard_size: int
    fingerprint: str
    document: Mapping[str, Any]


def describe(
    *,
    header: Mapping[str, Any],
    splits: Mapping[str, Mapping[str, Any]],
    fingerprints: Mapping[str, str],
) -> dict[str, Any]:
    """Return the content of ``dataset.json``.

    Parameters
    ----------
    header : mapping
        ``name``, ``summary``, ``source``, ``licence``, ``seed``, ``dataset_version``.
    splits : mapping of str to mapping
        Resolved spec of each split, with ``samples`` and ``shard_size``.
    fingerprints : mapping of str to str
        Of the same splits.
    """
    return {
        "format": FORMAT,
        **header,
        # By name, so that the bytes do not tell in which order the splits were asked for.
        "splits": dict(sorted(splits.items())),
        "fingerprints": dict(sorted(fingerprints.items())),
    }


def entries(content: Mapping[str, Any]) -> dict[str, SplitEntry]:
    """Return the splits of a ``dataset.json``, sorted by name."""
    return {
        name: SplitEntry(
            name=name,
            samples=document["samples"],
            shard_size=document["shard_size"],
            fingerprint=content["fingerprints"][name],
            document=document,
        )
        for name, document in sorted(content["splits"].items())
    }


def read_dataset_json(layout: Layout) -> dict[str, Any] | None:
    """Return the content of ``dataset.json``, or None where there is none.

    Raises
    ------
    StoreError
        If it was altered, or is of another version of the layout.
    """
    path = layout.dataset_json
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
    content = unseal_json(data, path)
    if content.get("format") != FORMAT:
        raise StoreError(
            f"{path}: is of layout {content.get('format')}, this version reads {FORMAT}"
        )
    for problem in _content_problems(content):
        raise StoreError(f"{path}: {problem}; it was not written by this program")
    return content


def write_dataset_json(content: Mapping[str, Any], layout: Layout) -> None:
    """Put ``dataset.json`` in place; one that has these bytes already is left alone."""
    data = sealed_json(content)
    path = layout.dataset_json
    if not (path.is_file() and path.read_bytes() == data):
        write_atomic(path, data, layout)


def extended(old: Mapping[str, Any], new: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the content for a folder that holds ``old`` and shall hold ``new`` as well.

    Parameters
    ----------
    old, new : mapping
        Contents of ``dataset.json``.
    path : Path
        Of ``dataset.json``, for the message.

    Raises
    ------
    SpecError
        If they differ in more than further samples and splits; names the first differing field
        and both values.
    """
    for field, before, after in differences(old, new):
        raise SpecError.single(
            f"this folder was made with {_shown(before)}, the spec now says {_shown(after)}",
            file=str(path),
            path=field,
            hint="generate into another folder, or remake what differs with --force; "
            "only more samples and more splits go on in the same folder",
        )
    return _joined(old, new)


def forced(old: Mapping[str, Any], new: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the content for a folder in which the splits of ``new`` are made anew.

    Splits of ``old`` that ``new`` does not name stay as they are.

    Raises
    ------
    SpecError
        If they cannot stay, because the root seed or the dataset version differs.
    """
    others = sorted(set(old["splits"]) - set(new["splits"]))
    for key in ("seed", "dataset_version"):
        if others and old.get(key) != new.get(key):
            raise SpecError.single(
                f"this folder was made with {old.get(key)}, the spec now says {new.get(key)}, and "
                f"its splits {', '.join(others)} are not named in this run",
                file=str(path),
                path=key,
                hint="name these with --splits too, so that --force makes them anew, or generate "
                "into another folder",
            )
    return _joined(old, new)


def _joined(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    both = {key: {**old[key], **new[key]} for key in ("splits", "fingerprints")}
    return {**new, **{key: dict(sorted(value.items())) for key, value in both.items()}}


def differences(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[str, object, object]]:
    """Yield dotted path, old and new value of all that keeps ``new`` from extending ``old``.

    Fields of the dataset come first (but for its summary and source, which decide nothing), then
    the splits in both, field by field; a fingerprint that differs though no field does speaks
    of recipe files.
    """
    # What merely describes may change, as with a newer version of a catalogue entry.
    left_out = {"splits", "fingerprints", "summary", "source"}
    yield from _diff("", _without(old, left_out), _without(new, left_out))
    for name in sorted(set(old["splits"]) & set(new["splits"])):
        before, after = old["splits"][name], new["splits"][name]
        path = f"splits.{name}"
        yield from _diff(path, _without(before, {"samples"}), _without(after, {"samples"}))
        if after["samples"] < before["samples"]:
            yield f"{path}.samples", before["samples"], after["samples"]
        yield from _diff(
            f"fingerprints.{name}", old["fingerprints"][name], new["fingerprints"][name]
        )


def changed_splits(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the splits of ``old`` of which nothing can be kept under ``new``.

    Those that ``new`` lacks, and those whose fingerprint or shard size differ.
    """
    before, after = entries(old), entries(new)
    return tuple(
        name
        for name, entry in before.items()
        if name not in after
        or entry.fingerprint != after[name].fingerprint
        or entry.shard_size != after[name].shard_size
    )


def _content_problems(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what keeps a content from being used: above all, split names become folders."""
    splits, fingerprints = content.get("splits"), content.get("fingerprints")
    if not isinstance(splits, Mapping) or not isinstance(fingerprints, Mapping):
        yield "'splits' and 'fingerprints' must be mappings"
        return
    if not isinstance(content.get("name"), str) or not isinstance(content.get("seed"), int):
        yield "'name' must be a string and 'seed' an integer"
    for name, document in splits.items():
        if not SPLIT_NAME.fullmatch(name) or name in RESERVED_SPLIT_NAMES:
            yield f"'{name}' is not the name of a split"
        elif not isinstance(document, Mapping) or not isinstance(fingerprints.get(name), str):
            yield f"split '{name}' has no description or no fingerprint"
        else:
            for key in ("samples", "shard_size"):
                if not isinstance(document.get(key), int) or document[key] < 1:
                    yield f"'{key}' of split '{name}' is {document.get(key)!r}"


def _without(mapping: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key not in names}


def _diff(path: str, old: object, new: object) -> Iterator[tuple[str, object, object]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            inner = f"{path}.{key}" if path else str(key)
            yield from _diff(inner, old.get(key, _ABSENT), new.get(key, _ABSENT))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, pair in enumerate(zip(old, new, strict=True)):
            yield from _diff(f"{path}[{place}]", *pair)
    elif old != new:
        yield path, old, new


def _shown(value: object) -> str:
    text = value if value == _ABSENT else json.dumps(value, ensure_ascii=False)
    shown = str(text)
    return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[: _SHOWN_CHARACTERS - 1]}…"
