"""Samples that are there twice: within a split, and between splits.

What tells samples apart enters, one print a sample and kind; pairs that agree leave. Samples that
are meant to agree, such as twins and the points of a grid, have the same source.
"""

from __future__ import annotations

from collections.abc import Iterable

from robustclevr.store.layout import sample_key
from robustclevr.verify.examine import Print
from robustclevr.verify.report import Problem

_WORDS = {
    "picture": "the same picture, byte for byte",
    "scene": "the same scene",
    "noise": "the same noise",
}


class Duplicates:
    """Hears of every sample, and remembers some 150 bytes of each."""

    def __init__(self) -> None:
        self._first: dict[bytes, tuple[str, int, tuple[str, int]]] = {}
        self._pairs: dict[tuple[str, str], list[str]] = {}
        self.count = 0

    def add(self, split: str, prints: Iterable[Print]) -> None:
        """Take the prints of some samples of one split."""
        for item in prints:
            self.count += 1
            key = item.kind.encode() + item.digest
            known = self._first.setdefault(key, (split, item.index, item.source))
            if known[2] != item.source:
                pair = (_name(split, item.index), _name(*known[:2]))
                self._pairs.setdefault(pair, []).append(item.kind)

    def problems(self) -> tuple[Problem, ...]:
        """Return every pair of samples that agree and are not meant to."""
        return tuple(
            Problem(
                f"has {' and '.join(_WORDS[kind] for kind in kinds)} as {other}",
                sample=sample,
                remedy="a declared twin or grid may share these; else remove the shard and its "
                "receipt, then run the same 'generate' command again",
            )
            for (sample, other), kinds in self._pairs.items()
        )


def _name(split: str, index: int) -> str:
    return f"{split}/{sample_key(index)}"
