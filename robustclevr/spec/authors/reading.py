"""A file of the authors to its nodes; everything that is wrong is noted in the document.

What their code decides by chance once a graph (weights, some biases, the side of a centered
intervention) is drawn here from named streams of a seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from robustclevr import seeds
from robustclevr.errors import suggest
from robustclevr.records import Value
from robustclevr.spec.authors.corruptions import CORRUPTIONS, UNFINISHED, Corruption
from robustclevr.spec.authors.graph_reading import Parents, read_parents
from robustclevr.spec.authors.model import Constant, Driver, WeightedSum
from robustclevr.spec.authors.schema import (
    COMMON_KEYS,
    CONSTANT_KEYS,
    ROOT,
    WEIGHTED_KEYS,
    AuthorsFile,
    NodeEntry,
)
from robustclevr.spec.document import Document, join
from robustclevr.spec.schema import show, validate

_MAX_NODES, _MAX_EDGES = 200, 2000
"""Chosen: tens of times the authors' largest graph; merging nodes takes longer than linear time."""

_TYPES = {"ConstantNode": CONSTANT_KEYS, "WeightedSumNode": WEIGHTED_KEYS}


def read_drivers(document: Document, seed: int, note: Callable[[str], None]) -> list[Driver]:
    """Return the nodes of a file in its order.

    Parameters
    ----------
    document : Document
    seed : int
        Of the random numbers that the authors' code draws once a graph.
    note : callable
        Receives one sentence for everything that is mended.

    Raises
    ------
    SpecError
        With everything that is wrong with the file.
    """
    file = validate(AuthorsFile, document)
    for key in ("dag_generation_method", "edge_list", "node_list"):
        if not getattr(file, key) and key not in document.broken:
            document.problem(key, f"needs '{key}'", "is this a file of ndrenkow/robustclevr?")
    _check_size(document, file)
    parents = read_parents(document, file)
    drivers: list[Driver] = []
    for index, entry in enumerate(file.node_list):
        reader = _NodeReader(document, join("node_list", index), entry, seed, note)
        driver = reader.driver(parents)
        if driver is not None and any(driver.name == other.name for other in drivers):
            reader.problem("name", f"the name '{driver.name}' stands twice")
        elif driver is not None:
            drivers.append(driver)
    document.raise_problems()
    return drivers


def _check_size(document: Document, file: AuthorsFile) -> None:
    """Raise SpecError at once if a file is larger than anyone writes."""
    for key, most in (("node_list", _MAX_NODES), ("edge_list", _MAX_EDGES)):
        count = len(getattr(file, key))
        if count > most:
            document.problem(key, f"has {count} entries", f"at most {most} are read")
            document.raise_problems()


class _NodeReader:
    """Reads one entry of ``node_list``."""

    def __init__(
        self,
        document: Document,
        path: str,
        entry: NodeEntry,
        seed: int,
        note: Callable[[str], None],
    ) -> None:
        self._document, self._path, self._entry = document, path, entry
        self._seed, self._note = seed, note

    def problem(self, key: str, message: str, hint: str = "") -> None:
        """Note that one key is wrong."""
        self._document.problem(join(self._path, key), message, hint)

    def driver(self, parents: Parents) -> Driver | None:
        """Return the node, or None with the problems noted."""
        entry, before = self._entry, len(self._document.problems)
        self._check_keys()
        corruption = self._corruption()
        if entry.name == ROOT:
            self.problem("name", f"'{ROOT}' is the image itself", "choose another name")
        defaults = {} if corruption is None else self._defaults(corruption)
        if len(self._document.problems) > before or corruption is None:
            return None
        above = parents.get(str(entry.name), ())
        law = self._law(above)
        if law is None:
            return None
        function, parameter = str(entry.corruption_func), str(entry.parameter)
        if parameter in corruption.inert:
            why = corruption.inert[parameter]
            self._note(f"{entry.name}: {parameter} changes no pixel: {why}.")
        return Driver(str(entry.name), function, corruption, parameter, above, law, defaults)

    def _check_keys(self) -> None:
        entry, kind = self._entry, self._entry.type
        needed = (*COMMON_KEYS, *(_TYPES[kind] if kind else ()))
        for key in needed:
            if getattr(entry, key) is None:
                of = f" of type {kind}" if kind and key not in COMMON_KEYS else ""
                self.problem("", f"a node{of} needs '{key}'")
        if entry.corruption_type == "centered" and entry.standard is None:
            self.problem("", "corruption_type 'centered' needs 'standard'")
        others = {key for keys in _TYPES.values() for key in keys} - {*needed}
        for key in sorted(others & entry.model_fields_set if kind else ()):
            self.problem(key, f"a node of type {kind} has no '{key}'", "remove it")

    def _corruption(self) -> Corruption | None:
        name = self._entry.corruption_func
        if name in UNFINISHED:
            what = f"'{name}' is unfinished in the authors' code and has no recipe here"
            self.problem("corruption_func", what, f"there are: {', '.join(CORRUPTIONS)}")
        elif name is not None and name not in CORRUPTIONS:
            hint = suggest(name, CORRUPTIONS)
            self.problem("corruption_func", f"unknown corruption '{name}'", hint)
        elif name is not None:
            self._check_parameter(name, CORRUPTIONS[name])
            return CORRUPTIONS[name]
        return None

    def _check_parameter(self, name: str, corruption: Corruption) -> None:
        parameter = self._entry.parameter
        if parameter is not None and parameter not in corruption.parameters:
            what = f"'{name}' has no parameter '{parameter}' to set"
            self.problem("parameter", what, suggest(parameter, corruption.parameters))

    def _defaults(self, corruption: Corruption) -> dict[str, Value]:
        kept: dict[str, Value] = {}
        for key, value in self._entry.defaults.items():
            if self._may_stand(corruption, key, value) and key != self._entry.parameter:
                kept[key] = corruption.words.get(key, {}).get(str(value), value)
        return kept

    def _may_stand(self, corruption: Corruption, key: str, value: Any) -> bool:
        """Tell whether a default goes into the new file; note it where it does not."""
        path = join("defaults", key)
        if key not in corruption.known():
            what = f"'{self._entry.corruption_func}' has no parameter '{key}'"
            self.problem(path, what, suggest(key, corruption.known()))
        elif not isinstance(value, bool | int | float | str):
            self.problem(path, f"must be one value, got {show(value)}")
        elif value not in corruption.words.get(key, [value]):
            hint = suggest(str(value), corruption.words[key])
            self.problem(path, f"there is no recipe for {key}: {show(value)}", hint)
        elif value not in corruption.fixed.get(key, [value]):
            hint = f"the recipe '{corruption.recipe}' is always {corruption.fixed[key][0]}"
            self.problem(path, f"{key}: {show(value)} cannot be kept", hint)
        elif key in corruption.dropped:
            why = corruption.dropped[key]
            self._note(f"{self._entry.name}: {key} {show(value)} is left out: {why}.")
        return key in corruption.parameters

    def _law(self, above: tuple[str, ...]) -> Constant | WeightedSum | None:
        entry = self._entry
        if entry.type == "ConstantNode":
            law: Constant | WeightedSum | None = Constant(
                entry.render_value or 0.0, entry.severity_value or 0.0
            )
        else:
            law = self._weighted(above)
        return law if law is None or entry.intervene is None else self._intervened(law)

    def _weighted(self, above: tuple[str, ...]) -> WeightedSum | None:
        entry = self._entry
        low, high = entry.min_val or 0.0, entry.max_val or 0.0
        if not 0 < high - low < math.inf:
            self.problem("min_val", f"min_val {low:g} must be below max_val {high:g}")
            return None
        if not self._check_weights(above):
            return None
        return WeightedSum(
            low=low,
            high=high,
            beta_a=entry.beta_a or 1.0,
            beta_b=entry.beta_b or 1.0,
            bias=self._bias(),
            std=entry.std or 1.0,
            activation=entry.activation_type or "sigmoid",
            weights={parent: self._weight(parent) for parent in above},
            kind=entry.corruption_type or "increasing",
            standard=low if entry.standard is None else entry.standard,
        )

    def _check_weights(self, above: tuple[str, ...]) -> bool:
        written = self._entry.edge_weights
        if written is None or written.keys() == set(above):
            return True
        parents = ", ".join(above) or "none"
        what = f"gives weights of {', '.join(written) or 'none'}, but the parents are {parents}"
        self.problem("edge_weights", what)
        return False

    def _weight(self, parent: str) -> float:
        if self._entry.edge_weights is not None:
            return self._entry.edge_weights[parent]
        name = f"weight.{parent}.{self._entry.name}"
        return float(seeds.stream(self._seed, "import", name, 0).uniform(-1.0, 1.0))

    def _bias(self) -> float:
        bias = self._entry.bias
        if bias is True or bias == "random":
            drawn = float(
                seeds.stream(self._seed, "import", f"bias.{self._entry.name}", 0).normal()
            )
            if bias is True:
                self._note(
                    f"{self._entry.name}: bias true is a draw from Normal(0, 1), as their text "
                    f"says; their code takes it for the number 1."
                )
            return drawn
        return float(bias or 0.0)

    def _intervened(self, law: Constant | WeightedSum) -> Constant | None:
        change = self._entry.intervene
        if change is None or (change.severity_value is None and change.render_value is None):
            self.problem("intervene", "changes nothing", "give severity_value or render_value")
            return None
        severity, value = change.severity_value, change.render_value
        if value is None:
            value = self._value_of(law, severity or 0.0)
        if severity is None:
            severity = law.severity(value) if isinstance(law, WeightedSum) else law.severity
        if not 0.0 <= severity <= 1.0:
            what = f"render_value {show(value)} has severity {severity:g}, outside [0, 1]"
            self.problem("intervene", what, "choose one between min_val and max_val")
            return None
        self._note(
            f"{self._entry.name}: held at {value:g} by 'intervene', which their code reads "
            "and then ignores."
        )
        return Constant(value, severity)

    def _value_of(self, law: Constant | WeightedSum, severity: float) -> float:
        if isinstance(law, Constant):
            return float(law.value)
        stream = seeds.stream(self._seed, "import", f"sign.{self._entry.name}", 0)
        return law.value(severity, sign=int(stream.choice([-1, 1])))
