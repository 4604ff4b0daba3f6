"""Rows to scores: of all, of each variant and split, against severity, beside another model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from robustclevr.errors import SpecError
from robustclevr.evaluation.bootstrap import bootstrap_rng, interval, resampled
from robustclevr.evaluation.boxes import (
    DETECTION_NAMES,
    IMPORTANCE_NAMES,
    detection_scores,
    importance_scores,
)
from robustclevr.evaluation.options import OF_BOXES, EvaluationOptions
from robustclevr.evaluation.scorers import Scorer, make_scorer
from robustclevr.evaluation.severity import Curve, severity_curve
from robustclevr.evaluation.table import Table
from robustclevr.metrics.overlap import FloatArray

Interval = tuple[float, float]


@dataclass(frozen=True)
class SetScores:
    """Scores of a set of predictions.

    Attributes
    ----------
    images, samples, missing : int
    aggregate : mapping of str to float
        nan where nothing defines a score.
    intervals : mapping of str to pair of float
        95 % of resampled sets lie between; nan for boxes and for a single sample.
    undefined : mapping of str to int
        Predictions that have no score of their own, by its name; those of boxes have none.
    """

    images: int
    samples: int
    missing: int
    aggregate: Mapping[str, float]
    intervals: Mapping[str, Interval]
    undefined: Mapping[str, int]


@dataclass(frozen=True)
class Summary:
    """All scores of one model.

    Attributes
    ----------
    table : Table
    metrics : tuple of str
    whole : SetScores
    by_variant, by_split : mapping of str to SetScores
    curves : mapping of str to mapping of str to Curve
        By node, then by group of scores.
    """

    table: Table
    metrics: tuple[str, ...]
    whole: SetScores
    by_variant: Mapping[str, SetScores]
    by_split: Mapping[str, SetScores]
    curves: Mapping[str, Mapping[str, Curve]]


@dataclass(frozen=True)
class Comparison:
    """One model beside another on the same samples.

    Attributes
    ----------
    other : Summary
    difference : mapping of str to float
        Score of the first less that of the other.
    intervals : mapping of str to pair of float
        Of the difference, samples resampled for both alike.
    by_variant : mapping of str to pair of such mappings
        Differences and intervals of each variant.
    """

    other: Summary
    difference: Mapping[str, float]
    intervals: Mapping[str, Interval]
    by_variant: Mapping[str, tuple[Mapping[str, float], Mapping[str, Interval]]]


def summarize(
    table: Table, metrics: tuple[str, ...], options: EvaluationOptions, *, seed: int
) -> Summary:
    """Score a table.

    Parameters
    ----------
    table : Table
        Not empty.
    metrics : tuple of str
        What was scored.
    options : EvaluationOptions
    seed : int
        Of the intervals.
    """

    def scored(part: Table) -> SetScores:
        return _set_scores(part, metrics, options, seed)

    by_variant = table.groups("variant")
    scorers = label_scorers(metrics, options)
    curves = {
        node: {
            name: severity_curve(
                scorer, part.sums(name), part.severity, bins=options.bins, seed=seed
            )
            for name, scorer in scorers.items()
        }
        for node, part in by_variant.items()
        if scorers and node != "clean" and not np.isnan(part.severity).any()
    }
    whole = scored(table)
    by_split = table.groups("split")
    return Summary(
        table=table,
        metrics=metrics,
        whole=whole,
        by_variant=_each(by_variant, whole, scored),
        by_split=_each(by_split, whole, scored),
        curves=curves,
    )


def compare(first: Summary, other: Summary, options: EvaluationOptions, *, seed: int) -> Comparison:
    """Set one model beside another.

    Raises
    ------
    SpecError
        If they were not scored on the same samples.
    """
    names = [[(row.split, row.index, row.variant) for row in s.table.rows] for s in (first, other)]
    if names[0] != names[1]:
        raise SpecError.single("the two were scored on different samples", file="--compare")
    variants = first.table.groups("variant"), other.table.groups("variant")
    return Comparison(
        other=other,
        difference=_differences(first.whole, other.whole),
        intervals=_paired(first.table, other.table, first.metrics, options, seed),
        by_variant={
            name: (
                _differences(first.by_variant[name], other.by_variant[name]),
                _paired(variants[0][name], variants[1][name], first.metrics, options, seed),
            )
            for name in variants[0]
        },
    )


def label_scorers(metrics: tuple[str, ...], options: EvaluationOptions) -> dict[str, Scorer]:
    """Return the scorers of label maps among the metrics."""
    return {name: make_scorer(name, options.rules) for name in metrics if name not in OF_BOXES}


def _each(
    parts: Mapping[str, Table], whole: SetScores, scored: Callable[[Table], SetScores]
) -> dict[str, SetScores]:
    """Score each part; a single part is the whole."""
    if len(parts) == 1:
        return dict.fromkeys(parts, whole)
    return {name: scored(part) for name, part in parts.items()}


def _set_scores(
    table: Table, metrics: tuple[str, ...], options: EvaluationOptions, seed: int
) -> SetScores:
    aggregate: dict[str, float] = {}
    intervals: dict[str, Interval] = {}
    undefined: dict[str, int] = {}
    for name, scorer in label_scorers(metrics, options).items():
        units = table.unit_sums(name)
        aggregate |= _named(scorer, scorer.scores(units.sum(axis=0)))
        intervals |= _intervals(scorer, _draws(scorer, units, options, seed))
        own = np.isnan(scorer.scores(table.sums(name))).sum(axis=0)
        undefined |= {key: int(n) for key, n in zip(scorer.names, own, strict=True) if n}
    boxes = _box_scores(table, metrics, options)
    return SetScores(
        images=len(table.rows),
        samples=table.samples,
        missing=table.missing,
        aggregate=aggregate | boxes,
        intervals=intervals | dict.fromkeys(boxes, (np.nan, np.nan)),
        undefined=undefined,
    )


def _box_scores(
    table: Table, metrics: tuple[str, ...], options: EvaluationOptions
) -> dict[str, float]:
    boxes = [row.boxes for row in table.rows if row.boxes is not None]
    found: dict[str, float] = {}
    if "detection" in metrics:
        scores = detection_scores(boxes)
        found |= {name: scores[name] for name in DETECTION_NAMES}
    if "importance" in metrics:
        scores = importance_scores(boxes, options.importance)
        found |= {name: scores[name] for name in IMPORTANCE_NAMES}
    return found


def _draws(scorer: Scorer, units: FloatArray, options: EvaluationOptions, seed: int) -> FloatArray:
    """Return the scores of resampled sets, shape (B, S); nan where there is nothing to resample."""
    if len(units) < 2:
        return np.full((1, len(scorer.names)), np.nan)
    return resampled(
        lambda weights: scorer.scores(weights @ units),
        len(units),
        options.resamples,
        rng=bootstrap_rng(seed),
    )


def _paired(
    first: Table, other: Table, metrics: tuple[str, ...], options: EvaluationOptions, seed: int
) -> dict[str, Interval]:
    found: dict[str, Interval] = {}
    for name, scorer in label_scorers(metrics, options).items():
        draws = [_draws(scorer, t.unit_sums(name), options, seed) for t in (first, other)]
        found |= _intervals(scorer, draws[0] - draws[1])
    return found


def _intervals(scorer: Scorer, draws: FloatArray) -> dict[str, Interval]:
    low, high = interval(draws)
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return dict(zip(scorer.names, ends, strict=True))


def _named(scorer: Scorer, scores: FloatArray) -> dict[str, float]:
    return dict(zip(scorer.names, scores.tolist(), strict=True))


def _differences(first: SetScores, other: SetScores) -> dict[str, float]:
    return {name: value - other.aggregate[name] for name, value in first.aggregate.items()}
