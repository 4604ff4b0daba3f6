"""What a split changes in its DAG: ``do``, ``shift``, ``given``, ``ood``, ``grid`` and the like.

All of it is checked against the DAG and leaves as plain data with one spelling: keys
``node.parameter``, never nested. Nothing is sampled here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from robustclevr.errors import suggest
from robustclevr.spec.dataset_schema import SplitFile, TailFile, WorstCaseFile
from robustclevr.spec.document import Document, as_document, join
from robustclevr.spec.formula_entry import (
    read_assignment,
    read_distribution,
    read_formula,
    read_literal,
)
from robustclevr.spec.model import DagSpec
from robustclevr.spec.schema import show
from robustclevr.spec.scope import Scope
from robustclevr.spec.target import Target, dag_fields, find_target, node_scope

EXCLUSIVE = ("tail", "ood", "grid", "worst_case")
"""At most one of these may stand in a split."""

KINDS = ("do", "shift", "given", "twin_of", *EXCLUSIVE)
"""Every key of a split that changes what is drawn."""


def grid_size(grid: object) -> int:
    """Return the number of points of a grid: the product of how many values each part has."""
    return math.prod(map(len, grid.values())) if isinstance(grid, Mapping) else 1


def read_interventions(
    document: Document, split: str, file: SplitFile, dag: DagSpec
) -> dict[str, object]:
    """Return the interventions of a split as plain data; what is wrong is noted.

    Parameters
    ----------
    document : Document
    split : str
        Name of the split.
    file : SplitFile
        The split as written.
    dag : DagSpec
    """
    reader = _Reader(document, join("splits", split), dag)
    found: dict[str, object] = {}
    for key, check in reader.checks().items():
        written = getattr(file, key)
        if written is not None:
            found[key] = reader.mapping(key, written, check)
    if file.given is not None:
        reader.given(file.given)
        found["given"] = file.given
    if file.tail is not None:
        found["tail"] = reader.tail(file.tail)
    if file.worst_case is not None:
        found["worst_case"] = reader.worst_case(file.worst_case)
    return found


def check_changes(key: str, written: Mapping[str, Any], dag: DagSpec) -> dict[str, object]:
    """Return what stands under ``do`` or ``shift`` with flat keys, from wherever it was read.

    Parameters
    ----------
    key : str
        ``do`` or ``shift``.
    written : mapping
        ``node.parameter`` to value, or nested.
    dag : DagSpec

    Raises
    ------
    SpecError
        All that does not fit the DAG; names ``dag.file``.
    """
    document = as_document({key: written}, dag.file)
    reader = _Reader(document, "", dag)
    found = reader.mapping(key, written, reader.checks()[key])
    document.raise_problems()
    return found


class _Reader:
    """Checks one split; every method notes what is wrong in the document."""

    def __init__(self, document: Document, path: str, dag: DagSpec) -> None:
        self._document, self._path, self._dag = document, path, dag

    def checks(self) -> Mapping[str, Callable[[Target, Any], None]]:
        """Return how a value is checked under each key that holds a mapping."""
        return {"do": self._do, "shift": self._shift, "ood": self._box, "grid": self._values}

    def mapping(
        self, key: str, written: Mapping[str, Any], check: Callable[[Target, Any], None]
    ) -> dict[str, object]:
        """Return ``written`` with flat keys, each value checked."""
        found: dict[str, object] = {}
        if not written:
            self._problem(key, "changes nothing", "write node.parameter: value")
        for path, name, value in _flat(join(self._path, key), written):
            target = find_target(self._document, path, name, self._dag)
            if target is None:
                continue
            if name in found:
                self._document.problem(path, f"'{name}' stands twice")
            found[name] = value
            check(target, value)
        return found

    def given(self, value: object) -> None:
        fields = dag_fields(self._dag)
        scope = Scope("", {}, (), fields.keys(), fields)
        read_formula(self._document, join(self._path, "given"), value, scope)

    def tail(self, file: TailFile) -> dict[str, object]:
        nodes = ["joint", *(node.id for node in self._dag.nodes)]
        if file.of not in nodes:
            self._problem("tail.of", f"there is no node '{file.of}'", suggest(file.of, nodes))
        self._require("tail", below=file.below)
        return {"of": file.of, "below": file.below}

    def worst_case(self, file: WorstCaseFile) -> dict[str, object]:
        self._require("worst_case", metric=file.metric, budget=file.budget, over=file.over)
        for index, name in enumerate(file.over):
            path = join(self._path, "worst_case.over", index)
            target = find_target(self._document, path, name, self._dag)
            if target is not None:
                self._is_number(target)
        return {"metric": file.metric, "over": list(file.over), "budget": file.budget}

    def _do(self, target: Target, value: object) -> None:
        if not self._is_parameter(target):
            return
        if target.kind == "choice" and target.parameter is not None:
            read_literal(self._document, target.path, value, target.parameter)
        elif target.kind == "boolean" and not isinstance(value, bool):
            self._document.problem(target.path, f"must be true or false, got {show(value)}")
        elif target.kind != "boolean" and not _is_real(value):
            hint = "a formula stands under 'shift'" if isinstance(value, str) else ""
            self._document.problem(target.path, f"must be a number, got {show(value)}", hint)

    def _shift(self, target: Target, value: object) -> None:
        if target.is_noise:
            read_distribution(self._document, target.path, value)
            return
        scope = node_scope(target, self._dag)
        read_assignment(self._document, target.path, value, target.parameter, scope=scope)

    def _box(self, target: Target, value: object) -> None:
        if not self._is_number(target):
            return
        pair = value if isinstance(value, list) else []
        if len(pair) != 2 or not all(map(_is_real, pair)) or not pair[0] < pair[1]:
            what = f"must be [low, high] with low < high, got {show(value)}"
            self._document.problem(target.path, what)

    def _values(self, target: Target, value: object) -> None:
        if not isinstance(value, list) or not value:
            self._document.problem(target.path, f"must be a list of values, got {show(value)}")
            return
        for item in value:
            self._do(target, item)

    def _is_parameter(self, target: Target) -> bool:
        if target.is_noise:
            what, hint = f"'{target.name}' is a noise", "a noise is replaced under 'shift'"
            self._document.problem(target.path, what, hint)
        return not target.is_noise

    def _is_number(self, target: Target) -> bool:
        if not self._is_parameter(target):
            return False
        if target.kind in ("choice", "boolean"):
            self._document.problem(target.path, f"'{target.name}' is not a number")
            return False
        return True

    def _require(self, key: str, **values: object) -> None:
        for name, value in values.items():
            lost = join(self._path, key, name) in self._document.broken
            if value in (None, []) and not lost:
                self._problem(key, f"needs '{name}'")

    def _problem(self, below: str, message: str, hint: str = "") -> None:
        self._document.problem(join(self._path, below), message, hint)


def _flat(path: str, written: Mapping[str, Any]) -> Iterable[tuple[str, str, Any]]:
    """Yield path, ``node.parameter`` and value of a mapping with flat or nested keys."""
    for key, value in written.items():
        if isinstance(value, dict):
            for inner, item in value.items():
                yield join(path, key, inner), f"{key}.{inner}", item
        else:
            yield join(path, key), key, value


def _is_real(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
