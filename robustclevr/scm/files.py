"""Tables of draws as files: CSV and Parquet, whole or not at all, equal bytes for equal tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from robustclevr.errors import SpecError, StoreError
from robustclevr.records import canonical_json
from robustclevr.scm.table import DrawTable


def to_arrow(table: DrawTable, *, noise: bool, interventions: bool) -> pa.Table:
    """Return a table for pyarrow; see :meth:`DrawTable.to_arrow`."""
    columns = {name: pa.array(column) for name, column in table.columns(noise=noise).items()}
    if interventions:
        text = canonical_json(table.interventions).decode().strip()
        columns["interventions"] = pa.repeat(pa.scalar(text), len(table))
    return pa.table(columns)


def write(table: DrawTable, path: Path, *, noise: bool, interventions: bool) -> None:
    """Write a table; see :meth:`DrawTable.write`."""
    if path.suffix not in _WRITERS:
        raise SpecError.single(
            f"cannot write a table as '{path.suffix or path.name}'",
            file=str(path),
            hint=f"the suffix may be {' or '.join(_WRITERS)}",
        )
    if not path.parent.is_dir():
        raise SpecError.single("the folder does not exist", file=str(path.parent), hint="create it")
    data = to_arrow(table, noise=noise, interventions=interventions)
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
