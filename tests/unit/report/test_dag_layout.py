"""Layouts of random DAGs: nothing overlaps, and no edge runs behind a box."""

from itertools import combinations, pairwise

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from robustclevr.report.dag_layout import lay_out


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 9))
    pairs = [(f"n{i}", f"n{j}") for i, j in combinations(range(count), 2)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=14)) if pairs else []
    side = st.floats(20, 300)
    sizes = {f"n{i}": (draw(side), draw(side)) for i in range(count)}
    level = dict.fromkeys(sizes, 0)
    for parent, child in sorted(edges, key=lambda edge: edge[1]):
        level[child] = max(level[child], level[parent] + 1)
    for _ in range(count):
        for parent, child in edges:
            level[child] = max(level[child], level[parent] + 1)
    generations = [[n for n in sizes if level[n] == i] for i in range(max(level.values()) + 1)]
    return sizes, generations, edges


def points_on(curve, *, vertical):
    """Yield points along an edge: lines and S-shaped curves in turn."""
    for number, (start, end) in enumerate(pairwise(curve)):
        a, b = np.array(start), np.array(end)
        middle = (a + b) / 2
        along = int(vertical)
        first, second = np.array(a), np.array(b)
        first[along] = second[along] = middle[along]
        for t in np.linspace(0, 1, 30):
            if number % 2 == 0:
                yield a + t * (b - a)
            else:
                s = 1 - t
                yield s**3 * a + 3 * s * s * t * first + 3 * s * t * t * second + t**3 * b


@settings(deadline=None, max_examples=80)
@given(graphs())
def test_nothing_overlaps(graph):
    sizes, generations, edges = graph
    layout = lay_out(sizes, generations, edges)
    assert set(layout.boxes) == set(sizes)
    for box in layout.boxes.values():
        assert box.x >= -1e-9
        assert box.y >= -1e-9
        assert box.x + box.width <= layout.width + 1e-9
        assert box.y + box.height <= layout.height + 1e-9
    for a, b in combinations(layout.boxes.values(), 2):
        apart_x = a.x + a.width <= b.x + 1e-9 or b.x + b.width <= a.x + 1e-9
        apart_y = a.y + a.height <= b.y + 1e-9 or b.y + b.height <= a.y + 1e-9
        assert apart_x or apart_y


@settings(deadline=None, max_examples=80)
@given(graphs())
def test_edges_join_their_boxes_and_touch_no_other(graph):
    sizes, generations, edges = graph
    layout = lay_out(sizes, generations, edges)
    assert set(layout.curves) == set(edges)
    for (parent, child), curve in layout.curves.items():
        for node, (x, y) in ((parent, curve[0]), (child, curve[-1])):
            box = layout.boxes[node]
            assert box.x - 1e-9 <= x <= box.x + box.width + 1e-9
            assert box.y - 1e-9 <= y <= box.y + box.height + 1e-9
        for x, y in points_on(curve, vertical=layout.vertical):
            for box in layout.boxes.values():
                inside_x = box.x + 1e-6 < x < box.x + box.width - 1e-6
                inside_y = box.y + 1e-6 < y < box.y + box.height - 1e-6
                assert not (inside_x and inside_y)


def test_a_chain_runs_down_and_a_fan_to_the_right():
    sizes = dict.fromkeys("abcdef", (300.0, 80.0))
    chain = lay_out(sizes, [[name] for name in "abcdef"], list(pairwise("abcdef")))
    assert chain.vertical
    fan = lay_out(sizes, [["a"], list("bcdef")], [("a", name) for name in "bcdef"])
    assert not fan.vertical
    assert fan.boxes["a"].x < fan.boxes["b"].x == fan.boxes["f"].x


def test_nodes_without_edges_stand_in_a_grid():
    sizes = dict.fromkeys("abcdefgh", (100.0, 50.0))
    boxes = lay_out(sizes, [list("abcdefgh")], []).boxes
    assert len({box.x for box in boxes.values()}) == 3
    assert len({box.y for box in boxes.values()}) == 3
