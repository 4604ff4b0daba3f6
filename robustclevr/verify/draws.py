"""Checks on draws: the stored values against the declared structural causal model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from robustclevr.errors import RobustClevrError
from robustclevr.plan import SplitDraws
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import Value, to_json
from robustclevr.spec import split_from_document
from robustclevr.store.dataset import Dataset
from robustclevr.verify.plans import differences
from robustclevr.verify.report import CheckResult

RELATIVE_TOLERANCE = 1e-12
"""Allowed relative difference of numbers that another processor may round differently."""


def check_draws(
    dataset: Dataset, split: str, recipes: Mapping[str, LoadedRecipe]
) -> CheckResult | None:
    """Draw a split again from ``dataset.json`` and compare it with ``draws.parquet``.

    Parameters
    ----------
    dataset : Dataset
    split : str
        A whole split.
    recipes : mapping of str to LoadedRecipe

    Returns
    -------
    CheckResult or None
        None for a split without a DAG.
    """
    entry = dataset.split(split)
    if entry.document.get("dag") is None:
        return None
    path = dataset.layout.draws(split)
    file = str(dataset.layout.dataset_json)
    try:
        spec = split_from_document(split, entry.document, recipes, file=file)
        draws = SplitDraws(spec, root_seed=dataset.content["seed"])
        expected = draws.table(0, entry.samples, held=_chosen(dataset, split))
        stored = pq.read_table(path)
        problems = []
        if spec.per == "frame":
            records = dataset.records(split)
            problems += [f"{split}/{problem}" for problem in frame_problems(records, draws)]
    except (RobustClevrError, OSError, pa.ArrowException, KeyError) as error:
        return CheckResult("draws", split, 0, (f"{path}: {type(error).__name__}: {error}",))
    columns = expected.columns(noise=True)
    problems += [
        f"{path}: has no column '{name}'" for name in columns if name not in stored.column_names
    ]
    for name, values in columns.items():
        if name in stored.column_names:
            column = stored.column(name).to_numpy(zero_copy_only=False)
            problems += _column_problems(name, column, values, str(path))
    return CheckResult("draws", split, entry.samples, tuple(problems))


def frame_problems(records: Iterable[Mapping[str, Any]], draws: SplitDraws) -> Iterator[str]:
    """Yield where the draw of a clip's frame, of which no table has more than the first, is wrong.

    Parameters
    ----------
    records : iterable of mapping
        Of every clip of a split whose frames have draws of their own.
    draws : SplitDraws
        Of this split.
    """
    for index, record in enumerate(records):
        due = [to_json(draws.draw(index, frame)) for frame in range(draws.frames)]
        for where, was, value in differences("frame_draws", record["plan"]["frame_draws"], due):
            yield f"{index:06d}: {where} is {was!r}, the model gives {value!r}"
            break


def _chosen(dataset: Dataset, split: str) -> list[Mapping[str, Value]] | None:
    """Return what each sample of a worst case holds its parameters at, as it was recorded."""
    if "worst_case" not in dataset.split(split).document:
        return None
    choices = [record["plan"]["choice"] for record in dataset.records(split)]
    return [choice["candidates"][choice["chosen"]] for choice in choices]


def _column_problems(
    name: str, stored: NDArray[Any], expected: NDArray[Any], path: str
) -> list[str]:
    if stored.shape != expected.shape:
        return [f"{path}: '{name}' has {len(stored)} rows, expected {len(expected)}"]
    if expected.dtype.kind == "f":
        equal = np.isclose(stored.astype(np.float64), expected, rtol=RELATIVE_TOLERANCE, atol=0)
    else:
        equal = stored.astype(expected.dtype) == expected
    wrong = np.flatnonzero(~equal)
    if not wrong.size:
        return []
    row = int(wrong[0])
    found = f"'{name}' of sample {row} is {stored[row]}, the model gives {expected[row]}"
    return [f"{path}: {found} ({wrong.size} of {len(expected)} rows differ)"]
