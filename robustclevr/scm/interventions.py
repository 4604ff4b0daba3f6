"""Changed mechanisms: parameters held at values (``do``), noises or formulas replaced (``shift``).

Enters: a DAG and changes by ``node.parameter`` or ``node.noise``. Leaves: values to hold, or
another DAG. Nothing is drawn here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from robustclevr.errors import SpecError
from robustclevr.records import Value
from robustclevr.spec.document import as_document
from robustclevr.spec.formula import parse_distribution
from robustclevr.spec.formula_entry import read_assignment
from robustclevr.spec.interventions import check_changes
from robustclevr.spec.model import Assignment, DagSpec, NodeSpec
from robustclevr.spec.target import Target, find_target, node_scope


def held_values(dag: DagSpec, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return checked values of a hard intervention, by ``node.parameter``.

    Raises
    ------
    SpecError
        If a node or parameter does not exist, or its kind does not take the value.
    """
    checked = check_changes("do", values, dag)
    return {name: value for name, value in checked.items() if isinstance(value, Value)}


def held_in(node: NodeSpec, held: Mapping[str, Value]) -> dict[str, Value]:
    """Return the part of ``held`` that concerns one node, by parameter."""
    start = f"{node.id}."
    return {name[len(start) :]: value for name, value in held.items() if name.startswith(start)}


def switched_on(node: NodeSpec, held: Mapping[str, Value]) -> bool:
    """Return whether held parameters make a node active whatever its ``when`` says."""
    clean = {} if node.recipe is None else node.recipe.clean_parameters()
    return any(name in clean and value != clean[name] for name, value in held.items())


def shifted_dag(dag: DagSpec, changes: Mapping[str, object]) -> tuple[DagSpec, dict[str, str]]:
    """Return the DAG with noises and formulas replaced, and what they were replaced with.

    Parameters
    ----------
    dag : DagSpec
    changes : mapping of str to object
        ``node.noise`` to the text of a distribution, ``node.parameter`` to a formula or literal.

    Raises
    ------
    SpecError
        If a name does not exist, a text is wrong, or a change changes nothing.
    """
    document = as_document({"shift": changes}, dag.file)
    texts: dict[str, str] = {}
    for name, value in check_changes("shift", changes, dag).items():
        path = f"shift.{name}"
        target = find_target(document, path, name, dag)
        if target is None:
            continue
        node = (
            _with_noise(target, str(value))
            if target.is_noise
            else _with_formula(target, value, dag)
        )
        if node == target.node:
            document.problem(path, f"'{value}' is what it was", "a shift must change something")
        dag = dataclasses.replace(
            dag, nodes=tuple(node if item.id == node.id else item for item in dag.nodes)
        )
        texts[name] = str(value).lower() if isinstance(value, bool) else str(value)
    document.raise_problems()
    return dag, texts


def _with_noise(target: Target, text: str) -> NodeSpec:
    distribution = parse_distribution(text)
    noise = tuple(
        dataclasses.replace(item, distribution=distribution, text=text)
        if item.name == target.name and item.distribution != distribution
        else item
        for item in target.node.noise
    )
    return dataclasses.replace(target.node, noise=noise)


def _with_formula(target: Target, value: object, dag: DagSpec) -> NodeSpec:
    document = as_document({}, dag.file)
    scope = node_scope(target, dag)
    new = read_assignment(document, target.path, value, target.parameter, scope=scope)
    document.raise_problems()
    if new is None:
        raise SpecError.single(f"'{value}' cannot be read", file=dag.file, path=target.path)
    old = {item.parameter: item for item in target.node.assignments}
    new = dataclasses.replace(new, parameter=target.name, line=target.node.line)
    if target.name in old:
        new = dataclasses.replace(new, line=old[target.name].line)
    if not _same_mechanism(old.get(target.name), new):
        old[target.name] = new
    return dataclasses.replace(target.node, assignments=tuple(old.values()))


def _same_mechanism(old: Assignment | None, new: Assignment) -> bool:
    return old is not None and (old.formula, old.literal) == (new.formula, new.literal)
