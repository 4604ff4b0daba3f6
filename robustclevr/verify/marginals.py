"""The values of a split against the distributions that its DAG declares.

Columns of a table of draws and the split's spec enter; columns that cannot be draws of the model
leave. Each noise is compared with its law, by scipy's distribution function; each parameter,
severity and activity, whose laws have no closed form, with many draws from a stream that no split
has. Both are made independently of the numbers that the split's own stream would give.

The measure is Kolmogorov's: the largest distance of two distribution functions. A bound on it
that n independent draws exceed with probability at most p holds for every n and every law,
discrete ones too: sqrt(log(2 / p) / (2 n)) [1]_. Two samples lie within the sum of their bounds.
Where m columns are compared, each gets the share :data:`FALSE_ALARM` / m.

References
----------
.. [1] P. Massart, The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality, Annals of
   Probability 18 (1990), 1269-1283.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.plan import SplitDraws
from robustclevr.spec import SplitSpec
from robustclevr.verify.laws import FloatArray, Law, law_of
from robustclevr.verify.report import Problem

FALSE_ALARM = 1e-6
"""Probability with which a correct dataset fails, whatever its size. Chosen."""

REFERENCE_DRAWS = 2**16
"""Of a model whose parameters are compared. Chosen: the reference's own bound is 0.013 then, below
that of a split of 20,000 samples."""

REFERENCE_DRAWS_REJECTED = 2**13
"""The same where most draws are rejected. Chosen: a tail of 1 % takes a million draws then."""

REFERENCE_STREAM = "reference of marginals"  # no split's name has a space

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Comparison:
    """One column and what it should be distributed as.

    Attributes
    ----------
    column : str
    values : ndarray of float64
        Of independent samples.
    law : Law or None
        Known distribution function; None where there is a reference.
    reference : ndarray of float64
        Draws of the same distribution; empty where there is a law.
    described : str
        The distribution in words.
    """

    column: str
    values: FloatArray
    law: Law | None
    reference: FloatArray
    described: str


def comparisons(columns: Columns, spec: SplitSpec, *, root_seed: int) -> Iterator[Comparison]:
    """Yield what can be compared in one split.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Of its table of draws, noise included; whole columns.
    spec : SplitSpec
    root_seed : int

    Notes
    -----
    A grid shows each scene at many points with one noise: only the rows of the first point are
    independent. Under ``given`` and ``tail`` the noise is conditioned too, so it is compared with
    the reference. Under ``ood`` and ``worst_case`` parameters are held at other values row by row
    or chosen by their images: there only the noise is compared, and what ``ood`` draws in its box.
    """
    changes: Mapping[str, Any] = spec.interventions
    base: Mapping[str, Any] = changes.get("twin_base", {})
    points = math.prod(len(values) for values in changes.get("grid", {}).values())
    rows = slice(None, None, points)
    rejected = "tail" in changes or "given" in changes or "given" in base
    shifted = {**base.get("shift", {}), **changes.get("shift", {})}
    noise = {} if rejected else dict(_noise_laws(spec, shifted, root_seed))
    for name, (law, text) in noise.items():
        if name in columns:
            yield Comparison(name, _numbers(columns[name][rows]), law, np.empty(0), text)
    for name, (low, high) in changes.get("ood", {}).items():
        if name in columns:
            values = (_numbers(columns[name]) - low) / (high - low)
            unit = Law(lambda x: np.clip(x, 0, 1), lambda x: np.clip(x, 0, 1))
            yield Comparison(name, values, unit, np.empty(0), f"uniform in [{low}, {high}]")
    if not {"ood", "worst_case"} & changes.keys():
        count = REFERENCE_DRAWS_REJECTED if rejected else REFERENCE_DRAWS
        yield from _by_reference(columns, rows, spec, root_seed, count, noise)


def marginal_problems(compared: list[Comparison], *, tests: int) -> Iterator[Problem]:
    """Yield the columns that cannot be draws of what they should be.

    Parameters
    ----------
    compared : list of Comparison
        Of one split.
    tests : int
        Number of comparisons in the whole dataset, among which :data:`FALSE_ALARM` is shared.
    """
    probability = FALSE_ALARM / max(tests, 1)
    for item in compared:
        if not item.values.size:
            continue
        if item.law is not None:
            distance = distance_to_law(item.values, item.law)
            allowed = bound(item.values.size, probability)
        else:
            distance = distance_of_samples(item.values, item.reference)
            # Either bound may be exceeded: each gets half of the probability.
            sizes = (item.values.size, item.reference.size)
            allowed = sum(bound(size, probability / 2) for size in sizes)
        if distance > allowed:
            yield Problem(
                f"largest distance of the distribution of '{item.column}' from {item.described}",
                f"{distance:.4f} over {item.values.size} samples",
                f"at most {allowed:.4f}, which a correct split exceeds with probability "
                f"{probability:.1g}",
            )


def bound(count: int, probability: float) -> float:
    """Return what Kolmogorov's distance of ``count`` draws to their law exceeds that rarely.

    Examples
    --------
    >>> round(bound(1000, 1e-8), 3)
    0.098
    """
    return math.sqrt(math.log(2.0 / probability) / (2.0 * count))


def distance_to_law(values: FloatArray, law: Law) -> float:
    """Return the largest distance of the empirical distribution function to a law's."""
    points, counts = np.unique(values, return_counts=True)
    up_to = np.cumsum(counts) / values.size
    before = up_to - counts / values.size
    above = np.abs(up_to - law.cdf(points)).max()
    return float(max(above, np.abs(before - law.below(points)).max()))


def distance_of_samples(values: FloatArray, reference: FloatArray) -> float:
    """Return the largest distance of two empirical distribution functions."""
    points = np.concatenate([values, reference])
    one, other = (
        np.searchsorted(np.sort(part), points, side="right") / part.size
        for part in (values, reference)
    )
    return float(np.abs(one - other).max())


def _noise_laws(
    spec: SplitSpec, shifted: Mapping[str, Any], root_seed: int
) -> Iterator[tuple[str, tuple[Law, str]]]:
    """Yield column, law and text of each noise, soft interventions included."""
    if spec.dag is None:
        return
    dag = SplitDraws(spec, root_seed=root_seed).dag if shifted else spec.dag
    for node in dag.nodes:
        for item in node.noise:
            yield f"{node.id}.noise.{item.name}", (law_of(item.distribution), item.text)


def _by_reference(
    columns: Columns,
    rows: slice,
    spec: SplitSpec,
    root_seed: int,
    count: int,
    known: Mapping[str, object],
) -> Iterator[Comparison]:
    kept = {key: value for key, value in spec.interventions.items() if key != "twin_of"}
    grid: Mapping[str, list[Any]] = kept.pop("grid", {})  # type: ignore[assignment]
    if grid:
        first = {name: values[0] for name, values in grid.items()}
        kept["do"] = {**dict(kept.get("do", {})), **first}  # type: ignore[call-overload]
    other = replace(spec, name=REFERENCE_STREAM, interventions=kept, per="clip")
    drawn = SplitDraws(other, root_seed=root_seed).table(0, count).columns(noise=True)
    for name, reference in drawn.items():
        # The density follows from the rest, and a column of words has no distance.
        if name == "index" or name in known or name.endswith("log_density"):
            continue
        if name in columns and reference.dtype.kind in "fiub":
            values = _numbers(columns[name][rows])
            yield Comparison(name, values, None, _numbers(reference), f"{count} draws of the model")


def _numbers(column: NDArray[Any]) -> FloatArray:
    return np.asarray(column, dtype=np.float64)
