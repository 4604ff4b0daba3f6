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
from robustclevr.metrics import IOU_SWEEP

HEADLINES: Mapping[str, str] = {
    "mot": "mota",
    "miou": "miou",
    "ari": "fg_ari",
    "classes": "fb_iou",
    "sweep": "mota@0.5",
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
    "mota@0.5": "MOTA at IoU 0.5",
    "mse": "MSE",
    "ap": "AP",
    "important_ap": "AP of important objects",
}
# The colors stay apart for people who do not tell red from green.
_COLORS = ("#1f5fa8", "#d0701c")
_GREY = "#dcdcdc"
_COLUMNS = 4
_UNDEFINED = "undefined"
_ALONE = "a bin of one image: no interval"
_PANEL_IN = (3.0, 2.5)  # chosen: four panels fill a page
_STABLE: Any = {"svg.hashsalt": "robustclevr", "svg.fonttype": "none", "font.size": 8}


Models = Sequence[tuple[str, Summary]]
"""One or two models, each by the name that the legend shows; of one dataset and metrics."""


def plots(models: Models) -> dict[str, bytes]:
    """Draw the scores of one model, or of two beside each other.

    Parameters
    ----------
    models : sequence of pair of str and Summary
        As :data:`Models`.

    Returns
    -------
    dict of str to bytes
        SVG files by name: ``scores.svg``; for a dataset with corruptions
        ``severity_<score>.svg`` for the headline of each group of scores of label maps; for
        ``sweep`` ``iou_sweep.svg``.
    """
    first = models[0][1]
    drawn = {"scores.svg": _svg(_bars(models))}
    if "sweep" in first.metrics:
        drawn["iou_sweep.svg"] = _svg(_sweep(models))
    for group in first.metrics:
        if any(group in of for of in first.curves.values()):
            name = HEADLINES[group]
            drawn[f"severity_{name}.svg"] = _svg(_curves(models, group, name))
    return drawn


def _sweep(models: Models) -> Figure:
    """Draw MOTA of all predictions against the IoU from which on one may be of an object."""
    figure, (axes,) = _panels(1, 1, (4.0, 2.8), left_in=0.9)
    for number, (model, summary) in enumerate(models):
        names = [f"mota@{threshold}" for threshold in IOU_SWEEP]
        values = np.array([summary.whole.aggregate[name] for name in names])
        ends = np.array([summary.whole.intervals[name] for name in names])
        lengths = np.nan_to_num(np.abs(ends - values[:, np.newaxis])).T
        axes.errorbar(
            IOU_SWEEP, values, yerr=lengths, fmt="o-", ms=3, color=_COLORS[number], label=model
        )
    axes.set_xlabel("IoU of a match")
    axes.set_ylabel("MOTA")
    axes.grid(color="#e4e4e4")
    _legend(figure, axes)
    return figure


def _bars(models: Models) -> Figure:
    """Draw one panel a headline, one bar a variant and model, with its interval."""
    first = models[0][1]
    names = [HEADLINES[group] for group in first.metrics]
    variants = list(first.by_variant)
    height = 0.8 + 0.22 * len(variants) * len(models)
    figure, panels = _panels(1, len(names), (2.6, max(1.2, height)), left_in=1.3)
    for axes, name in zip(panels, names, strict=True):
        for number, (model, summary) in enumerate(models):
            shift = (number - (len(models) - 1) / 2) * 0.8 / len(models)
            places = np.arange(len(variants)) + shift
            _draw_bars(axes, places, list(summary.by_variant.values()), name, number, model, models)
        axes.set_yticks(range(len(variants)), variants if axes is panels[0] else [])
        axes.set_ylim(len(variants) - 0.5, -0.5)
        axes.set_title(_TITLES[name])
        axes.grid(axis="x", color="#e4e4e4")
        axes.set_axisbelow(True)
    if len(models) > 1:
        _legend(figure, panels[0])
    return figure


def _draw_bars(
    axes: Axes,
    places: Any,
    sets: Sequence[SetScores],
    name: str,
    number: int,
    model: str,
    models: Models,
) -> None:
    values = np.array([scores.aggregate[name] for scores in sets], np.float64)
    ends = np.array([scores.intervals[name] for scores in sets], np.float64)
    there = ~np.isnan(values)
    axes.barh(places[there], values[there], 0.72 / len(models), color=_COLORS[number], label=model)
    lengths = np.nan_to_num(np.abs(ends - values[:, np.newaxis]))[there].T
    axes.errorbar(values[there], places[there], xerr=lengths, fmt="none", ecolor="#222222", lw=0.8)
    for place in places[~there]:
        # Where a bar of 0 would end: a score that is not defined is not a score of 0.
        axes.annotate(
            _UNDEFINED,
            (0, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            color=_COLORS[number],
        )


def _curves(models: Models, group: str, name: str) -> Figure:
    """Draw one panel a node: bins with intervals, the smooth curve, how many images a bin has."""
    first = models[0][1]
    nodes = [node for node, of in first.curves.items() if group in of]
    columns = min(_COLUMNS, len(nodes))
    rows = math.ceil(len(nodes) / columns)
    figure, panels = _panels(rows, columns, _PANEL_IN, left_in=0.7)
    low, high = _range(
        [summary.curves[node][group] for _, summary in models for node in nodes], name
    )
    for axes, node in zip(panels, nodes, strict=False):
        _draw_counts(axes, first.curves[node][group])
        for number, (model, summary) in enumerate(models):
            _draw_curve(axes, summary.curves[node][group], name, number, model)
        axes.set_title(f"{node} ({_areas(models, node, group, name)})")
        axes.set_xlim(0, 1)
        axes.set_ylim(low, high)
    for axes in panels[len(nodes) :]:
        axes.set_visible(False)
    for axes in panels[-columns:]:
        axes.set_xlabel("severity")
    for axes in panels[::columns]:
        axes.set_ylabel(_TITLES[name])
    if any((first.curves[node][group].count == 1).any() for node in nodes):
        panels[0].plot([], [], "o", ms=3, mew=0.8, mfc="none", color="#444444", label=_ALONE)
    _legend(figure, panels[0])
    return figure


def _draw_curve(axes: Axes, curve: Curve, name: str, number: int, model: str) -> None:
    k, color = curve.names.index(name), _COLORS[number]
    centres = (curve.edges[:-1] + curve.edges[1:]) / 2
    there = ~np.isnan(curve.mean[:, k])
    alone = there & (curve.count == 1)
    several = there & ~alone
    values, ends = curve.mean[several, k], curve.interval[:, several, k]
    lengths = np.nan_to_num(np.abs(ends - values))
    axes.errorbar(
        centres[several], values, yerr=lengths, fmt="o", ms=3, lw=0.8, color=color, alpha=0.7
    )
    axes.plot(
        centres[alone], curve.mean[alone, k], "o", ms=3, mew=0.8, mfc="none", color=color, alpha=0.7
    )
    axes.plot(GRID, curve.smooth[:, k], color=color, lw=1.5, label=model)


def _draw_counts(axes: Axes, curve: Curve) -> None:
    """Draw how many images each bin has, at the foot of the panel: the fullest a quarter high."""
    heights = 0.25 * curve.count / max(1, int(curve.count.max()))
    axes.bar(
        curve.edges[:-1],
        heights,
        np.diff(curve.edges),
        align="edge",
        color=_GREY,
        transform=axes.get_xaxis_transform(),
        zorder=0,
    )


def _areas(models: Models, node: str, group: str, name: str) -> str:
    curves = [summary.curves[node][group] for _, summary in models]
    return " / ".join(f"{curve.area[curve.names.index(name)]:.3f}" for curve in curves)


def _range(curves: Sequence[Curve], name: str) -> tuple[float, float]:
    """Return the ends of the axis of a score: all that is drawn, and 0."""
    drawn = [
        part[..., curve.names.index(name)].reshape(-1)
        for curve in curves
        for part in (curve.mean, curve.interval, curve.smooth)
    ]
    values = np.append(np.concatenate(drawn), 0.0)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    space = 0.05 * (high - low) or 0.05
    return low - space, high + space


def _panels(
    rows: int, columns: int, panel_in: tuple[float, float], *, left_in: float
) -> tuple[Figure, Any]:
    """Return a figure of panels of one size; room is left for names at the left and a legend."""
    bottom, top, gap = 0.5, 0.6, 0.55  # inches
    width = left_in + columns * panel_in[0] + 0.15
    height = bottom + rows * panel_in[1] + top
    figure = Figure((width, height))
    panels = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    figure.subplots_adjust(
        left=left_in / width,
        right=1 - 0.15 / width,
        bottom=bottom / height,
        top=1 - top / height,
        wspace=0.45 / panel_in[0],
        hspace=gap / panel_in[1],
    )
    return figure, panels


def _legend(figure: Figure, axes: Axes) -> None:
    figure.legend(*axes.get_legend_handles_labels(), loc="upper right", ncols=2, frameon=False)


def _svg(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    with mpl.rc_context(_STABLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
