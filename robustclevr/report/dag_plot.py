"""A DAG as a picture: SVG or PNG.

Enters: a DAG, what an intervention changes, a path. Leaves: a file. Boxes name the node, what it
applies, its noise and its formulas; latent nodes are dashed, changes red, cut edges crossed.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
from matplotlib.path import Path as Curve

from robustclevr.report.dag_boxes import Box, Changes, Edge, Line, Style, boxes, edges
from robustclevr.report.dag_layout import Layout, Point, Rectangle, lay_out
from robustclevr.scm.layers import generations
from robustclevr.spec.model import DagSpec

SUFFIXES = (".svg", ".png")

# In points, chosen by eye but for the first.
_EM = 0.625  # of a letter of DejaVu Sans Mono over its size: 0.602, and room for rounding
_FONT, _TITLE_FONT, _LINE, _PAD, _MARGIN, _HEAD = 9.0, 11.0, 13.0, 8.0, 18.0, 44.0
_ARROW, _CROSS = 6.5, 5.0
_MIN_WIDTH = 120.0
_DPI = 144  # twice the size of the text on paper: readable on a screen

_INK, _RED = "#222222", "#c0202a"
_COLORS: Mapping[Style, str] = {
    "title": _INK,
    "kind": "#6a6a6a",
    "when": "#7a4a00",
    "noise": "#1f5fa8",
    "set": _INK,
    "constant": "#8a8a8a",
    "changed": _RED,
}
_FAMILY = ["DejaVu Sans Mono", "monospace"]
_STABLE: Any = {
    "svg.fonttype": "none",  # text stays text: it can be searched and copied
    "svg.hashsalt": "robustclevr",  # the same DAG gives the same bytes
}


def plot_dag(dag: DagSpec, changes: Changes, suffix: str) -> bytes:
    """Draw a DAG.

    Parameters
    ----------
    dag : DagSpec
    changes : Changes
        Drawn in red; edges that nothing reads any more are crossed.
    suffix : str
        ``.svg`` or ``.png``.

    Returns
    -------
    bytes
        The file; equal for equal input.
    """
    texts, drawn = boxes(dag, changes), edges(dag, changes)
    sizes = {node: _size(box) for node, box in texts.items()}
    layout = lay_out(sizes, generations(dag), [(edge.parent, edge.child) for edge in drawn])
    title = _title(dag)
    needed = max((len(line.text) * _EM * _FONT for line in title), default=0.0)
    width = max(layout.width, needed) + 2 * _MARGIN
    height = layout.height + _HEAD + 2 * _MARGIN
    figure = Figure(figsize=(width / 72, height / 72), facecolor="white")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-_MARGIN, width - _MARGIN)
    axes.set_ylim(layout.height + _MARGIN, -_MARGIN - _HEAD)
    axes.axis("off")
    _draw_lines(axes, title, 0.0, -_HEAD)
    for edge in drawn:
        _draw_edge(axes, edge, layout)
    for node, box in texts.items():
        _draw_box(axes, box, layout.boxes[node])
    return _encode(figure, suffix)


def _title(dag: DagSpec) -> list[Line]:
    summary = [Line(dag.summary, "kind")] if dag.summary else []
    return [Line(dag.name, "title"), *summary]


def _size(box: Box) -> Point:
    widths = [
        len(line.text) * _EM * (_TITLE_FONT if line.style == "title" else _FONT)
        for line in box.lines
    ]
    width = max([*widths, _MIN_WIDTH - 2 * _PAD]) + 2 * _PAD
    return width, len(box.lines) * _LINE + 2 * _PAD


def _draw_box(axes: Axes, box: Box, place: Rectangle) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (place.x, place.y),
            place.width,
            place.height,
            boxstyle="round,pad=0,rounding_size=5",
            facecolor="#f4f4f4" if box.latent else "white",
            edgecolor=_RED if box.changed else _INK,
            linestyle=(0, (4, 3)) if box.latent else "solid",
            linewidth=1.6 if box.changed else 1.0,
            zorder=2,
        )
    )
    _draw_lines(axes, box.lines, place.x + _PAD, place.y + _PAD)


def _draw_lines(axes: Axes, lines: Sequence[Line], x: float, y: float) -> None:
    for number, line in enumerate(lines):
        title = line.style == "title"
        axes.text(
            x,
            y + (number + 0.5) * _LINE,
            line.text,
            color=_COLORS[line.style],
            fontsize=_TITLE_FONT if title else _FONT,
            fontweight="bold" if title else "normal",
            fontstyle="italic" if line.style == "kind" else "normal",
            verticalalignment="center",
            fontfamily=_FAMILY,
            parse_math=False,
            zorder=3,
        )


def _draw_edge(axes: Axes, edge: Edge, layout: Layout) -> None:
    points = layout.curves[edge.parent, edge.child]
    color = _RED if edge.cut else "#555555"
    x, y = points[-1]
    back = (x, y - _ARROW) if layout.vertical else (x - _ARROW, y)
    axes.add_patch(
        PathPatch(
            _curve([*points[:-1], back], vertical=layout.vertical),
            fill=False,
            edgecolor=color,
            linestyle=(0, (2, 2)) if edge.cut else "solid",
            linewidth=1.0,
            zorder=1,
        )
    )
    half = _ARROW / 2.4
    sides = [(-half, 0.0), (half, 0.0)] if layout.vertical else [(0.0, -half), (0.0, half)]
    corners = [points[-1], *((back[0] + dx, back[1] + dy) for dx, dy in sides)]
    axes.add_patch(Polygon(corners, closed=True, color=color, linewidth=0, zorder=1))
    if edge.cut:
        _draw_cross(axes, points)


def _curve(points: list[Point], *, vertical: bool) -> Curve:
    """Join the points: a line, an S-shaped curve, a line, and so on."""
    vertices, codes = [points[0]], [Curve.MOVETO]
    for number, (start, end) in enumerate(pairwise(points)):
        if number % 2 == 0:
            vertices.append(end)
            codes.append(Curve.LINETO)
            continue
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        if vertical:
            vertices += [(start[0], middle[1]), (end[0], middle[1]), end]
        else:
            vertices += [(middle[0], start[1]), (middle[0], end[1]), end]
        codes += [Curve.CURVE4] * 3
    return Curve(vertices, codes)


def _draw_cross(axes: Axes, points: list[Point]) -> None:
    """Cross an edge out in the middle of its first curve."""
    x, y = ((points[1][i] + points[2][i]) / 2 for i in (0, 1))
    for dx, dy in ((_CROSS, _CROSS), (_CROSS, -_CROSS)):
        axes.plot([x - dx, x + dx], [y - dy, y + dy], color=_RED, linewidth=2.0, zorder=4)


def _encode(figure: Figure, suffix: str) -> bytes:
    buffer = io.BytesIO()
    kind = suffix.removeprefix(".")
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context(_STABLE):
        figure.savefig(buffer, format=kind, dpi=_DPI, metadata=metadata)
    return buffer.getvalue()
