"""Files that belong to a whole split: ``draws.parquet``, ``scenes.json`` and ``index.json``.

The records of a split enter in order of index; files whose bytes follow from the records alone
leave, each put in place at once. So they come out the same whichever machines rendered.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from robustclevr.records import canonical_json
from robustclevr.store.atomic import replacing, write_atomic
from robustclevr.store.jsonbytes import sealed_json, stable_json, unseal_json
from robustclevr.store.layout import Layout
from robustclevr.store.receipts import file_sha256

_CLEVR_VERSION = "1.0"  # version of the scenes file: clevr-dataset-gen render_images.py

Record = Mapping[str, Any]
SplitDigests = Mapping[str, str]
"""sha256 by file name in the split's folder."""


class DrawColumns:
    """Gathers the table of draws, one row a sample.

    Columns: ``index``; per node ``<node>.<parameter>``, ``<node>.severity``, ``<node>.active``,
    ``<node>.noise.<name>``, ``<node>.log_density``; then ``log_density`` and ``interventions``
    (a JSON object). A split without a DAG has ``index`` and ``interventions`` alone.
    """

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {}

    def add(self, record: Record) -> None:
        """Append the row of one sample."""
        for name, value in _draw_row(record).items():
            self._columns.setdefault(name, []).append(value)

    def to_arrow(self) -> pa.Table:
        """Return the table: numbers as float64, but ``index`` as int64."""
        arrays = {name: _array(name, values) for name, values in self._columns.items()}
        return pa.table(arrays)


def write_draws(table: pa.Table, split: str, layout: Layout) -> None:
    """Put ``draws.parquet`` in place, with settings that make its bytes follow from the table.

    One that has these bytes already is left alone.
    """
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", version="2.6", store_schema=False)
    _write_parts([sink.getvalue()], layout.draws(split), layout)


def write_scenes(scenes: Sequence[bytes], split: str, licence: str, layout: Layout) -> None:
    """Put the CLEVR-compatible ``scenes.json`` in place; one that has these bytes is left alone.

    Parameters
    ----------
    scenes : sequence of bytes
        Each scene as JSON, from :func:`scene_entry`, in order of index.
    split, licence : str
        For the file's ``info``.
    layout : Layout
    """
    # CLEVR also gives the day; it stays empty, so that equal datasets are equal files.
    info = {"date": "", "version": _CLEVR_VERSION, "split": split, "license": licence}
    parts = [b'{"info":' + stable_json(info).rstrip() + b',"scenes":[']
    for number, scene in enumerate(scenes):
        parts += [b",\n" if number else b"\n", scene]
    _write_parts([*parts, b"\n]}\n"], layout.scenes(split), layout)


def scene_entry(record: Record) -> bytes:
    """Return one sample's scene as JSON."""
    return stable_json(record["scene"]).rstrip()


def read_index(layout: Layout) -> dict[str, dict[str, str]]:
    """Return ``index.json``: per whole split the sha256 of each file; empty if there is none.

    Raises
    ------
    StoreError
        If the file was altered.
    """
    path = layout.index_json
    if not path.is_file():
        return {}
    splits: dict[str, dict[str, str]] = unseal_json(path.read_bytes(), path)["splits"]
    return splits


def write_index(splits: Mapping[str, SplitDigests], layout: Layout) -> None:
    """Put ``index.json`` in place, or remove it where no split is whole."""
    path = layout.index_json
    if not splits:
        path.unlink(missing_ok=True)
        return
    by_name = {split: dict(sorted(files.items())) for split, files in sorted(splits.items())}
    data = sealed_json({"splits": by_name})
    if not (path.is_file() and path.read_bytes() == data):
        write_atomic(path, data, layout)


def _write_parts(parts: Sequence[bytes], path: Path, layout: Layout) -> None:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    if path.is_file() and file_sha256(path) == digest.hexdigest():
        return
    with replacing(path, layout) as file:
        file.writelines(parts)


def _draw_row(record: Record) -> dict[str, Any]:
    row: dict[str, Any] = {"index": record["index"]}
    for node, drawn in record["nodes"].items():
        row |= {f"{node}.{name}": value for name, value in drawn["parameters"].items()}
        row |= {f"{node}.severity": drawn["severity"], f"{node}.active": drawn["active"]}
        row |= {f"{node}.noise.{name}": value for name, value in drawn["noise"].items()}
        row[f"{node}.log_density"] = drawn["log_density"]
    if record["log_density"] is not None:
        row["log_density"] = record["log_density"]
    row["interventions"] = canonical_json(record["interventions"]).decode().rstrip()
    return row


def _array(name: str, values: list[Any]) -> pa.Array:
    if name == "index":
        return pa.array(values, pa.int64())
    if any(isinstance(value, str) for value in values):
        return pa.array([str(value) for value in values], pa.string())
    if all(isinstance(value, bool) for value in values):
        return pa.array(values, pa.bool_())
    return pa.array([float(value) for value in values], pa.float64())
