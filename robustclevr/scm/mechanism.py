"""One node for many samples: its noise and its parents in, its columns out.

This is f in x = f(parents, noise). It draws nothing, so the same function serves sampling,
interventions and counterfactuals.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import SamplingError
from robustclevr.records import Value
from robustclevr.scm.distributions import log_density
from robustclevr.scm.elementary import FloatArray
from robustclevr.scm.evaluate import Column, NotFiniteError, Rows, Scope, evaluate
from robustclevr.scm.interventions import switched_on
from robustclevr.scm.operations import number, truth
from robustclevr.scm.severity import parameters_of_severity, severity
from robustclevr.scm.table import NodeColumns
from robustclevr.spec.expression import Expression
from robustclevr.spec.model import Assignment, NodeSpec

Parents = Mapping[tuple[str, str], Column]
"""Columns that formulas may read, by (node, field)."""


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
    scope = Scope(dict(noise), frozenset(noise), parents)
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
    return NodeColumns(
        recipe=node.recipe,
        active=_full(np.ones((), dtype=np.bool_) if rows is None else rows, index.size),
        parameters={name: _full(column, index.size) for name, column in columns.items()},
        severity=_full(strength, index.size),
        noise=noise,
        log_density=_noise_density(node, noise, scope.reads, index.size),
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

    def condition(self) -> Rows:
        """Return where the node is active; None for a node without ``when``."""
        node = self._node
        if node.when is None:
            return None
        holds = truth(self._value(node.when, None, "when", node.when_text, node.line))
        return np.broadcast_to(holds, self._index.shape)

    def assignments(self, rows: Rows) -> tuple[dict[str, Column], Column | None]:
        """Return the parameters that the node sets, and the level of ``severity:`` if any."""
        values: dict[str, Column] = {}
        for assignment in self._node.assignments:
            held = self._fixed.get(assignment.parameter)
            value = self._assigned(assignment, rows) if held is None else np.asarray(held)
            values[assignment.parameter] = value
            self._scope.own[assignment.parameter] = value
        if self._node.severity is None or self._node.recipe is None:
            return values, None
        level = number(self._assigned(self._node.severity, rows))
        return values | parameters_of_severity(self._node.recipe, level), level

    def _assigned(self, assignment: Assignment, rows: Rows) -> Column:
        if assignment.formula is None:
            return np.asarray(assignment.literal)
        what = f"set.{assignment.parameter}"
        return self._value(assignment.formula, rows, what, assignment.text, assignment.line)

    def _value(
        self, formula: Expression | None, rows: Rows, what: str, text: str, line: int
    ) -> Column:
        if formula is None:
            raise ValueError(f"{what} of node '{self._node.id}' has no formula")
        try:
            return evaluate(formula, self._scope, rows)
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
        clean: Column = np.asarray(parameter.clean)
        value = values.get(parameter.name, clean)
        if parameter.kind in ("number", "integer"):
            value, clean = number(value), number(clean)
        elif parameter.kind == "boolean":
            value = truth(value)
        columns[parameter.name] = _select(rows, value, clean)
    return columns


def _held(node: NodeSpec, fixed: Mapping[str, Value]) -> dict[str, Column]:
    """Return the columns of held parameters, which no condition changes."""
    held = {name: np.asarray(value) for name, value in fixed.items()}
    if node.recipe is None:
        return {name: number(value) for name, value in held.items()}
    numeric = ("number", "integer")
    return {
        name: number(value) if node.recipe.parameter(name).kind in numeric else value
        for name, value in held.items()
    }


def _select(rows: Rows, value: Column, otherwise: Column) -> Column:
    return value if rows is None else np.where(rows, value, otherwise)


def _noise_density(
    node: NodeSpec, noise: Mapping[str, FloatArray], reads: Mapping[str, Rows], count: int
) -> FloatArray:
    total = np.zeros(count)
    for variable in node.noise:
        if variable.name in reads:
            density = log_density(variable.distribution, noise[variable.name])
            total += _select(reads[variable.name], density, np.zeros(()))
    return _full(total, count)


def _full(column: Column, count: int) -> Column:
    result = np.broadcast_to(column, (count,))  # no copy: most columns hold one clean value
    result.flags.writeable = False
    return result
