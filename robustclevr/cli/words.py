"""Numbers as a person says them."""

from __future__ import annotations

_STEPS = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0))


def duration(seconds: float) -> str:
    """Return a duration in the largest unit of which there are at least two, or one.

    Examples
    --------
    >>> duration(42), duration(90), duration(7_300), duration(200_000)
    ('42 s', '1.5 min', '2.0 h', '2.3 d')
    """
    for unit, length in _STEPS:
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"


def size(count: float) -> str:
    """Return a number of bytes in decimal units.

    Examples
    --------
    >>> size(512), size(1_500_000), size(2.5e12)
    ('512 B', '1.5 MB', '2.5 TB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def plural(count: int, noun: str) -> str:
    """Return ``"1 shard"`` or ``"2 shards"``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
