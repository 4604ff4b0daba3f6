"""Some samples by name: ``test:17,test:40-44`` enters, indices by split leave; and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from robustclevr.errors import SpecError, suggest
from robustclevr.spec import SplitSpec

_PART = re.compile(r"(?P<split>[^:,]+):(?P<first>\d+)(?:-(?P<last>\d+))?")

Choice = Mapping[str, frozenset[int]]


def read_samples(text: str, splits: Iterable[SplitSpec]) -> Choice:
    """Read a choice of samples.

    Parameters
    ----------
    text : str
        ``SPLIT:INDEX`` or ``SPLIT:FIRST-LAST``, several with commas between.
    splits : iterable of SplitSpec
        That there are.

    Raises
    ------
    SpecError
        If it reads otherwise, or names a split or sample that there is not.
    """
    sizes = {split.name: split.samples for split in splits}
    chosen: dict[str, set[int]] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise _wrong(f"'{part.strip()}' names no sample", "write test:17 or test:40-44")
        split, first = match["split"], int(match["first"])
        last = int(match["last"] or first)
        if split not in sizes:
            raise _wrong(f"unknown split '{split}'", suggest(split, sizes))
        if not first <= last < sizes[split]:
            raise _wrong(f"'{part.strip()}' is not there", f"'{split}' has 0 to {sizes[split] - 1}")
        chosen.setdefault(split, set()).update(range(first, last + 1))
    return {split: frozenset(indices) for split, indices in chosen.items()}


def write_samples(samples: Iterable[tuple[str, int]]) -> str:
    """Return the text that :func:`read_samples` reads, as short as may be.

    Examples
    --------
    >>> write_samples([("test", 3), ("test", 1), ("test", 2), ("val", 7)])
    'test:1-3,val:7'
    """
    runs: list[tuple[str, int, int]] = []
    for split, index in sorted(set(samples)):
        if runs and runs[-1][0] == split and runs[-1][2] == index - 1:
            runs[-1] = (split, runs[-1][1], index)
        else:
            runs.append((split, index, index))
    return ",".join(
        f"{split}:{first}" if first == last else f"{split}:{first}-{last}"
        for split, first, last in runs
    )


def _wrong(message: str, hint: str) -> SpecError:
    return SpecError.single(message, file="--samples", hint=hint)
