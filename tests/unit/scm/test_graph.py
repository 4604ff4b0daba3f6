import networkx as nx

from robustclevr.scm.graph import to_networkx


def test_graph_of_a_dag(dags):
    dag = dags.build(
        {
            "weather": {"latent": True, "noise": {"w": "Normal(0, 1)"}, "set": {"value": "w"}},
            "gamma": {"parents": ["weather"], "when": "weather.value > 0", "set": {"gamma": "2"}},
            "clouds": {"parents": ["weather", "gamma"], "set": {"factor": "gamma.severity"}},
        }
    )
    graph = to_networkx(dag)
    assert nx.is_directed_acyclic_graph(graph)
    assert list(graph) == ["weather", "gamma", "clouds"]
    assert set(graph.edges) == {("weather", "gamma"), ("weather", "clouds"), ("gamma", "clouds")}
    assert graph.nodes["weather"] == {"recipe": "", "latent": True, "when": ""}
    assert graph.nodes["gamma"] == {
        "recipe": "gamma",
        "latent": False,
        "when": "weather.value > 0",
    }
    assert nx.ancestors(graph, "clouds") == dag.ancestors("clouds")
