"""Runs one check over every sample of a split; a broken sample is a problem, not an end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from robustclevr.errors import RobustClevrError
from robustclevr.records import from_json
from robustclevr.store.dataset import Dataset, Sample
from robustclevr.verify.report import CheckResult

AnyPlan = TypeVar("AnyPlan")


def check_each(
    dataset: Dataset,
    split: str,
    kind: type[AnyPlan],
    problems_of: Callable[[Sample, AnyPlan], Iterator[str]],
) -> CheckResult:
    """Check every sample of a split: its record must name it and hold a readable plan.

    Parameters
    ----------
    dataset : Dataset
    split : str
        A whole split.
    kind : type
        What its plans are.
    problems_of : callable
        Yields what else is wrong with a sample.
    """
    problems: list[str] = []
    count = 0
    seed = dataset.content["seed"]
    try:
        for count, sample in enumerate(dataset.samples(split), start=1):
            name = f"{split}/{sample.key}"
            found = sample_problems(sample, count - 1, seed, kind, problems_of)
            problems += [f"{name}: {problem}" for problem in found]
    except RobustClevrError as error:
        problems.append(str(error))
    return CheckResult("labels", split, count, tuple(problems))


def sample_problems(
    sample: Sample,
    index: int,
    seed: int,
    kind: type[AnyPlan],
    problems_of: Callable[[Sample, AnyPlan], Iterator[str]],
) -> Iterator[str]:
    """Yield what is wrong with the sample that should be number ``index``; see above."""
    try:
        record = sample.record
        named = (record["index"], record["split"], record["seed"])
        if named != (index, sample.split, seed):
            yield f"its record is of {named}, expected {(index, sample.split, seed)}"
        yield from problems_of(sample, from_json(kind, record["plan"]))
    except RobustClevrError as error:
        yield str(error)
    except (KeyError, TypeError, AttributeError) as error:
        yield f"its record is not one that this version reads: {type(error).__name__}: {error}"
