"""One node for many samples: its noise and its parents in, its columns out.

This is f in x = f(parents, noise). It draws nothing, so the same function serves sampling,
interventions and counterfactuals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import SamplingError
from robustclevr.records import Value
from robustclevr.scm.density import node_density
from robustclevr.scm.elementary import FloatArray
from robustclevr.scm.evaluate import Column, NotFiniteError, Scope, Traced, trace
from robustclevr.scm.interventions import switched_on
from robustclevr.scm.operations import number, same_everywhere, select, truth
from robustclevr.scm.severity import parameters_of_severity, severity
from robustclevr.scm.slopes import Rows, Slope
from robustclevr.scm.table import NodeColumns
from robustclevr.spec.expression import Expression
from robustclevr.spec.model import Assignment, NodeSpec

Parents = Mapping[tuple[str, str], Column]
"""Columns that formulas may read, by (node, field)."""


_CONVERT: Mapping[str, Callable[[Column], Column]] = {
    "number": number,
    "integer": number,
    "boolean": truth,
    "choice": lambda column: column,
}
"""What a column of each kind of parameter holds."""


def run_node(
    node: NodeSpec,
    noise: Mapping[str, FloatArray],
    parents: Parents,
    index: NDArray[np.int64],
    file: str,
    fixed: Mapping[str, Value],
) -> NodeColumns:
    """Compute one node for all samples.

    Parameters
    ----------
    node : NodeSpec
    noise : mapping of str to ndarray of float64, shape (n,)
        Every noise of the node.
    parents : mapping of (node, field) to column
        Of the nodes above.
    index : ndarray of int64, shape (n,)
        Sample indices, for messages.
    file : str
        Of the DAG, for messages.
    fixed : mapping of str to Value
        Parameters that an intervention holds at a value. Their formulas are not evaluated, so
        they read no noise. A node that ``when`` switches off is active all the same if a
        parameter of its recipe is held at a value that is not the clean one.

    Raises
    ------
    SamplingError
        If a formula gives NaN or infinity where it counts; names file, line, parameter, sample
        and formula.
    """
    laws = {item.name: item.distribution for item in node.noise}
    scope = Scope(dict(noise), frozenset(noise), parents, laws)
    compute = _Formulas(node, scope, index, file, fixed)
    rows = compute.condition()
    values, level = compute.assignments(rows)
    columns = _columns(node, values, rows) | _held(node, fixed)
    if switched_on(node, fixed):
        rows = None
    if node.recipe is None:
        strength = np.zeros(())
    elif level is None or fixed:
        strength = severity(node.recipe, columns)
    else:
        strength = _select(rows, np.clip(level, 0.0, 1.0), np.zeros(()))
    density, in_parameters = node_density(node, noise, scope, compute.slopes)
    return NodeColumns(
        recipe=node.recipe,
        active=_full(np.ones((), dtype=np.bool_) if rows is None else rows, index.size),
        parameters={name: _full(column, index.size) for name, column in columns.items()},
        severity=_full(strength, index.size),
        noise=noise,
        log_density=_full(density, index.size),
        in_parameters=_full(in_parameters, index.size),
    )


class _Formulas:
    """Evaluates the formulas of one node and puts failures into words."""

    def __init__(
        self,
        node: NodeSpec,
        scope: Scope,
        index: NDArray[np.int64],
        file: str,
        fixed: Mapping[str, Value],
    ) -> None:
        self._node, self._scope, self._index, self._file = node, scope, index, file
        self._fixed = fixed
        self.slopes: list[Slope] = []

    def condition(self) -> Rows:
        """Return where the node is active; None for a node without ``when``."""
        node = self._node
        if node.when is None:
            return None
        holds = self._traced(node.when, None, "when", node.when_text, node.line)
        self._scope.lose(holds.slope)
        return np.broadcast_to(truth(holds.value), self._index.shape)

    def assignments(self, rows: Rows) -> tuple[dict[str, Column], Column | None]:
        """Return the parameters that the node sets, and the level of ``severity:`` if any."""
        values: dict[str, Column] = {}
        for assignment in self._node.assignments:
            name = assignment.parameter
            held = self._fixed.get(name)
            if held is None:
                value, slope = self._assigned(assignment, rows)
                self._keep(name, slope)
            else:
                value = np.asarray(held)
            values[name] = self._scope.own[name] = value
        if self._node.severity is None or self._node.recipe is None:
            return values, None
        level, slope = self._assigned(self._node.severity, rows)
        self._scope.lose(slope)  # severity is capped, and may set several parameters
        level = number(level)
        return values | parameters_of_severity(self._node.recipe, level), level

    def _keep(self, name: str, slope: Slope | None) -> None:
        recipe = self._node.recipe
        if slope is None:
            return
        if recipe is not None and recipe.parameter(name).kind == "boolean":
            self._scope.lose(slope)
        else:
            self.slopes.append(slope)

    def _assigned(self, assignment: Assignment, rows: Rows) -> Traced:
        if assignment.formula is None:
            return Traced(np.asarray(assignment.literal), None)
        what = f"set.{assignment.parameter}"
        return self._traced(assignment.formula, rows, what, assignment.text, assignment.line)

    def _traced(
        self, formula: Expression | None, rows: Rows, what: str, text: str, line: int
    ) -> Traced:
        if formula is None:
            raise ValueError(f"{what} of node '{self._node.id}' has no formula")
        try:
            return trace(formula, self._scope, rows)
        except NotFiniteError as error:
            raise SamplingError(
                f"{self._file}:{line}: {self._node.id}.{what.removeprefix('set.')}: '{text}' "
                f"gives no finite number in sample {self._index[error.row]}: {error.operation}; "
                "keep the formula finite there, with where(...) or clip(...)"
            ) from error


def _columns(node: NodeSpec, values: Mapping[str, Column], rows: Rows) -> dict[str, Column]:
    """Return every parameter, clean where it is not set or the node is not active."""
    if node.recipe is None:
        return {name: number(value) for name, value in values.items()}
    columns: dict[str, Column] = {}
    for parameter in node.recipe.parameters:
        convert = _CONVERT[parameter.kind]
        value = values.get(parameter.name)
        if value is None or rows is not None:
            clean = convert(np.asarray(parameter.clean))
            value = clean if value is None else _select(rows, convert(value), clean)
        columns[parameter.name] = convert(value)
    return columns


def _held(node: NodeSpec, fixed: Mapping[str, Value]) -> dict[str, Column]:
    """Return the columns of held parameters, which no condition changes."""
    held = {name: np.asarray(value) for name, value in fixed.items()}
    if node.recipe is None:
        return {name: number(value) for name, value in held.items()}
    kinds = {parameter.name: parameter.kind for parameter in node.recipe.parameters}
    return {name: _CONVERT[kinds[name]](value) for name, value in held.items()}


def _select(rows: Rows, value: Column, otherwise: Column) -> Column:
    return value if rows is None else select(rows, value, otherwise)


def _full(column: Column, count: int) -> Column:
    if column.ndim == 0:
        return same_everywhere(column, count)  # most columns hold one clean value
    column.flags.writeable = False
    return column
