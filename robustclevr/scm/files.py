"""Tables of draws as files: CSV and Parquet, whole or not at all, equal bytes for equal tables."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from robustclevr.errors import SpecError, StoreError
from robustclevr.records import canonical_json

ROWS_TOGETHER = 2**20
"""Rows of a group in a Parquet file: pyarrow's own number."""


def arrow_table(
    columns: Mapping[str, NDArray[Any]], interventions: Mapping[str, Any] | None = None
) -> pa.Table:
    """Return columns as a table of pyarrow.

    Parameters
    ----------
    columns : mapping of str to ndarray, shape (n,)
        By their names in files.
    interventions : mapping of str to object, optional
        JSON-safe. Where given, the column ``interventions`` says them as one JSON object a row.
    """
    data = pa.table({name: pa.array(column) for name, column in columns.items()})
    if interventions is None:
        return data
    text = canonical_json(interventions).decode().strip()
    return data.append_column("interventions", pa.repeat(pa.scalar(text), data.num_rows))


def write(tables: Iterable[pa.Table], path: Path) -> None:
    """Write tables, one below the other, as one file: CSV or Parquet, by the suffix of ``path``.

    Parameters
    ----------
    tables : iterable of pyarrow.Table
        At least one, with the same columns; each may be forgotten before the next is made. All
        but the last have :data:`ROWS_TOGETHER` rows, so that the bytes are those of one table.
    path : Path

    Raises
    ------
    SpecError
        If the suffix is neither ``.csv`` nor ``.parquet``, or there is no such folder.
    StoreError
        If the file cannot be written; nothing is left behind then.
    """
    if path.suffix not in _WRITERS:
        raise SpecError.single(
            f"cannot write a table as '{path.suffix or path.name}'",
            file=str(path),
            hint=f"the suffix may be {' or '.join(_WRITERS)}",
        )
    if not path.parent.is_dir():
        raise SpecError.single("the folder does not exist", file=str(path.parent), hint="create it")
    try:
        with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            part = Path(folder) / path.name
            _WRITERS[path.suffix](iter(tables), part)
            part.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error


def _write_csv(tables: Iterator[pa.Table], path: Path) -> None:
    # pyarrow quotes the names of columns, which no reader of a spreadsheet expects of numbers.
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")
    first = next(tables)
    with path.open("wb") as file:
        file.write(",".join(first.column_names).encode() + b"\n")
        for table in itertools.chain([first], tables):
            pyarrow.csv.write_csv(table, file, options)


def _write_parquet(tables: Iterator[pa.Table], path: Path) -> None:
    first = next(tables)
    # Every setting that reaches the bytes is named; the arrow schema would add nothing but bytes.
    with pyarrow.parquet.ParquetWriter(
        path,
        first.schema,
        version="2.6",
        compression="zstd",
        compression_level=3,
        store_schema=False,
    ) as writer:
        for table in itertools.chain([first], tables):
            writer.write_table(table.cast(first.schema), row_group_size=ROWS_TOGETHER)


_WRITERS: Mapping[str, Callable[[Iterator[pa.Table], Path], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
