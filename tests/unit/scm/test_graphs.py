"""A DAG for other tools: generations and GraphML."""

import io

import networkx as nx

from robustclevr.recipe import load_recipes
from robustclevr.scm.graphml import to_graphml
from robustclevr.scm.layers import generations
from robustclevr.spec import load_dag

RECIPES = load_recipes()


def test_generations_put_children_below_all_parents():
    assert generations(load_dag("two-parents", RECIPES)) == [
        ["clouds", "gamma"],
        ["glare", "defocus"],
        ["white_noise"],
        ["pixelate"],
    ]
    assert len(generations(load_dag("chain-uniform", RECIPES))) == 7


def test_graphml_is_read_back_with_everything():
    dag = load_dag("weather", RECIPES)
    graph = nx.read_graphml(io.BytesIO(to_graphml(dag).encode()))
    assert list(graph) == [node.id for node in dag.nodes]
    assert set(graph.edges) == {(p, node.id) for node in dag.nodes for p in node.parents}
    assert graph.nodes["weather"]["latent"] is True
    assert graph.nodes["glare"] == {
        "label": "glare",
        "recipe": "glare",
        "latent": False,
        "when": "weather.sun > 0.5",
        "noise": "b ~ Beta(2, 2)",
        "set": "mix = b * min(weather.sun, 2) - 1",
    }
    assert graph.graph["name"] == "weather"
    assert graph.graph["summary"] == dag.summary
