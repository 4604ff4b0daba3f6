"""Conditioning on an event by bounded rejection.

Try 0 of a sample is its draw without the condition; try t takes the i-th number of another
stream. So an accepted sample does not depend on its neighbours, and a sample that fulfils the
condition anyway is left as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import SamplingError
from robustclevr.scm.evaluate import NotFiniteError, Scope, evaluate
from robustclevr.scm.operations import truth
from robustclevr.scm.table import DrawTable, concatenate
from robustclevr.spec.document import as_document
from robustclevr.spec.expression import Expression, Operation
from robustclevr.spec.formula_entry import read_formula
from robustclevr.spec.model import DagSpec
from robustclevr.spec.scope import Scope as NameScope
from robustclevr.spec.target import dag_fields

DEFAULT_TRIES = 10_000
"""Chosen: an event of probability 0.1 % is missed by one sample in 20,000."""

Redraw = Callable[[NDArray[np.int64], int], DrawTable]
"""``redraw(index, try)``: the given samples, drawn once more."""


@dataclass(frozen=True)
class Condition:
    """An event over the values of nodes.

    Attributes
    ----------
    formula : Expression
        True where the event holds.
    text : str
        As it was written.
    tries : int
        Bound on draws of one sample, >= 1.
    """

    formula: Expression
    text: str
    tries: int

    def also(self, other: Condition) -> Condition:
        """Return the condition that both hold, with the smaller bound."""
        both = Operation("and", (self.formula, other.formula))
        return Condition(both, f"({self.text}) and ({other.text})", min(self.tries, other.tries))


def read_condition(text: str, dag: DagSpec, tries: int) -> Condition:
    """Read a formula over ``node.parameter``, ``node.severity`` and ``node.active``.

    Raises
    ------
    SpecError
        If it is no formula, or names what the DAG does not have.
    """
    fields = dag_fields(dag)
    document = as_document({"given": text}, dag.file)
    names = NameScope("", {}, (), fields.keys(), fields)
    formula = read_formula(document, "given", text, names)
    if tries < 1:
        document.problem("given", f"the number of tries must be at least 1, got {tries}")
    document.raise_problems()
    if formula is None:
        raise ValueError("an unread formula without a problem")
    return Condition(formula, text, tries)


def holds(condition: Condition, table: DrawTable, file: str) -> NDArray[np.bool_]:
    """Return in which rows the condition holds, shape (n,).

    Raises
    ------
    SamplingError
        If the formula gives NaN or infinity in a row.
    """
    try:
        with np.errstate(all="ignore"):  # evaluate reports what is not finite
            result = evaluate(condition.formula, Scope({}, frozenset(), table.readable()))
    except NotFiniteError as error:
        raise SamplingError(
            f"{file}: given: '{condition.text}' gives no finite number in sample "
            f"{table.index[error.row]}: {error.operation}"
        ) from error
    return np.broadcast_to(truth(result), table.index.shape)


def reject(condition: Condition, first: DrawTable, redraw: Redraw, file: str) -> DrawTable:
    """Return ``first`` with the rows that miss the condition drawn again until they meet it.

    Raises
    ------
    SamplingError
        If a row misses it ``condition.tries`` times.
    """
    met = holds(condition, first, file)
    places, parts = [np.flatnonzero(met)], [first.take(np.flatnonzero(met))]
    missing = np.flatnonzero(~met)
    for attempt in range(1, condition.tries):
        if not missing.size:
            break
        again = redraw(first.index[missing], attempt)
        met = holds(condition, again, file)
        places.append(missing[met])
        parts.append(again.take(np.flatnonzero(met)))
        missing = missing[~met]
    if missing.size:
        raise SamplingError(
            f"{file}: given: '{condition.text}' held in none of {condition.tries} tries of sample "
            f"{first.index[missing[0]]}, and of {missing.size} of {len(first)} samples; "
            "loosen the condition, make it more likely with a shift, or allow more tries"
        )
    return concatenate(parts).take(np.argsort(np.concatenate(places)))
