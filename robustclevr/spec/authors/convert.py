"""A file of the authors to a file of this project: the same model, formulas only.

Enters a path; leaves YAML text. What was mended stands in comments at its top.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from robustclevr.records import Value
from robustclevr.spec.authors.blocks import Block, Layout, lay_out, parents_of_all
from robustclevr.spec.authors.corruptions import OTHER_AXIS
from robustclevr.spec.authors.formulas import (
    literal,
    noise_of,
    severity_formula,
    value_formula,
)
from robustclevr.spec.authors.model import Driver, WeightedSum
from robustclevr.spec.authors.reading import read_drivers
from robustclevr.spec.graph import topological
from robustclevr.spec.reading import read_document

_WIDTH = 98  # columns of a comment; chosen: the line length of this project, less "# "


def import_dag(source: Path, *, seed: int) -> str:
    """Return the DAG file of this project for one in the authors' format.

    Parameters
    ----------
    source : Path
        YAML with ``edge_list`` and ``node_list``.
    seed : int
        Of what their code draws once a graph: the weights of the edges, uniform in (-1, 1), and
        random biases. A file that their code has saved has them written in it.

    Returns
    -------
    str
        YAML text; loads with :func:`robustclevr.spec.load_dag`.

    Raises
    ------
    SpecError
        With everything that is wrong with the file, each with its line; what their code passes
        over in silence is among it.
    """
    document = read_document(source)
    notes: list[str] = []
    drivers = read_drivers(document, seed, notes.append)
    layout = lay_out(drivers, notes.append)
    writer = _Writer(layout, {driver.name: driver for driver in drivers}, notes)
    nodes = writer.nodes()
    head = [
        "# Imported from a file in the format of ndrenkow/robustclevr (RobustCLEVR, WACV 2024).",
        *_weights_comment(drivers, seed),
        *_comments(notes),
        "summary: Imported from the format of RobustCLEVR's authors.",
        f"source: {_quoted(f'{source.name}, in the format of ndrenkow/robustclevr')}",
        "nodes:",
    ]
    return "\n".join([*head, *nodes]) + "\n"


class _Writer:
    """Writes the nodes in the order in which they are drawn."""

    def __init__(self, layout: Layout, drivers: dict[str, Driver], notes: list[str]) -> None:
        self._layout, self._drivers, self._notes = layout, drivers, notes

    def nodes(self) -> list[str]:
        """Return the lines of all nodes."""
        lines: dict[str, list[str]] = {}
        for block in self._layout.blocks:
            for name, latent in block.latents.items():
                lines[latent] = list(self._latent(latent, self._drivers[name]))
            lines[block.id] = list(self._block(block))
        order = topological(parents_of_all(self._layout))
        return [line for node in order for line in lines[node]]

    def _latent(self, latent: str, driver: Driver) -> Iterator[str]:
        yield f"  {latent}:"
        yield "    latent: true"
        yield from _parents(self._layout.latent_parents[driver.name])
        if isinstance(driver.law, WeightedSum):
            yield from ("    noise:", f"      e: {noise_of(driver.law)}")
        yield "    set:"
        yield f"      value: {value_formula(driver, 'e', self._severities(driver))}"

    def _block(self, block: Block) -> Iterator[str]:
        yield f"  {block.id}:"
        yield f"    recipe: {block.drivers[0].corruption.recipe}"
        yield from _parents(block.parents)
        drawn = [d for d in block.drivers if isinstance(d.law, WeightedSum) and not block.latents]
        if drawn:
            yield "    noise:"
        for driver in drawn:
            if isinstance(driver.law, WeightedSum):
                yield f"      e_{driver.sets}: {noise_of(driver.law)}"
        yield "    set:"
        for parameter, value in self._settings(block).items():
            yield f"      {parameter}: {value}"

    def _settings(self, block: Block) -> dict[str, str]:
        """Return every parameter that is set, driven ones first."""
        found: dict[str, str] = {}
        for driver in block.drivers:
            formula = self._formula(block, driver)
            if driver.sets in found:
                formula = f"max({found[driver.sets]}, {formula})"
                self._note_one_parameter(driver)
            found[driver.sets] = formula
        driven = set(found)
        for driver in block.drivers:
            self._note_other_axis(driver, block)
            for theirs, value in driver.defaults.items():
                ours = driver.corruption.parameters[theirs]
                if ours in driven:
                    self._note_default(driver, theirs, value, block)
                else:
                    found.setdefault(ours, literal(value))
        unset = block.drivers[0].corruption.unset
        return {**found, **{k: literal(v) for k, v in unset.items() if k not in found}}

    def _formula(self, block: Block, driver: Driver) -> str:
        if block.latents:
            return f"{block.latents[driver.name]}.value"
        return value_formula(driver, f"e_{driver.sets}", self._severities(driver))

    def _severities(self, driver: Driver) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in driver.parents:
            parent = self._drivers[name]
            latent = self._layout.block_of(name).latents.get(name)
            value = f"{self._layout.holders[name]}.{'value' if latent else parent.sets}"
            found[name] = severity_formula(parent.law, value)
        return found

    def _note_one_parameter(self, driver: Driver) -> None:
        recipe = driver.corruption.recipe
        self._notes.append(
            f"{driver.name}: {recipe} is the same along both axes and takes the larger value."
        )

    def _note_other_axis(self, driver: Driver, block: Block) -> None:
        other = OTHER_AXIS.get(driver.parameter)
        if other is None or any(one.parameter == other for one in block.drivers):
            return
        corruption = driver.corruption
        value = driver.defaults.get(other, corruption.unset.get(driver.sets, 0))
        self._notes.append(
            f"{driver.name}: {other} {literal(value)} is left out: the recipe "
            f"{corruption.recipe} is the same along both axes, here by {driver.parameter}."
        )

    def _note_default(self, driver: Driver, theirs: str, value: Value, block: Block) -> None:
        others = [d.name for d in block.drivers if d.parameter == theirs and d is not driver]
        if others:
            self._notes.append(
                f"{driver.name}: its default {theirs} {literal(value)} gives way to {others[0]}."
            )


def _parents(parents: Iterable[str]) -> Iterator[str]:
    listed = ", ".join(parents)
    if listed:
        yield f"    parents: [{listed}]"


def _weights_comment(drivers: Iterable[Driver], seed: int) -> list[str]:
    weighted = any(isinstance(d.law, WeightedSum) and d.law.weights for d in drivers)
    if not weighted:
        return []
    return [f"# Weights of edges are those of seed {seed}, or of the file where it gives them."]


def _comments(notes: Iterable[str]) -> Iterator[str]:
    found = [line for note in dict.fromkeys(notes) for line in _wrapped(_printable(note))]
    if found:
        yield "# Mended:"
    for line in found:
        yield f"# {line}"


def _wrapped(note: str) -> list[str]:
    return textwrap.wrap(note, _WIDTH, initial_indent="- ", subsequent_indent="  ")


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _quoted(text: str) -> str:
    """Return a YAML string; JSON's are YAML's too."""
    return json.dumps(_printable(text), ensure_ascii=False)
