"""A DAG as GraphML, for yEd, Gephi, Cytoscape and other tools."""

from __future__ import annotations

import networkx as nx

from robustclevr.scm.graph import to_networkx
from robustclevr.spec.model import DagSpec, NodeSpec


def to_graphml(dag: DagSpec) -> str:
    """Return the graph as GraphML.

    Returns
    -------
    str
        Nodes carry ``label``, ``recipe``, ``latent``, ``when``, ``noise`` and ``set``, the last
        two with one entry a line; the graph carries ``name`` and ``summary``.
    """
    graph = to_networkx(dag)
    graph.graph["summary"] = dag.summary
    for node in dag.nodes:
        graph.nodes[node.id].update(label=node.id, noise=_noise(node), set=_set(node))
    return "\n".join(nx.generate_graphml(graph)) + "\n"


def _noise(node: NodeSpec) -> str:
    return "\n".join(f"{noise.name} ~ {noise.text}" for noise in node.noise)


def _set(node: NodeSpec) -> str:
    assigned = [*node.assignments, *([node.severity] if node.severity else [])]
    return "\n".join(f"{item.parameter} = {item.text}" for item in assigned)
