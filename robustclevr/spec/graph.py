"""The order of a DAG's nodes: topological, ties by ``order:``, then by the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise

Parents = Mapping[str, Sequence[str]]
"""Node to its parents, in the order of the file; every parent is a node."""

MAX_CYCLES = 100
"""Cycles that are looked for; chosen: more than anyone mends at once."""


def find_cycles(parents: Parents) -> list[tuple[str, ...]]:
    """Return cycles that have no node in common, each from its first node in the file.

    At most :data:`MAX_CYCLES` of them.

    Examples
    --------
    >>> find_cycles({"a": ["c"], "b": ["a"], "c": ["b"], "d": ["a"]})
    [('a', 'b', 'c')]
    """
    cycles: list[tuple[str, ...]] = []
    waiting = _Waiting(parents)
    waiting.take(waiting.free())
    place = {node: number for number, node in enumerate(parents)}
    while waiting.above and len(cycles) < MAX_CYCLES:
        walk: dict[str, None] = {}
        node = next(iter(waiting.above))
        while node not in walk:
            walk[node] = None
            node = next(iter(waiting.above[node]))
        path = list(walk)
        cycle = path[path.index(node) :][::-1]  # we walked up; an edge leads down
        first = min(range(len(cycle)), key=lambda i: place[cycle[i]])
        cycles.append((*cycle[first:], *cycle[:first]))
        waiting.take(cycle)
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
    place = {node: number for number, node in enumerate(parents)}
    waiting = _Waiting(with_order(parents, order))
    ready = sorted((place[node], node) for node in waiting.free())  # a sorted list is a heap
    result: list[str] = []
    while ready:
        _, node = heappop(ready)
        result.append(node)
        for free in waiting.remove(node):
            heappush(ready, (place[free], free))
    return result


def with_order(parents: Parents, order: Sequence[str]) -> dict[str, list[str]]:
    """Return ``parents`` with an edge from each node of ``order`` to the next."""
    result = {node: list(above) for node, above in parents.items()}
    for first, second in pairwise(order):
        result[second].append(first)
    return result


class _Waiting:
    """Nodes, each with the parents that it still waits for."""

    def __init__(self, parents: Parents) -> None:
        self.above = {
            node: dict.fromkeys(parent for parent in above if parent in parents)
            for node, above in parents.items()
        }
        self._below: dict[str, list[str]] = {node: [] for node in parents}
        for node, above in self.above.items():
            for parent in above:
                self._below[parent].append(node)

    def free(self) -> list[str]:
        """Return the nodes that wait for none."""
        return [node for node, above in self.above.items() if not above]

    def remove(self, node: str) -> list[str]:
        """Take one node away; return those that now wait for none."""
        del self.above[node]
        freed = []
        for child in self._below[node]:
            if child in self.above:
                del self.above[child][node]
                if not self.above[child]:
                    freed.append(child)
        return freed

    def take(self, nodes: Iterable[str]) -> None:
        """Take nodes away, and all that then wait for none."""
        stack = list(nodes)
        while stack:
            node = stack.pop()
            if node in self.above:
                stack.extend(self.remove(node))
