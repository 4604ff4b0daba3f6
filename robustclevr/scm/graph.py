"""A DAG as a networkx graph: for plots, for graph algorithms, for export."""

from __future__ import annotations

import networkx as nx

from robustclevr.spec.model import DagSpec


def to_networkx(dag: DagSpec) -> nx.DiGraph:
    """Return the graph, with an edge from each parent to its child.

    Returns
    -------
    networkx.DiGraph
        Nodes in drawing order, each with ``recipe`` (id, or an empty string), ``latent`` and
        ``when`` (text, or empty); the graph carries ``name``.
    """
    graph = nx.DiGraph(name=dag.name)
    for node in dag.nodes:
        recipe = "" if node.recipe is None else node.recipe.id
        graph.add_node(node.id, recipe=recipe, latent=node.latent, when=node.when_text)
    graph.add_edges_from((parent, node.id) for node in dag.nodes for parent in node.parents)
    return graph
