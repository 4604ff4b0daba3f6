"""Where boxes and edges of a drawing lie: generations in rows, or in columns if that is smaller.

Enters: sizes of boxes, generations, edges. Leaves: places. Everything is in points, x to the
right and y downwards, and follows Sugiyama's method: an edge that spans generations passes each
of those between in a lane of its own, so that none runs behind a box; within a generation, nodes
are sorted by the mean place of their neighbors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]
Pair = tuple[str, str]
"""Parent and child."""

_Lane = tuple[str, str, int]
_Key = str | _Lane
"""A node, or the lane of an edge (parent, child) in a generation."""

# In points, where not said otherwise; all chosen by eye.
_GAP = 22.0  # between boxes of a generation
_STEP = 46.0  # between generations
_LANE = 14.0  # breadth of a lane
_PORTS = 0.7  # part of a side that its edges are spread over
_COLUMNS_TO_ROWS = 0.75  # of the grid: a box is wider than high
_SWEEPS = 8  # the order of the shipped DAGs settles in three


@dataclass(frozen=True)
class Rectangle:
    """A box; x and y are those of its upper left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """A drawing without ink.

    Attributes
    ----------
    boxes : mapping of str to Rectangle
    curves : mapping of Pair to list of Point
        Per edge: a straight line, then an S-shaped curve, then a line, and so on to a line.
    width, height : float
    vertical : bool
        True where edges run downwards, False where they run to the right.
    """

    boxes: Mapping[str, Rectangle]
    curves: Mapping[Pair, list[Point]]
    width: float
    height: float
    vertical: bool


def lay_out(
    sizes: Mapping[str, Point], generations: Sequence[Sequence[str]], edges: Sequence[Pair]
) -> Layout:
    """Place boxes and edges.

    Parameters
    ----------
    sizes : mapping of str to (width, height)
    generations : sequence of sequences of str
        A child's generation is later than its parent's.
    edges : sequence of Pair

    Returns
    -------
    Layout
        Of the two directions, the one whose longer side is shorter; nodes without edges in a
        grid below.
    """
    connected = {end for edge in edges for end in edge}
    rows = [[node for node in row if node in connected] for row in generations]
    rows = [row for row in rows if row]
    alone = [node for row in generations for node in row if node not in connected]
    down = _Generations(sizes, rows, edges).layout()
    turned = {node: (height, width) for node, (width, height) in sizes.items()}
    right = _turn(_Generations(turned, rows, edges).layout())
    smaller = min(down, right, key=lambda layout: max(layout.width, layout.height))
    return _with_grid(smaller, {node: sizes[node] for node in alone})


class _Generations:
    """Rows from top to bottom; breadth is along x, depth along y."""

    def __init__(
        self, sizes: Mapping[str, Point], rows: Sequence[Sequence[str]], edges: Sequence[Pair]
    ) -> None:
        self._sizes: dict[_Key, Point] = {node: size for node, size in sizes.items()}  # noqa: C416 - other keys join
        self._rows: list[list[_Key]] = [list(row) for row in rows]
        self._paths: dict[Pair, list[_Key]] = {}
        level = {node: i for i, row in enumerate(rows) for node in row}
        for parent, child in edges:
            lanes: list[_Lane] = []
            for i in range(level[parent] + 1, level[child]):
                lanes.append((parent, child, i))
                self._rows[i].append(lanes[-1])
                self._sizes[lanes[-1]] = (_LANE, 0.0)
            self._paths[parent, child] = [parent, *lanes, child]

    def layout(self) -> Layout:
        self._sort()
        middle = self._middles()
        tops, bottoms = self._extents()
        boxes = {
            key: Rectangle(middle[key] - self._sizes[key][0] / 2, tops[i], *self._sizes[key])
            for i, row in enumerate(self._rows)
            for key in row
            if isinstance(key, str)
        }
        curves = self._curves(boxes, middle, tops, bottoms)
        right = [box.x + box.width for box in boxes.values()]
        lanes = [x for points in curves.values() for x, _ in points]
        return Layout(boxes, curves, max([*right, *lanes, 0.0]), max([*bottoms, 0.0]), True)  # noqa: FBT003

    def _sort(self) -> None:
        """Sort each row by the mean place of its neighbors, to and fro."""
        neighbors: dict[_Key, list[_Key]] = {key: [] for row in self._rows for key in row}
        for path in self._paths.values():
            for above, below in pairwise(path):
                neighbors[above].append(below)
                neighbors[below].append(above)
        for _ in range(_SWEEPS):
            middle = self._middles()
            for row in self._rows:
                wanted = {
                    key: sum(middle[n] for n in neighbors[key]) / len(neighbors[key]) for key in row
                }
                row.sort(key=lambda key, wanted=wanted: wanted[key])  # type: ignore[misc]
                middle = self._middles()

    def _middles(self) -> dict[_Key, float]:
        """Return x of every box and lane; rows are centered on each other."""
        breadths = [
            sum(self._sizes[key][0] for key in row) + _GAP * (len(row) - 1) for row in self._rows
        ]
        widest = max(breadths, default=0.0)
        middle: dict[_Key, float] = {}
        for row, breadth in zip(self._rows, breadths, strict=True):
            x = (widest - breadth) / 2
            for key in row:
                middle[key] = x + self._sizes[key][0] / 2
                x += self._sizes[key][0] + _GAP
        return middle

    def _extents(self) -> tuple[list[float], list[float]]:
        tops, bottoms, y = [], [], 0.0
        for row in self._rows:
            tops.append(y)
            bottoms.append(y + max(self._sizes[key][1] for key in row))
            y = bottoms[-1] + _STEP
        return tops, bottoms

    def _curves(
        self,
        boxes: Mapping[str, Rectangle],
        middle: Mapping[_Key, float],
        tops: Sequence[float],
        bottoms: Sequence[float],
    ) -> dict[Pair, list[Point]]:
        level = {key: i for i, row in enumerate(self._rows) for key in row}
        leave, enter = self._ports(middle, last=False), self._ports(middle, last=True)
        curves: dict[Pair, list[Point]] = {}
        for edge, path in self._paths.items():
            places = [leave[edge], *(middle[lane] for lane in path[1:-1]), enter[edge]]
            points = [(places[0], boxes[edge[0]].y + boxes[edge[0]].height)]
            for (above, start), (below, end) in pairwise(zip(path, places, strict=True)):
                points += [(start, bottoms[level[above]]), (end, tops[level[below]])]
            curves[edge] = [*points, (places[-1], boxes[edge[1]].y)]
        return curves

    def _ports(self, middle: Mapping[_Key, float], *, last: bool) -> dict[Pair, float]:
        """Return where each edge leaves its parent, or enters its child: side by side."""
        ports: dict[Pair, float] = {}
        for node in (key for row in self._rows for key in row if isinstance(key, str)):
            ends = {e: path for e, path in self._paths.items() if e[1 if last else 0] == node}
            beside = {edge: middle[path[-2 if last else 1]] for edge, path in ends.items()}
            side = _PORTS * self._sizes[node][0]
            for i, edge in enumerate(sorted(beside, key=lambda e, b=beside: b[e])):  # type: ignore[misc]
                ports[edge] = middle[node] + side * ((i + 1) / (len(ends) + 1) - 0.5)
        return ports


def _turn(layout: Layout) -> Layout:
    """Swap x and y."""
    boxes = {
        node: Rectangle(box.y, box.x, box.height, box.width) for node, box in layout.boxes.items()
    }
    curves = {edge: [(y, x) for x, y in points] for edge, points in layout.curves.items()}
    return Layout(boxes, curves, layout.height, layout.width, not layout.vertical)


def _with_grid(layout: Layout, sizes: Mapping[str, Point]) -> Layout:
    """Add boxes without edges below, in a grid of columns."""
    if not sizes:
        return layout
    count = math.ceil(math.sqrt(_COLUMNS_TO_ROWS * len(sizes)))
    nodes, boxes = list(sizes), dict(layout.boxes)
    count = min(count, len(nodes))
    breadths = [max(sizes[node][0] for node in nodes[column::count]) for column in range(count)]
    y = layout.height + _STEP if layout.boxes else 0.0
    for start in range(0, len(nodes), count):
        row, x = nodes[start : start + count], 0.0
        for node, breadth in zip(row, breadths, strict=False):
            boxes[node] = Rectangle(x, y, *sizes[node])
            x += breadth + _GAP
        y += max(sizes[node][1] for node in row) + _GAP
    width = max(layout.width, sum(breadths) + _GAP * (count - 1))
    return Layout(boxes, layout.curves, width, y - _GAP, layout.vertical)
