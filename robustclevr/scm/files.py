"""Tables of draws as files: CSV and Parquet, whole or not at all, equal bytes for equal tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from robustclevr.errors import SpecError, StoreError
from robustclevr.records import canonical_json


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


def write(data: pa.Table, path: Path) -> None:
    """Write a table as CSV or Parquet, by the suffix of ``path``.

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
            _WRITERS[path.suffix](data, part)
            part.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error


def _write_csv(data: pa.Table, path: Path) -> None:
    # pyarrow quotes the names of columns, which no reader of a spreadsheet expects of numbers.
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")
    with path.open("wb") as file:
        file.write(",".join(data.column_names).encode() + b"\n")
        pyarrow.csv.write_csv(data, file, options)


def _write_parquet(data: pa.Table, path: Path) -> None:
    # Every setting that reaches the bytes is named; the arrow schema would add nothing but bytes.
    pyarrow.parquet.write_table(
        data, path, version="2.6", compression="zstd", compression_level=3, store_schema=False
    )


_WRITERS: Mapping[str, Callable[[pa.Table, Path], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
