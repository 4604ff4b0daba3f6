from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from robustclevr.spec.graph import find_cycles, topological


def test_ties_go_by_the_file() -> None:
    parents = {"d": ["b"], "c": [], "b": [], "a": ["c"]}
    assert topological(parents) == ["c", "b", "d", "a"]


def test_order_decides_among_nodes_that_no_edge_orders() -> None:
    parents = {"d": ["b"], "c": [], "b": [], "a": ["c"]}
    assert topological(parents, ["b", "c"]) == ["b", "d", "c", "a"]
    assert topological(parents, ["b", "c", "a", "d"]) == ["b", "c", "a", "d"]


def test_each_cycle_is_found_once_from_its_first_node() -> None:
    parents = {"x": ["z"], "y": ["x"], "z": ["y"], "p": ["q"], "q": ["p"], "self": ["self"]}
    assert find_cycles(parents) == [("x", "y", "z"), ("p", "q"), ("self",)]


def test_a_node_below_a_cycle_is_not_part_of_it() -> None:
    assert find_cycles({"below": ["b"], "a": ["b"], "b": ["a"]}) == [("a", "b")]


@st.composite
def acyclic(draw: st.DrawFn) -> dict[str, list[str]]:
    names = draw(st.permutations([f"n{i}" for i in range(draw(st.integers(1, 12)))]))
    edges = {}
    for index, name in enumerate(names):
        edges[name] = draw(st.lists(st.sampled_from(names[:index]), unique=True)) if index else []
    return {name: edges[name] for name in draw(st.permutations(names))}


@given(acyclic())
def test_parents_come_first_and_nothing_is_lost(parents: dict[str, list[str]]) -> None:
    order = topological(parents)
    assert sorted(order) == sorted(parents)
    assert all(order.index(p) < order.index(node) for node in parents for p in parents[node])
    assert find_cycles(parents) == []


@given(acyclic(), st.data())
def test_an_edge_back_makes_a_cycle_that_follows_edges(
    parents: dict[str, list[str]], data: st.DataObject
) -> None:
    node = data.draw(st.sampled_from(sorted(parents)))
    ancestor = data.draw(st.sampled_from(sorted({node, *parents[node]})))
    parents = {name: [*above] for name, above in parents.items()}
    parents[ancestor].append(node)
    (cycle, *_) = find_cycles(parents)
    for first, second in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        assert first in parents[second]
