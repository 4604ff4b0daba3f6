"""Renders stored samples again from their own records and compares pixels."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping

import numpy as np

from robustclevr.errors import RobustClevrError
from robustclevr.imaging import decode_png
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import Plan, from_json
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.run.samples import encode
from robustclevr.store.dataset import Dataset, Sample
from robustclevr.store.layout import sample_key
from robustclevr.store.receipts import read_receipt
from robustclevr.verify.report import REMAKE, CheckResult, Problem

TOLERANCE_LEVELS = 0.5
"""Allowed mean absolute difference of 8-bit images made on another processor, GPU or Blender.

Chosen: Blender 4.5 and 5.3 differ by 0.003 on average on one scene, so this is far above
rounding, and far below a corruption of severity 0.05.
"""


_CPU = "cpu"


def spread(count: int, available: int) -> list[int]:
    """Return ``count`` indices spread evenly over ``available`` samples.

    Examples
    --------
    >>> spread(3, 10), spread(5, 2)
    ([0, 3, 6], [0, 1])
    """
    count = min(count, available)
    return [number * available // count for number in range(count)]


class Comparison:
    """Gathers what differs between stored samples of a split and those made again.

    Parameters
    ----------
    dataset : Dataset
    split : str
    count : int
        Samples to make again, spread evenly; see :func:`spread`.
    """

    def __init__(self, dataset: Dataset, split: str, count: int) -> None:
        self._dataset, self._split = dataset, split
        self.indices = spread(count, dataset.split(split).samples)
        self._problems: list[Problem] = []
        self._notes: list[str] = []
        self._started = time.perf_counter()

    def add(self, index: int, difference: str, *, is_problem: bool) -> None:
        """Take a difference of one sample; one that is no problem becomes a note."""
        sample = f"{self._split}/{sample_key(index)}"
        if is_problem:
            tar = str(self._dataset.tar_of(self._split, index))
            self._problems.append(Problem(difference, file=tar, sample=sample, remedy=REMAKE))
        else:
            self._notes.append(f"{sample}: {difference}")

    def failed(self, error: Exception) -> None:
        """Take why no more samples could be made again."""
        what = f"samples of '{self._split}' cannot be made again: {type(error).__name__}: {error}"
        self._problems.append(Problem(what))

    def result(self) -> CheckResult:
        """Return what was gathered."""
        return CheckResult(
            "rerender",
            self._split,
            len(self.indices),
            tuple(self._problems),
            "; ".join(self._notes),
            time.perf_counter() - self._started,
        )


def check_rerender(
    dataset: Dataset,
    split: str,
    count: int,
    setup: RendererSetup,
    recipes: Mapping[str, LoadedRecipe],
) -> CheckResult:
    """Render ``count`` samples of a split again.

    Files must be byte-equal where the same Blender rendered them on a CPU without a denoiser.
    Otherwise pixels may differ by :data:`TOLERANCE_LEVELS` on average, and the note says so.
    """
    comparison = Comparison(dataset, split, count)
    try:
        with BlenderProcess(setup) as process:
            for index in comparison.indices:
                stored = dataset.sample(split, index)
                plan = from_json(Plan, stored.record["plan"])
                members = encode(plan, process.render(plan), recipes)
                again = Sample(split, stored.key, members)
                allowed = 0.0 if _must_be_equal(dataset, split, index, process) else None
                for name, difference in _differences(stored, again):
                    text, wrong = f"'{name}' {difference}", _is_problem(difference, allowed)
                    comparison.add(index, text, is_problem=wrong)
    except (RobustClevrError, KeyError, TypeError) as error:
        comparison.failed(error)
    return comparison.result()


class _Levels(float):
    """Mean absolute difference of two 8-bit images."""

    def __str__(self) -> str:
        return f"differs by {float(self):.4f} of 255 levels on average"


def _differences(stored: Sample, again: Sample) -> Iterator[tuple[str, _Levels | str]]:
    for name in sorted(set(stored.members) | set(again.members)):
        before, after = stored.members.get(name), again.members.get(name)
        if before == after:
            continue
        if before is None or after is None:
            yield name, "is only in one of the stored and the new sample"
        elif name.endswith(".png") and not name.endswith(".mask.png"):
            change = decode_png(after).astype(np.int16) - decode_png(before)
            yield name, _Levels(np.abs(change).mean())
        elif name == "json":
            yield name, f"differs in {_changed_keys(before, after)}"
        else:
            yield name, "is not byte-equal"


def _changed_keys(before: bytes, after: bytes) -> str:
    old, new = json.loads(before), json.loads(after)
    return ", ".join(sorted(key for key in {*old, *new} if old.get(key) != new.get(key)))


def _must_be_equal(dataset: Dataset, split: str, index: int, process: BlenderProcess) -> bool:
    """Tell whether the receipt of a sample promises the very bits that we render here."""
    shard = index // dataset.split(split).shard_size
    receipt = read_receipt(split, shard, dataset.layout)
    return (
        receipt is not None
        and not receipt.denoise
        and receipt.device == process.device == _CPU
        and receipt.versions.get("blender") == process.versions.get("blender")
    )


def _is_problem(difference: _Levels | str, allowed: float | None) -> bool:
    limit = TOLERANCE_LEVELS if allowed is None else allowed
    return not isinstance(difference, _Levels) or difference > limit
