"""Which values the parameters of a DAG can take: regions carried through its formulas.

Enters: a DAG, and values held by an intervention. Leaves: a region for every ``node.parameter``
and ``node.severity``. A drawn value always lies in it; what lies outside can never be drawn.
Dependence between the operands of a formula is not followed, so a region may be too wide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robustclevr.recipe import Recipe
from robustclevr.records import Value
from robustclevr.scm.distributions import LAWS, log_density, support, valid_arguments
from robustclevr.scm.intervals import FUNCTION_RULES, OPERATOR_RULES, quantile_rule
from robustclevr.scm.interventions import held_in, switched_on
from robustclevr.scm.operations import FUNCTIONS, OPERATORS
from robustclevr.scm.regions import (
    MAX_VALUES,
    Region,
    combine,
    may_be_false,
    may_be_true,
    of_values,
    outward,
    truths,
    union,
)
from robustclevr.scm.severity import parameters_of_severity, severity
from robustclevr.spec.expression import (
    Call,
    Expression,
    Name,
    Number,
    Operation,
    ParentValue,
    Quantile,
)
from robustclevr.spec.model import DagSpec, Distribution, NodeSpec

_ZERO = of_values([0.0])

_THERE_AND_BACK = 1e-9
"""By how much a severity may miss itself on the way through a curve to parameters and back.
Chosen: far above rounding on curves with slopes of a thousand, far below anything visible."""

Known = Mapping[str, Region]
"""Regions by name, or by ``node.field``."""


def dag_support(dag: DagSpec, held: Mapping[str, Value]) -> dict[str, Region]:
    """Return the region of every parameter that is a number or a yes or no.

    Parameters
    ----------
    dag : DagSpec
    held : mapping of str to Value
        Parameters that an intervention holds at a value.

    Returns
    -------
    dict of str to Region
        ``node.parameter``, ``node.severity`` and ``node.active``, in the order of the DAG.
    """
    known: dict[str, Region] = {}
    with np.errstate(all="ignore"):  # bounds at infinity, and what overflows to them
        for node in dag.nodes:
            for field, region in _node_support(node, known, held_in(node, held)).items():
                known[f"{node.id}.{field}"] = region
    return known


def noise_support(distribution: Distribution) -> Region:
    """Return the region of a noise variable: its values if they are few, else its hull."""
    hull = support(distribution)
    if hull.step is None or (hull.high - hull.low) / hull.step >= MAX_VALUES:
        return Region(hull.low, hull.high)
    count = round((hull.high - hull.low) / hull.step) + 1
    # k / n and not k * (1 / n): the very floats that are drawn.
    values = hull.low + np.arange(count) / round(1.0 / hull.step)
    with np.errstate(all="ignore"):  # log(0) of an impossible value
        return of_values(values[log_density(distribution, values) > -np.inf])


def region_of(expression: Expression, own: Known, parents: Known) -> Region:
    """Return a region that holds every value that a formula can take in a draw.

    Parameters
    ----------
    expression : Expression
    own : mapping of str to Region
        Noises of the node, and its parameters set so far.
    parents : mapping of str to Region
        By ``node.field``.
    """
    match expression:
        case Number(value):
            return of_values([value])
        case Name(name):
            return own[name]
        case ParentValue(node, field):
            return parents[f"{node}.{field}"]
        case Call("where", (condition, then, otherwise)):
            answer = region_of(condition, own, parents)
            taken = [then] * may_be_true(answer) + [otherwise] * may_be_false(answer)
            return union([region_of(branch, own, parents) for branch in taken])
        case Operation("and" | "or" as operator, operands):
            left, right = (region_of(operand, own, parents) for operand in operands)
            return _connective(operator, left, right)
        case Operation(operator, operands):
            regions = [region_of(operand, own, parents) for operand in operands]
            return combine(OPERATORS[operator], OPERATOR_RULES[operator], regions)
        case Call(function, operands):
            regions = [region_of(operand, own, parents) for operand in operands]
            return combine(FUNCTIONS[function], FUNCTION_RULES[function], regions)
        case Quantile():
            return _quantile(expression, own, parents)
    raise TypeError(f"not an expression: {expression!r}")


def _connective(operator: str, left: Region, right: Region) -> Region:
    if operator == "and":
        return truths(
            may_be_true=may_be_true(left) and may_be_true(right),
            may_be_false=may_be_false(left) or may_be_false(right),
        )
    return truths(
        may_be_true=may_be_true(left) or may_be_true(right),
        may_be_false=may_be_false(left) and may_be_false(right),
    )


def _quantile(expression: Quantile, own: Known, parents: Known) -> Region:
    law, names = expression.distribution, [name for name, _ in expression.arguments]

    def values(*columns: Any) -> Any:
        arguments = dict(zip(names, columns[:-1], strict=True))
        valid = valid_arguments(law, arguments) & (columns[-1] >= 0.0) & (columns[-1] <= 1.0)
        return np.where(valid, LAWS[law].quantile(columns[-1], arguments), np.nan)

    def hull(*regions: Region) -> Region:
        return quantile_rule(law, dict(zip(names, regions[:-1], strict=True)))

    formulas = [*(formula for _, formula in expression.arguments), expression.level]
    return combine(values, hull, [region_of(formula, own, parents) for formula in formulas])


def _node_support(node: NodeSpec, parents: Known, held: Mapping[str, Value]) -> dict[str, Region]:
    own = {item.name: noise_support(item.distribution) for item in node.noise}
    answer = of_values([1.0]) if node.when is None else region_of(node.when, own, parents)
    fields: dict[str, Region] = {}
    if may_be_true(answer):
        fields = _assigned(node, own, parents, held)
    if node.recipe is None:
        return fields | {"severity": of_values([0.0]), "active": of_values([1.0])}
    clean = {p.name: of_values([float(p.clean)]) for p in node.recipe.parameters if not p.choices}
    inactive = may_be_false(answer)
    fields = {
        name: union([fields[name], region])
        if name in fields and inactive
        else fields.get(name, region)
        for name, region in clean.items()
    }
    fields |= {name: _constant(value) for name, value in held.items() if name in clean}
    active = truths(may_be_true=may_be_true(answer), may_be_false=inactive)
    if switched_on(node, held):
        active = of_values([1.0])
    strength = _severity(node.recipe, fields)
    if node.severity is not None or node.recipe.curve is not None:
        low, high = strength.low - _THERE_AND_BACK, strength.high + _THERE_AND_BACK
        strength = Region(max(low, 0.0), min(high, 1.0))
    return fields | {"severity": strength, "active": active}


def _assigned(
    node: NodeSpec, noise: Known, parents: Known, held: Mapping[str, Value]
) -> dict[str, Region]:
    """Return the regions of what an active node sets."""
    fields: dict[str, Region] = {}
    for item in node.assignments:
        name = item.parameter
        if name in held or item.formula is None:
            value = held.get(name, item.literal)
            if value is None or isinstance(value, str):
                continue
            fields[name] = _constant(value)
        else:
            fields[name] = region_of(item.formula, {**noise, **fields}, parents)
            if node.recipe is not None and node.recipe.parameter(name).kind == "boolean":
                fields[name] = combine(OPERATORS["!="], OPERATOR_RULES["!="], [fields[name], _ZERO])
    if node.severity is not None and node.severity.formula is not None and node.recipe:
        level = region_of(node.severity.formula, {**noise, **fields}, parents)
        fields |= _parameters_of_severity(node.recipe, level)
    return fields


def _parameters_of_severity(recipe: Recipe, level: Region) -> dict[str, Region]:
    ends = [parameters_of_severity(recipe, np.asarray(end)) for end in (level.low, level.high)]
    regions = {}
    for name in ends[0]:
        low, high = sorted((float(ends[0][name]), float(ends[1][name])))
        regions[name] = outward(low, high)
    return regions


def _severity(recipe: Recipe, fields: Known) -> Region:
    """Return the region of a severity: it falls towards the clean value and rises from there."""
    named = {name: region for name, region in fields.items() if name in recipe.clean_parameters()}
    ends: list[dict[str, float]] = [{}, {}]
    for name, region in named.items():
        parameter = recipe.parameter(name)
        clean = float(parameter.clean)
        near = min(max(clean, region.low), region.high)
        low, high = (
            min(max(end, parameter.low), parameter.high) for end in (region.low, region.high)
        )
        far = region.low if abs(low - clean) > abs(high - clean) else region.high
        ends[0][name], ends[1][name] = near, far
    low, high = (
        float(severity(recipe, {name: np.asarray(value) for name, value in end.items()}))
        for end in ends
    )
    return Region(low, high)


def _constant(value: Value) -> Region:
    return of_values([float(value)])
