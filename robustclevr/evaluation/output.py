"""Scores to files: ``scores.json`` and ``per_sample.csv``.

What is not defined is null in JSON and an empty cell in CSV; NaN is in neither.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from robustclevr.evaluation.bootstrap import COVERAGE
from robustclevr.evaluation.options import EvaluationOptions
from robustclevr.evaluation.severity import GRID, Curve
from robustclevr.evaluation.summary import Comparison, SetScores, Summary, label_scorers


def scores_json(
    summary: Summary,
    options: EvaluationOptions,
    *,
    dataset: str,
    comparison: Comparison | None = None,
) -> bytes:
    """Return ``scores.json``.

    Parameters
    ----------
    summary : Summary
    options : EvaluationOptions
    dataset : str
        Name of the dataset.
    comparison : Comparison, optional
    """
    content: dict[str, Any] = {
        "dataset": dataset,
        "splits": list(summary.by_split),
        "metrics": list(summary.metrics),
        "preset": options.preset,
        "rules": asdict(options.rules),
        "interval": COVERAGE,
        **_set(summary.whole),
        "by_variant": {name: _set(scores) for name, scores in summary.by_variant.items()},
        "by_split": {name: _set(scores) for name, scores in summary.by_split.items()},
        "by_severity": {node: _curves(of) for node, of in summary.curves.items()},
    }
    if "importance" in summary.metrics:
        content["importance"] = options.importance
    if comparison is not None:
        content["compare"] = _comparison(comparison)
    return json.dumps(_plain(content), indent=1, allow_nan=False).encode() + b"\n"


def per_sample_csv(summary: Summary, options: EvaluationOptions) -> bytes:
    """Return ``per_sample.csv``: one row a prediction, one column a score of label maps."""
    scorers = label_scorers(summary.metrics, options)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [name for scorer in scorers.values() for name in scorer.names]
    writer.writerow(["split", "index", "variant", "severity", "missing", *names])
    for row in summary.table.rows:
        values = [
            value
            for name, scorer in scorers.items()
            for value in scorer.scores(row.sums[name]).tolist()
        ]
        cells = [_cell(value) for value in (row.severity, int(row.missing), *values)]
        writer.writerow([row.split, row.index, row.variant, *cells])
    return text.getvalue().encode()


def _set(scores: SetScores) -> dict[str, Any]:
    return asdict(scores)


def _curves(by_group: Mapping[str, Curve]) -> dict[str, Any]:
    """Return the curves of a node: what they share, then each score."""
    first = next(iter(by_group.values()))
    scores = {
        name: {
            "mean": curve.mean[:, k],
            "low": curve.interval[0, :, k],
            "high": curve.interval[1, :, k],
            "smooth": curve.smooth[:, k],
            "area": curve.area[k],
            "area_interval": curve.area_interval[:, k],
        }
        for curve in by_group.values()
        for k, name in enumerate(curve.names)
    }
    return {
        "edges": first.edges,
        "count": first.count,
        "covered": first.covered,
        "severity": GRID,
        "scores": scores,
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "other": _set(comparison.other.whole),
        "difference": comparison.difference,
        "intervals": comparison.intervals,
        "by_variant": {
            name: {"difference": difference, "intervals": intervals}
            for name, (difference, intervals) in comparison.by_variant.items()
        },
        "by_severity": {node: _curves(of) for node, of in comparison.other.curves.items()},
    }


def _plain(value: Any) -> Any:
    """Return JSON data: arrays as lists, NaN as None."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _cell(value: float) -> str:
    return "" if math.isnan(value) else repr(value)
