"""Scores as pictures: each variant beside the others, and curves over severity."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from robustclevr.evaluation.severity import GRID, Curve
from robustclevr.evaluation.summary import SetScores, Summary

HEADLINES: Mapping[str, str] = {
    "mot": "mota",
    "miou": "miou",
    "ari": "fg_ari",
    "classes": "fb_iou",
    "mse": "mse",
    "detection": "ap",
    "importance": "important_ap",
}
"""The score of each group that is drawn."""

_TITLES: Mapping[str, str] = {
    "mota": "MOTA",
    "miou": "mIoU",
    "fg_ari": "FG-ARI",
    "fb_iou": "FB-IoU",
    "mse": "MSE",
    "ap": "AP",
    "important_ap": "AP of important objects",
}
# The colors stay apart for people who do not tell red from green.
_COLORS = ("#1f5fa8", "#d0701c")
_GREY = "#b8b8b8"
_COLUMNS = 4
_PANEL_IN = (3.0, 2.5)  # chosen: four panels fill a page
_STABLE: Any = {"svg.hashsalt": "robustclevr", "svg.fonttype": "none", "font.size": 8}


def plots(models: Mapping[str, Summary]) -> dict[str, bytes]:
    """Draw the scores of one model, or of two beside each other.

    Parameters
    ----------
    models : mapping of str to Summary
        By the name that the legend shows; of the same dataset and metrics.

    Returns
    -------
    dict of str to bytes
        SVG files by name: ``scores.svg``; for a dataset with corruptions
        ``severity_<score>.svg`` for the headline of each group of scores of label maps.
    """
    first = next(iter(models.values()))
    drawn = {"scores.svg": _svg(_bars(models))}
    for group in first.metrics:
        if any(group in of for of in first.curves.values()):
            name = HEADLINES[group]
            drawn[f"severity_{name}.svg"] = _svg(_curves(models, group, name))
    return drawn


def _bars(models: Mapping[str, Summary]) -> Figure:
    """Draw one panel a headline, one bar a variant and model, with its interval."""
    first = next(iter(models.values()))
    names = [HEADLINES[group] for group in first.metrics]
    variants = list(first.by_variant)
    height = 0.8 + 0.22 * len(variants) * len(models)
    figure = Figure((1.5 + 2.6 * len(names), max(1.8, height)), layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        for number, (model, summary) in enumerate(models.items()):
            shift = (number - (len(models) - 1) / 2) * 0.8 / len(models)
            places = np.arange(len(variants)) + shift
            _draw_bars(axes, places, list(summary.by_variant.values()), name, number, model, models)
        axes.set_yticks(range(len(variants)), variants)
        axes.set_title(_TITLES[name])
        axes.grid(axis="x", color="#e4e4e4")
        axes.set_axisbelow(True)
    panels[0].invert_yaxis()
    if len(models) > 1:
        panels[0].legend()
    return figure


def _draw_bars(
    axes: Axes,
    places: Any,
    sets: Sequence[SetScores],
    name: str,
    number: int,
    model: str,
    models: Mapping[str, Summary],
) -> None:
    values = np.array([scores.aggregate[name] for scores in sets], np.float64)
    ends = np.array([scores.intervals[name] for scores in sets], np.float64)
    lengths = np.nan_to_num(np.abs(ends - values[:, np.newaxis])).T
    axes.barh(places, np.nan_to_num(values), 0.72 / len(models), color=_COLORS[number], label=model)
    axes.errorbar(np.nan_to_num(values), places, xerr=lengths, fmt="none", ecolor="#222222", lw=0.8)


def _curves(models: Mapping[str, Summary], group: str, name: str) -> Figure:
    """Draw one panel a node: bins with intervals, the smooth curve, how many images a bin has."""
    first = next(iter(models.values()))
    nodes = [node for node, of in first.curves.items() if group in of]
    columns = min(_COLUMNS, len(nodes))
    rows = math.ceil(len(nodes) / columns)
    size = (max(4.0, _PANEL_IN[0] * columns), _PANEL_IN[1] * rows + 0.4)
    figure = Figure(size, layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).reshape(-1)
    for axes, node in zip(panels, nodes, strict=False):
        _draw_counts(axes, first.curves[node][group])
        for number, (model, summary) in enumerate(models.items()):
            _draw_curve(axes, summary.curves[node][group], name, number, model)
        axes.set_title(node)
        axes.set_xlim(0, 1)
    for axes in panels[len(nodes) :]:
        axes.set_visible(False)
    figure.supxlabel("severity")
    figure.supylabel(_TITLES[name])
    panels[0].legend(loc="best", fontsize=7)
    return figure


def _draw_curve(axes: Axes, curve: Curve, name: str, number: int, model: str) -> None:
    k, color = curve.names.index(name), _COLORS[number]
    centres = (curve.edges[:-1] + curve.edges[1:]) / 2
    there = ~np.isnan(curve.mean[:, k])
    values, ends = curve.mean[there, k], curve.interval[:, there, k]
    lengths = np.nan_to_num(np.abs(ends - values))
    axes.errorbar(
        centres[there], values, yerr=lengths, fmt="o", ms=3, lw=0.8, color=color, alpha=0.7
    )
    label = f"{model}: area {curve.area[k]:.3f}"
    axes.plot(GRID, curve.smooth[:, k], color=color, lw=1.5, label=label)
    axes.legend(loc="best", fontsize=6)


def _draw_counts(axes: Axes, curve: Curve) -> None:
    """Draw the share of images in each bin behind the curves, on a scale of its own."""
    behind = axes.twinx()
    widths = np.diff(curve.edges)
    behind.bar(curve.edges[:-1], curve.count, widths, align="edge", color=_GREY, alpha=0.35)
    behind.set_ylim(0, max(1, int(curve.count.max())) * 4)
    behind.set_yticks([])
    axes.set_zorder(behind.get_zorder() + 1)
    axes.patch.set_visible(False)


def _svg(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    with mpl.rc_context(_STABLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
