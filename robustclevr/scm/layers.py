"""The generations of a DAG, for drawing it: every node stands below all of its parents."""

from __future__ import annotations

import networkx as nx

from robustclevr.scm.graph import to_networkx
from robustclevr.spec.model import DagSpec


def generations(dag: DagSpec) -> list[list[str]]:
    """Return the nodes by the number of edges on the longest path that leads to them.

    Returns
    -------
    list of list of str
        Ids; within a generation in drawing order.
    """
    graph, drawn = to_networkx(dag), [node.id for node in dag.nodes]
    return [sorted(one, key=drawn.index) for one in nx.topological_generations(graph)]
