"""Rows to scores: of all, of each variant and split, against severity, beside another model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from robustclevr.errors import SpecError
from robustclevr.evaluation.bootstrap import bootstrap_rng, interval, resampled
from robustclevr.evaluation.boxes import BoxScorer, detection_scorer, importance_scorer
from robustclevr.evaluation.options import OF_BOXES, EvaluationOptions
from robustclevr.evaluation.scorers import Scorer, make_scorer
from robustclevr.evaluation.severity import Curve, severity_curve, weighted_curve
from robustclevr.evaluation.table import Table
from robustclevr.metrics.overlap import FloatArray

Interval = tuple[float, float]

# Chosen: boxes are counted anew for each resample, which takes milliseconds and not microseconds.
_BOX_RESAMPLES = 200
_BOX_CURVE_RESAMPLES = 50


@dataclass(frozen=True)
class SetScores:
    """Scores of a set of predictions.

    Attributes
    ----------
    images, samples, missing : int
    aggregate : mapping of str to float
        nan where nothing defines a score.
    intervals : mapping of str to pair of float
        95 % of resampled sets lie between; nan for a single sample.
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
    curves = {
        node: _node_curves(part, metrics, options, seed)
        for node, part in by_variant.items()
        if node != "clean" and not np.isnan(part.severity).any()
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


def box_scorers(
    table: Table, metrics: tuple[str, ...], options: EvaluationOptions
) -> dict[str, BoxScorer]:
    """Return the scorers of boxes among the metrics, for the images of a table."""
    boxes = [row.boxes for row in table.rows if row.boxes is not None]
    found = {}
    if "detection" in metrics:
        found["detection"] = detection_scorer(boxes)
    if "importance" in metrics:
        found["importance"] = importance_scorer(boxes, options.importance)
    return found


def _node_curves(
    table: Table, metrics: tuple[str, ...], options: EvaluationOptions, seed: int
) -> dict[str, Curve]:
    """Return the curves of a node's images, by group of scores."""
    severity = table.severity
    curves = {
        name: severity_curve(scorer, table.sums(name), severity, bins=options.bins, seed=seed)
        for name, scorer in label_scorers(metrics, options).items()
    }
    for name, boxes in box_scorers(table, metrics, options).items():
        curves[name] = weighted_curve(
            *(boxes.names, boxes.scores, severity),
            bins=options.bins,
            seed=seed,
            resamples=_BOX_CURVE_RESAMPLES,
        )
    return curves


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
        aggregate |= _named(scorer.names, scorer.scores(units.sum(axis=0)))
        intervals |= _intervals(scorer.names, _draws(scorer, units, options, seed))
        own = np.isnan(scorer.scores(table.sums(name))).sum(axis=0)
        undefined |= {key: int(n) for key, n in zip(scorer.names, own, strict=True) if n}
    for boxes in box_scorers(table, metrics, options).values():
        own = boxes.scores(np.ones((1, len(table.rows))))[0]
        aggregate |= _named(boxes.names, own)
        intervals |= _intervals(boxes.names, _box_draws(boxes, table, options, seed))
    return SetScores(
        images=len(table.rows),
        samples=table.samples,
        missing=table.missing,
        aggregate=aggregate,
        intervals=intervals,
        undefined=undefined,
    )


def _box_draws(
    scorer: BoxScorer, table: Table, options: EvaluationOptions, seed: int
) -> FloatArray:
    """Return the scores of resampled sets, shape (B, S), as :func:`_draws` does."""
    if table.samples < 2:
        return np.full((1, len(scorer.names)), np.nan)
    return resampled(
        lambda weights: scorer.scores(weights[:, table.units]),
        table.samples,
        min(options.resamples, _BOX_RESAMPLES),
        rng=bootstrap_rng(seed),
    )


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
        found |= _intervals(scorer.names, draws[0] - draws[1])
    both = [box_scorers(table, metrics, options) for table in (first, other)]
    for name in both[0]:
        draws = [
            _box_draws(scorers[name], table, options, seed)
            for scorers, table in zip(both, (first, other), strict=True)
        ]
        found |= _intervals(both[0][name].names, draws[0] - draws[1])
    return found


def _intervals(names: tuple[str, ...], draws: FloatArray) -> dict[str, Interval]:
    low, high = interval(draws)
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return dict(zip(names, ends, strict=True))


def _named(names: tuple[str, ...], scores: FloatArray) -> dict[str, float]:
    return dict(zip(names, scores.tolist(), strict=True))


def _differences(first: SetScores, other: SetScores) -> dict[str, float]:
    return {name: value - other.aggregate[name] for name, value in first.aggregate.items()}
