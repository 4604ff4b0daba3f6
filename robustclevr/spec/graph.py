"""The order of a DAG's nodes: topological, ties by ``order:``, then by the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

Parents = Mapping[str, Sequence[str]]
"""Node to its parents, in the order of the file; every parent is a node."""


def find_cycles(parents: Parents) -> list[tuple[str, ...]]:
    """Return cycles that have no node in common, each from its first node in the file.

    Examples
    --------
    >>> find_cycles({"a": ["c"], "b": ["a"], "c": ["b"], "d": ["a"]})
    [('a', 'b', 'c')]
    """
    cycles: list[tuple[str, ...]] = []
    left = {node: [p for p in above if p in parents] for node, above in parents.items()}
    while stuck := _without_sources(left):
        walk = [next(iter(stuck))]
        while (above := stuck[walk[-1]][0]) not in walk:
            walk.append(above)
        cycle = walk[walk.index(above) :][::-1]  # we walked up; an edge leads down
        first = min(range(len(cycle)), key=lambda i: list(parents).index(cycle[i]))
        cycles.append((*cycle[first:], *cycle[:first]))
        left = {
            node: [p for p in above if p not in cycle]
            for node, above in stuck.items()
            if node not in cycle
        }
    return cycles


def topological(parents: Parents, order: Sequence[str] = ()) -> list[str]:
    """Return the nodes, each behind its parents; of several that could be next, the file's first.

    Parameters
    ----------
    parents : mapping
        Without cycles.
    order : sequence of str
        Nodes that must come in this order; must not contradict the edges.

    Examples
    --------
    >>> topological({"a": [], "b": [], "c": ["a"]}, order=["b", "a"])
    ['b', 'a', 'c']
    """
    waiting = with_order(parents, order)
    result: list[str] = []
    while waiting:
        done = set(result)
        ready = next(node for node, above in waiting.items() if done.issuperset(above))
        result.append(ready)
        del waiting[ready]
    return result


def with_order(parents: Parents, order: Sequence[str]) -> dict[str, list[str]]:
    """Return ``parents`` with an edge from each node of ``order`` to the next."""
    result = {node: list(above) for node, above in parents.items()}
    for first, second in pairwise(order):
        result[second].append(first)
    return result


def _without_sources(parents: Parents) -> dict[str, Sequence[str]]:
    """Return what is left when nodes without parents are taken away until none is left."""
    left = dict(parents)
    while sources := [node for node, above in left.items() if not above]:
        left = {
            node: [p for p in above if p not in sources]
            for node, above in left.items()
            if node not in sources
        }
    return left
