"""Checks on the table of draws: against the records, against the model, against its own noise."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from robustclevr.errors import RobustClevrError, StoreError
from robustclevr.plan import SplitDraws
from robustclevr.records import Value
from robustclevr.spec import SplitSpec
from robustclevr.store.dataset import Dataset
from robustclevr.store.receipts import file_sha256
from robustclevr.verify.marginals import Columns
from robustclevr.verify.report import REMAKE, CheckResult, Problem, placed

RELATIVE_TOLERANCE = 1e-12
"""Allowed relative difference of numbers that another processor may round differently."""

INDEX_AGAIN = "run 'robustclevr index', which makes the files of splits again from the shards"


def check_table(
    dataset: Dataset, split: str, rows: Sequence[pa.Table], digest: str | None
) -> CheckResult:
    """Compare ``draws.parquet`` with the records in the shards.

    Parameters
    ----------
    dataset : Dataset
    split : str
        A whole split.
    rows : sequence of pyarrow.Table
        Of its records, in order.
    digest : str or None
        sha256 that ``index.json`` says the file has. A damaged file is not read: nobody knows
        what a reader of Parquet makes of it.
    """
    started = time.perf_counter()
    path = dataset.layout.draws(split)
    problems: list[Problem] = []
    try:
        if digest is not None and file_sha256(path) != digest:
            raise StoreError("its sha256 is not the one in index.json")
        stored = pq.read_table(path)
    except (StoreError, OSError, pa.ArrowException, ValueError) as error:
        problems.append(Problem(f"cannot be read: {error}"))
    else:
        problems += _table_problems(stored, [table for table in rows if table.num_rows])
    return CheckResult(
        "table",
        split,
        sum(table.num_rows for table in rows),
        placed(problems, file=str(path), remedy=INDEX_AGAIN),
        seconds=time.perf_counter() - started,
    )


def check_draws(
    dataset: Dataset, split: str, spec: SplitSpec, columns: Columns
) -> tuple[CheckResult, ...]:
    """Compare the draws of a split with its model, and each row with its own noise.

    Parameters
    ----------
    dataset : Dataset
    split : str
        A whole split with a DAG.
    spec : SplitSpec
        Of it.
    columns : mapping of str to ndarray
        Of its draws, as the records have them.

    Returns
    -------
    tuple of CheckResult
        ``draws``: drawn again from the streams. ``recomputed``: parameters, severities,
        activities and log-densities that follow from the noise that is recorded.
    """
    entry, shown = dataset.split(split), str(dataset.layout.split(split))
    results = []
    held = _chosen(dataset, split)
    for name in ("draws", "recomputed"):
        started = time.perf_counter()
        problems: list[Problem] = []
        try:
            draws = SplitDraws(spec, root_seed=dataset.content["seed"])
            if name == "draws":
                due = draws.table(0, entry.samples, held=held)
                what = "the model draws"
            else:
                due = draws.recomputed(_noise_of(spec, columns), entry.samples, held=held)
                what = "follows from its noise"
            for column, values in due.columns(noise=True).items():
                problems += _column_problems(column, columns.get(column), values, split, what)
        except RobustClevrError as error:
            problems.append(Problem(str(error)))
        except KeyError as error:
            problems.append(Problem(f"the records have no noise {error}"))
        seconds = time.perf_counter() - started
        found = placed(problems, file=shown, remedy=REMAKE)
        results.append(CheckResult(name, split, entry.samples, found, seconds=seconds))
    return tuple(results)


def whole_columns(rows: Sequence[pa.Table]) -> Columns:
    """Return the columns that every shard has, below each other."""
    filled = [table for table in rows if table.num_rows]
    names = [name for name in filled[0].column_names if name != "interventions"] if filled else []
    return {
        name: np.concatenate([_array(table, name) for table in filled])
        for name in names
        if all(name in table.column_names for table in filled)
    }


def _noise_of(spec: SplitSpec, columns: Columns) -> dict[str, dict[str, NDArray[np.float64]]]:
    nodes = () if spec.dag is None else spec.dag.nodes
    return {
        node.id: {
            item.name: np.asarray(columns[f"{node.id}.noise.{item.name}"], np.float64)
            for item in node.noise
        }
        for node in nodes
    }


def _chosen(dataset: Dataset, split: str) -> list[Mapping[str, Value]] | None:
    """Return what each sample of a worst case holds its parameters at, as it was recorded."""
    if "worst_case" not in dataset.split(split).document:
        return None
    choices = [record["plan"]["choice"] for record in dataset.records(split)]
    return [choice["candidates"][choice["chosen"]] for choice in choices]


def _array(table: pa.Table, name: str) -> NDArray[Any]:
    return np.asarray(table.column(name).to_numpy(zero_copy_only=False))


def _table_problems(stored: pa.Table, rows: Sequence[pa.Table]) -> Iterator[Problem]:
    names = list(dict.fromkeys(name for table in rows for name in table.column_names))
    for name in sorted({*names} ^ {*stored.column_names}):
        state = "is missing" if name in names else "is in no record"
        yield Problem(f"column '{name}' {state}")
    count = sum(table.num_rows for table in rows)
    if stored.num_rows != count:
        yield Problem("number of rows", str(stored.num_rows), str(count))
        return
    for name in (name for name in names if name in stored.column_names):
        column, start = _array(stored, name), 0
        for table in rows:
            here = column[start : start + table.num_rows]
            start += table.num_rows
            wrong = np.flatnonzero(~_equal(here, _array(table, name)))
            if wrong.size:
                row = int(wrong[0])
                index = table.column("index")[row].as_py()
                due = f"{_array(table, name)[row]} as its record says"
                yield Problem(f"'{name}' of sample {index}", str(here[row]), due)
                break


def _equal(stored: NDArray[Any], due: NDArray[Any]) -> NDArray[np.bool_]:
    """Compare two columns; a column of words holds numbers as text, one of numbers truths."""
    if stored.dtype.kind == due.dtype.kind:
        return np.asarray(stored == due)
    if stored.dtype.kind == "O":
        return np.array([str(a) == str(b) for a, b in zip(stored, due, strict=True)], bool)
    return np.asarray(stored.astype(float) == due.astype(float))


def _column_problems(
    name: str, stored: NDArray[Any] | None, due: NDArray[Any], split: str, what: str
) -> Iterator[Problem]:
    if stored is None:
        yield Problem(f"the records have no column '{name}'")
        return
    if stored.shape != due.shape:
        yield Problem(f"number of rows of '{name}'", str(len(stored)), str(len(due)))
        return
    if due.dtype.kind == "f":
        equal = np.isclose(stored.astype(np.float64), due, rtol=RELATIVE_TOLERANCE, atol=0)
    else:
        equal = stored.astype(due.dtype) == due
    wrong = np.flatnonzero(~equal)
    if wrong.size:
        row = int(wrong[0])
        yield Problem(
            f"'{name}'",
            str(stored[row]),
            f"{due[row]}, which {what} ({wrong.size} of {len(due)} samples differ)",
            sample=f"{split}/{row:06d}",
        )
