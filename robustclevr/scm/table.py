"""Draws by column: what a model gives for many samples, as arrays, records, CSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.recipe import Parameter, Recipe
from robustclevr.records import Draw, NodeDraw, Value

if TYPE_CHECKING:
    import pyarrow as pa

FloatArray = NDArray[np.float64]

_TOGETHER = 8
_IN_PARAMETERS = "log_density.in_parameters"  # no parameter can have this name


@dataclass(frozen=True, eq=False)
class NodeColumns:
    """One node of n samples; every array is read-only and of shape (n,).

    Attributes
    ----------
    recipe : Recipe or None
        None for a latent node.
    active : ndarray of bool
        False where ``when`` is false: clean parameters, severity 0.
    parameters : mapping of str to ndarray
        As drawn, before clamping: float64, bool for boolean and str for enumerated parameters.
    severity : ndarray of float64
        In [0, 1].
    noise : mapping of str to ndarray of float64
        Also where the branch taken does not read it.
    log_density : ndarray of float64
        Of the node given its parents: of its parameters, or of the noise that the branch taken
        reads. [nat]
    in_parameters : ndarray of bool
        Which of the two: True where every noise that is read enters one parameter, once and
        invertibly, so that ``log_density`` is exact in the parameters.
    """

    recipe: Recipe | None
    active: NDArray[np.bool_]
    parameters: Mapping[str, NDArray[Any]]
    severity: FloatArray
    noise: Mapping[str, FloatArray]
    log_density: FloatArray
    in_parameters: NDArray[np.bool_]

    def readable(self, node: str) -> dict[tuple[str, str], NDArray[Any]]:
        """Return what a formula below may read, by (node, field)."""
        result = {(node, name): column for name, column in self.parameters.items()}
        return result | {(node, "severity"): self.severity, (node, "active"): self.active}

    def with_stored(self, node: str, columns: Mapping[str, NDArray[Any]]) -> NodeColumns:
        """Return the node with other columns, by the names of :meth:`DrawTable.stored`."""
        return NodeColumns(
            recipe=self.recipe,
            active=columns[f"{node}.active"],
            parameters={name: columns[f"{node}.{name}"] for name in self.parameters},
            severity=columns[f"{node}.severity"],
            noise={name: columns[f"{node}.noise.{name}"] for name in self.noise},
            log_density=columns[f"{node}.log_density"],
            in_parameters=columns[f"{node}.{_IN_PARAMETERS}"],
        )

    def draw(self, row: int) -> NodeDraw:
        """Return one row as a record, with numbers as Python's own."""
        kinds = {parameter.name: parameter for parameter in _parameters(self.recipe)}
        values: dict[str, Value] = {}
        clamped: dict[str, Value] = {}
        for name, column in self.parameters.items():
            values[name] = _value(column[row], kinds.get(name))
            if name in kinds and kinds[name].clamp(values[name]) != values[name]:
                clamped[name] = kinds[name].clamp(values[name])
        return NodeDraw(
            active=bool(self.active[row]),
            parameters=values,
            severity=float(self.severity[row]),
            noise={name: float(column[row]) for name, column in self.noise.items()},
            log_density=float(self.log_density[row]),
            clamped=clamped,
            density_of="parameters" if self.in_parameters[row] else "noise",
        )


@dataclass(frozen=True, eq=False)
class DrawTable:
    """n samples of a structural causal model.

    Attributes
    ----------
    index : ndarray of int64, shape (n,)
        Sample indices.
    nodes : mapping of str to NodeColumns
        In the order of the DAG, latent nodes included.
    log_density : ndarray of float64, shape (n,)
        Sum over the nodes. [nat]
    interventions : mapping of str to str
        What was intervened on, and with what; the same for all rows.
    """

    index: NDArray[np.int64]
    nodes: Mapping[str, NodeColumns]
    log_density: FloatArray
    interventions: Mapping[str, str]

    def __len__(self) -> int:
        return self.index.size

    def draw(self, row: int) -> Draw:
        """Return row ``row`` (not sample ``row``) as a record."""
        return Draw(
            index=int(self.index[row]),
            nodes={node: columns.draw(row) for node, columns in self.nodes.items()},
            log_density=float(self.log_density[row]),
            interventions=dict(self.interventions),
        )

    def draws(self) -> Iterator[Draw]:
        """Yield every row as a record."""
        return (self.draw(row) for row in range(len(self)))

    def take(self, rows: NDArray[np.intp]) -> DrawTable:
        """Return the given rows, in the given order."""
        return self.with_stored({name: _take(c, rows) for name, c in self.stored().items()})

    def readable(self) -> dict[tuple[str, str], NDArray[Any]]:
        """Return what a formula may read of other nodes, by (node, field)."""
        result: dict[tuple[str, str], NDArray[Any]] = {}
        for node, columns in self.nodes.items():
            result |= columns.readable(node)
        return result

    def stored(self) -> dict[str, NDArray[Any]]:
        """Return all that a row consists of: :meth:`columns`, and what no file has."""
        exact = {f"{n}.{_IN_PARAMETERS}": part.in_parameters for n, part in self.nodes.items()}
        return self.columns(noise=True) | exact

    def with_stored(self, columns: Mapping[str, NDArray[Any]]) -> DrawTable:
        """Return a table of the same model with other columns, which become read-only."""
        for column in columns.values():
            column.flags.writeable = False
        return DrawTable(
            index=columns["index"],
            nodes={name: part.with_stored(name, columns) for name, part in self.nodes.items()},
            log_density=columns["log_density"],
            interventions=self.interventions,
        )

    def columns(self, *, noise: bool) -> dict[str, NDArray[Any]]:
        """Return all columns under their names in files, without a copy.

        Parameters
        ----------
        noise : bool
            Include ``<node>.noise.<name>``.

        Returns
        -------
        dict of str to ndarray, shape (n,)
            ``index``; per node ``<node>.<parameter>``, ``<node>.severity``, ``<node>.active``,
            ``<node>.noise.<name>``, ``<node>.log_density``; ``log_density``.
        """
        result: dict[str, NDArray[Any]] = {"index": self.index}
        for node, columns in self.nodes.items():
            result |= {f"{node}.{name}": column for name, column in columns.parameters.items()}
            result[f"{node}.severity"] = columns.severity
            result[f"{node}.active"] = columns.active
            if noise:
                result |= {f"{node}.noise.{name}": c for name, c in columns.noise.items()}
            result[f"{node}.log_density"] = columns.log_density
        result["log_density"] = self.log_density
        return result

    def to_arrow(self, *, noise: bool, interventions: bool) -> pa.Table:
        """Return the table for pyarrow.

        Parameters
        ----------
        noise : bool
            Include the noise.
        interventions : bool
            Add the column ``interventions``: the mapping as one JSON object.
        """
        from robustclevr.scm.files import arrow_table

        return arrow_table(self.columns(noise=noise), self.interventions if interventions else None)

    def write(self, path: Path | str, *, noise: bool = False, interventions: bool = False) -> None:
        """Write the table as CSV or Parquet, by the suffix of ``path``.

        Equal tables give equal bytes. Numbers in CSV read back to the same bits.

        Raises
        ------
        SpecError
            If the suffix is neither ``.csv`` nor ``.parquet``.
        StoreError
            If the file cannot be written; nothing is left behind then.
        """
        from robustclevr.scm.files import write

        write([self.to_arrow(noise=noise, interventions=interventions)], Path(path))


def concatenate(tables: Iterable[DrawTable], count: int | None = None) -> DrawTable:
    """Return the rows of tables of one model, below each other.

    Parameters
    ----------
    tables : iterable of DrawTable
        At least one. If there are many, each may be forgotten before the next is made.
    count : int, optional
        Number of rows of all of them; if it is not given, ``tables`` is read twice.

    Returns
    -------
    DrawTable
        A column with one value in all rows stays a view of that value.
    """
    if count is None:
        tables = list(tables)
        count = sum(map(len, tables))
    first: DrawTable | None = None
    columns: dict[str, NDArray[Any]] = {}
    memory = _Memory(count)
    done = 0
    for table in tables:
        if first is None or not len(first):
            first = table
        if len(table):
            for name, column in table.stored().items():
                columns[name] = _extend(columns.get(name), column, done, memory)
        done += len(table)
    if first is None:
        raise ValueError("there is no table to begin with")
    return first.with_stored(columns) if columns else first


class _Memory:
    """Makes columns of ``count`` rows, those of numbers eight at a time.

    Large blocks come in huge pages where the system has them, which halves the time that a table
    of a million rows takes to be written for the first time (measured on Linux 6).
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._free: list[NDArray[Any]] = []

    def column(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        if dtype != np.float64:
            return np.empty(self.count, dtype=dtype)
        if not self._free:
            self._free = list(np.empty((_TOGETHER, self.count)))
        return self._free.pop()


def _extend(
    whole: NDArray[Any] | None, part: NDArray[Any], done: int, memory: _Memory
) -> NDArray[Any]:
    """Put ``part`` behind the ``done`` rows of ``whole``; without a copy while all are equal."""
    count = memory.count
    if part.size == count:
        return part
    equal = part.strides == (0,)
    if whole is None and equal:
        return np.broadcast_to(part[:1].copy(), (count,))
    if whole is None:
        whole = memory.column(part.dtype)
    elif whole.strides == (0,):
        if equal and part[0] == whole[0]:
            return whole
        value, whole = whole[:1], memory.column(np.promote_types(whole.dtype, part.dtype))
        whole[:done] = value
    whole[done : done + part.size] = part
    return whole


def _take(column: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[Any]:
    if column.strides == (0,) and column.size:
        return np.broadcast_to(column[:1], rows.shape)
    return column[rows]


def _parameters(recipe: Recipe | None) -> tuple[Parameter, ...]:
    return () if recipe is None else recipe.parameters


def _value(item: Any, parameter: Parameter | None) -> Value:
    """Return a cell as a JSON-safe value; whole numbers of integer parameters as int."""
    if isinstance(item, np.bool_):
        return bool(item)
    if isinstance(item, np.str_):
        return str(item)
    number = float(item)
    whole = parameter is not None and parameter.kind == "integer" and number.is_integer()
    return int(number) if whole else number
