"""Checks on a shard's tar: which samples it names, in which order, under which headers."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from robustclevr.verify.report import Problem

_HEADER = {"mode": 0o644, "mtime": 0, "uid": 0, "gid": 0, "uname": "", "gname": ""}
"""Of every member, so that equal samples are equal shards."""


def tar_problems(path: Path, keys: Sequence[str]) -> Iterator[Problem]:
    """Yield what is wrong with a tar's table of contents.

    Parameters
    ----------
    path : Path
    keys : sequence of str
        Of the samples that it must hold, in their order.
    """
    try:
        with tarfile.open(path, mode="r:") as tar:
            members = tar.getmembers()
    except (OSError, tarfile.TarError) as error:
        yield Problem(f"cannot be read as a tar: {error}")
        return
    for member in members:
        for name, due in _HEADER.items():
            if (found := getattr(member, name)) != due:
                yield Problem(f"{name} of member '{member.name}'", repr(found), repr(due))
        if not member.isreg():
            yield Problem(f"member '{member.name}' is no plain file")
    names = [tuple(member.name.split(".", 1)) for member in members]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        yield Problem(f"member '{'.'.join(twice)}' is there more than once")
    elif names != sorted(names):
        yield Problem("members are not in the order of their names")
    found_keys = list(dict.fromkeys(name[0] for name in names))
    if found_keys != list(keys):
        yield Problem("samples in this shard", _listed(found_keys), _listed(keys))


def _listed(keys: Sequence[str]) -> str:
    if len(keys) > 3:
        return f"{len(keys)} samples, {keys[0]} to {keys[-1]}"
    return ", ".join(keys) or "none"
