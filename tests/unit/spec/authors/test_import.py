"""DAG files of the authors: the same model as their code's, and nothing passed over in silence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from robustclevr.errors import SpecError
from robustclevr.recipe import load_recipes
from robustclevr.scm import SCM
from robustclevr.spec import import_dag, read_document
from robustclevr.spec.dag import build_dag
from robustclevr.spec.model import DagSpec

RECIPES = load_recipes()
COUNT = 20_000

CHAIN = """\
dag_generation_method: CustomDAG
edge_list: [[root, Dim], [Dim, Soft], [Soft, Grain], [Dim, Grain]]
node_list:
  - {name: Dim, corruption_func: gamma, parameter: gamma, type: ConstantNode,
     render_value: 1.8, severity_value: 0.6}
  - {name: Soft, corruption_func: defocus, parameter: z, type: WeightedSumNode,
     min_val: 2, max_val: 8, extreme: 8, standard: 2, beta_a: 2, beta_b: 3,
     corruption_type: decreasing, bias: -0.4, std: 0.7, activation_type: tanh,
     edge_weights: {Dim: 0.9}}
  - {name: Grain, corruption_func: noise, parameter: factor, type: WeightedSumNode,
     min_val: -0.1, max_val: 0.4, extreme: 0.4, standard: 0.1, beta_a: 0.5, beta_b: 1.5,
     corruption_type: centered, bias: false, std: 1.1, activation_type: sigmoid,
     edge_weights: {Soft: -0.8, Dim: 0.3}}
loadable: true
seed: 4
"""


def convert(tmp_path: Path, text: str, *, seed: int = 0) -> tuple[str, DagSpec]:
    source = tmp_path / "old.yaml"
    source.write_text(text)
    new = import_dag(source, seed=seed)
    return new, build_dag(read_document(new, name="new.yaml"), RECIPES, name="new")


def constant(name: str, function: str, parameter: str, value: object = 2, **more: object) -> str:
    entry = {
        "name": name,
        "corruption_func": function,
        "parameter": parameter,
        "type": "ConstantNode",
        "render_value": value,
        "severity_value": 0.5,
        **more,
    }
    return "  - {" + ", ".join(f"{key}: {item}" for key, item in entry.items()) + "}\n"


def weighted(name: str, function: str, parameter: str, **more: object) -> str:
    entry = {
        "name": name,
        "corruption_func": function,
        "parameter": parameter,
        "type": "WeightedSumNode",
        "min_val": 0,
        "max_val": 1,
        "extreme": 1,
        "standard": 0,
        "beta_a": 1,
        "beta_b": 1,
        "corruption_type": "increasing",
        "bias": "false",
        "std": 0.5,
        "activation_type": "tanh",
        **more,
    }
    return "  - {" + ", ".join(f"{key}: {item}" for key, item in entry.items()) + "}\n"


def graph(edges: str, *nodes: str) -> str:
    head = f"dag_generation_method: CustomDAG\nedge_list: [{edges}]\nnode_list:\n"
    return head + "".join(nodes)


def errors(tmp_path: Path, text: str) -> str:
    with pytest.raises(SpecError) as caught:
        convert(tmp_path, text)
    return str(caught.value)


# -- the model --------------------------------------------------------------------------------


def plain_numpy() -> dict[str, np.ndarray]:
    """Draw from the chain above as the paper's authors describe their nodes."""
    rng = np.random.default_rng(12)
    dim = 0.6
    level = (np.tanh(0.9 * dim + rng.normal(-0.4, 0.7, COUNT)) + 1) / 2
    soft = 2 + 6 * special.betaincinv(2, 3, level)
    soft_severity = (8 - soft) / 6
    level = special.expit(-0.8 * soft_severity + 0.3 * dim + rng.normal(0, 1.1, COUNT))
    grain = -0.1 + 0.5 * special.betaincinv(0.5, 1.5, level)
    return {"soft.z": soft, "grain.factor": grain, "grain": np.abs(grain - 0.1) / 0.3}


def test_a_weighted_sum_has_the_distribution_of_plain_numpy(tmp_path: Path) -> None:
    _, dag = convert(tmp_path, CHAIN)
    table, expected = SCM(dag).sample(COUNT, seed=5), plain_numpy()
    assert (table.nodes["dim"].parameters["gamma"] == 1.8).all()
    for node, parameter in (("soft", "z"), ("grain", "factor")):
        found = table.nodes[node].parameters[parameter]
        assert stats.ks_2samp(found, expected[f"{node}.{parameter}"]).pvalue > 0.001
    # Dependence: the rank correlation of the two is that of numpy's draws.
    ours = stats.spearmanr(
        *(table.nodes[n].parameters[p] for n, p in (("soft", "z"), ("grain", "factor")))
    )
    theirs = stats.spearmanr(expected["soft.z"], expected["grain.factor"])
    assert ours.statistic == pytest.approx(theirs.statistic, abs=0.03)
    assert ours.statistic > 0.1


def test_a_centered_parent_is_read_by_its_distance(tmp_path: Path) -> None:
    child = weighted("Last", "clouds", "factor", edge_weights="{Grain: 1.5}")
    text = CHAIN.replace("loadable", child + "loadable").replace(
        "[Dim, Grain]", "[Dim, Grain], [Grain, Last]"
    )
    _, dag = convert(tmp_path, text)
    table = SCM(dag).sample(500, seed=5)
    severity = np.abs(table.nodes["grain"].parameters["factor"] - 0.1) / 0.3
    level = (np.tanh(1.5 * severity + table.nodes["last"].noise["e_factor"]) + 1) / 2
    np.testing.assert_allclose(table.nodes["last"].parameters["factor"], level, rtol=1e-9)


def test_weights_are_drawn_once_from_the_seed(tmp_path: Path) -> None:
    text = graph(
        "[root, A], [A, B]", constant("A", "gamma", "gamma"), weighted("B", "noise", "factor")
    )
    zero, again, one = (convert(tmp_path, text, seed=seed)[0] for seed in (0, 0, 1))
    assert zero == again != one
    assert "Weights of edges are those of seed 1" in one
    more = graph(
        "[root, A], [A, B], [root, C], [C, D]",
        constant("A", "gamma", "gamma"),
        constant("C", "clouds", "factor"),
        weighted("D", "glare", "mix"),
        weighted("B", "noise", "factor"),
    )
    formula = next(line for line in zero.splitlines() if "quantile" in line)
    assert formula in convert(tmp_path, more)[0].splitlines()


def test_weights_lie_between_minus_one_and_one_evenly(tmp_path: Path) -> None:
    nodes = [weighted(f"B{k}", "noise", "factor") for k in range(199)]
    edges = ", ".join(["[root, A]", *(f"[A, B{k}]" for k in range(199))])
    _, dag = convert(
        tmp_path, graph(edges, constant("A", "gamma", "gamma", severity_value=1), *nodes)
    )
    table = SCM(dag).sample(1, seed=0)
    found = [
        np.arctanh(2 * c.parameters["factor"][0] - 1) - c.noise["e_factor"][0]
        for node, c in table.nodes.items()
        if node != "a"
    ]
    assert stats.kstest(found, stats.uniform(-1, 2).cdf).pvalue > 0.001


# -- two nodes, one recipe --------------------------------------------------------------------


def test_two_nodes_that_set_one_corruption_become_one(tmp_path: Path) -> None:
    text, dag = convert(
        tmp_path,
        graph(
            "[root, G], [G, Df], [G, Dz], [Df, B], [Dz, B]",
            constant("G", "gamma", "gamma", 1.5),
            constant("Df", "defocus", "f_stop", 100, defaults="{z: 3}"),
            constant("Dz", "defocus", "z", 9.0),
            constant("B", "blur", "size_x", 3, defaults="{size_y: 5}"),
        ),
    )
    assert [node.id for node in dag.nodes] == ["g", "df_dz", "b"]
    assert dag.node("b").parents == ("df_dz",)
    draw = SCM(dag).draw(seed=0, split="test", index=0)
    assert draw.nodes["df_dz"].parameters == {"z": 9.0, "f_stop": 100.0}
    for words in ("Df, Dz: one node", "z 3 gives way to Dz", "size_y 5 is left out", "last edge"):
        assert words in " ".join(text.replace("\n#  ", "").split())


def test_one_corruption_twice_stays_two_nodes(tmp_path: Path) -> None:
    _, dag = convert(
        tmp_path,
        graph(
            "[root, A], [A, B]", constant("A", "gamma", "gamma"), constant("B", "gamma", "gamma")
        ),
    )
    assert [node.recipe.id for node in dag.nodes if node.recipe] == ["gamma", "gamma"]


def test_a_node_between_the_two_is_kept_by_latent_ones(tmp_path: Path) -> None:
    text, dag = convert(
        tmp_path,
        graph(
            "[root, A], [A, X], [X, C]",
            weighted("A", "lensdist", "distort", edge_weights="{}"),
            weighted("X", "gamma", "gamma", edge_weights="{A: 2.0}"),
            weighted("C", "lensdist", "dispersion", edge_weights="{X: -3.0}"),
        ),
    )
    assert {node.id: node.parents for node in dag.nodes} == {
        "a": (),
        "x": ("a",),
        "c": ("x",),
        "a_c": ("a", "c", "x"),
    }
    assert [node.id for node in dag.nodes if node.latent] == ["a", "c"]
    nodes = SCM(dag).sample(50, seed=0).nodes
    level = (np.tanh(2.0 * nodes["a"].parameters["value"] + nodes["x"].noise["e_gamma"]) + 1) / 2
    np.testing.assert_allclose(nodes["x"].parameters["gamma"], level, rtol=1e-9)
    np.testing.assert_array_equal(
        nodes["a_c"].parameters["distort"], nodes["a"].parameters["value"]
    )
    assert "a_c is not in the picture of x" in text


def test_both_directions_of_a_blur_are_one_size(tmp_path: Path) -> None:
    text, dag = convert(
        tmp_path,
        graph(
            "[root, Sx], [root, Sy]",
            constant("Sx", "blur", "size_x", 3),
            constant("Sy", "blur", "size_y", 5),
        ),
    )
    assert SCM(dag).draw(seed=0, split="t", index=0).nodes["sx_sy"].parameters["size"] == 5
    assert "takes the larger value" in text


# -- what their code reads and ignores, or takes for something else ----------------------------


@pytest.mark.parametrize(
    ("kind", "change", "value", "severity"),
    [
        ("increasing", "{severity_value: 0.25}", 3.5, 0.25),
        ("decreasing", "{severity_value: 0.25}", 6.5, 0.25),
        ("decreasing", "{render_value: 3.0}", 3.0, 5 / 6),
        ("centered", "{render_value: 3.0}", 3.0, 0.25),
        ("increasing", "{render_value: 3.0, severity_value: 0.9}", 3.0, 0.9),
    ],
)
def test_intervene_holds_a_node(
    tmp_path: Path, kind: str, change: str, value: float, severity: float
) -> None:
    text, dag = convert(
        tmp_path,
        graph(
            "[root, A], [A, B]",
            weighted(
                *("A", "defocus", "z"),
                min_val=2,
                max_val=8,
                standard=4,
                corruption_type=kind,
                intervene=change,
            ),
            weighted("B", "noise", "factor", edge_weights="{A: 1.0}"),
        ),
    )
    table = SCM(dag).sample(20, seed=0)
    assert (table.nodes["a"].parameters["z"] == value).all()
    level = (np.tanh(severity + table.nodes["b"].noise["e_factor"]) + 1) / 2
    np.testing.assert_allclose(table.nodes["b"].parameters["factor"], level, rtol=1e-9)
    assert "ignores" in text


def test_bias_true_is_a_draw_and_not_one(tmp_path: Path) -> None:
    text, dag = convert(tmp_path, graph("[root, A]", weighted("A", "noise", "factor", bias="true")))
    loc = dag.node("a").noise[0].distribution.arguments["loc"]
    assert loc not in (0.0, 1.0)
    assert "takes it for the number" in text
    _, number = convert(tmp_path, graph("[root, A]", weighted("A", "noise", "factor", bias=1)))
    assert number.node("a").noise[0].distribution.arguments["loc"] == 1.0


def test_their_defaults_are_kept_where_ours_differ(tmp_path: Path) -> None:
    _, dag = convert(
        tmp_path,
        graph(
            "[root, G], [root, D], [root, M]",
            constant("G", "glare", "mix", 0.2),
            constant("D", "defocus", "f_stop", 100),
            constant("M", "directional_blur", "distance", 0.1, defaults="{wrap: true}"),
        ),
    )
    nodes = SCM(dag).draw(seed=0, split="test", index=0).nodes
    assert nodes["g"].parameters["kind"] == "streaks"
    assert nodes["g"].parameters["streaks"] == 1
    assert nodes["d"].parameters["z"] == 1.0
    assert nodes["m"].parameters["iterations"] == 1


def test_names_become_ids(tmp_path: Path) -> None:
    names = ["Max", "my node", "MY_NODE", "7", "mask"]
    nodes = [constant(f"'{name}'", "gamma", "gamma") for name in names]
    _, dag = convert(tmp_path, graph(", ".join(f"[root, '{name}']" for name in names), *nodes))
    assert [node.id for node in dag.nodes] == [
        "max_node",
        "my_node",
        "my_node_2",
        "node_7",
        "mask_node",
    ]


def test_nothing_of_a_name_leaves_the_comments(tmp_path: Path) -> None:
    name = '"a\\nnodes: {}"'
    text, dag = convert(
        tmp_path,
        graph(f"[root, {name}]", weighted(name, "noise", "factor", bias="true")),
    )
    assert text.count("\nnodes:") == 1
    assert len(dag.nodes) == 1


A = constant("A", "gamma", "gamma")
WRONG = {
    "no graph": ("family: clevr\n", "unknown key 'family'", "needs 'edge_list'"),
    "an unfinished corruption": (
        graph("[root, A]", constant("A", "rain", "factor")),
        "'rain' is unfinished",
    ),
    "an unknown corruption": (
        graph("[root, A]", constant("A", "gama", "gamma")),
        "did you mean 'gamma'",
    ),
    "an unknown parameter": (
        graph("[root, A]", constant("A", "blur", "size")),
        "did you mean 'size_",
    ),
    "an unknown key": (
        graph("[root, A]", constant("A", "gamma", "gamma", sevrity=1)),
        "unknown key 'sevrity'",
    ),
    "a key of the other type": (
        graph("[root, A]", constant("A", "gamma", "gamma", std=1)),
        "ConstantNode has no 'std'",
    ),
    "a missing key": (
        graph("[root, A]", weighted("A", "gamma", "gamma").replace("beta_a: 1, ", "")),
        "needs 'beta_a'",
    ),
    "a bound": (
        graph("[root, A]", weighted("A", "gamma", "gamma", min_val=2)),
        "min_val 2 must be below max_val 1",
    ),
    "a cycle": (
        graph("[root, A], [A, B], [B, A]", A, constant("B", "clouds", "factor")),
        "cycle: A -> B -> A",
    ),
    "a node without an edge": (
        graph("[root, A]", A, constant("B", "clouds", "factor")),
        "no edge leads to the node 'B'",
    ),
    "an edge to nowhere": (graph("[root, A], [A, C]", A), "there is no node 'C'"),
    "an edge to the root": (graph("[root, A], [A, root]", A), "an edge leads to 'root'"),
    "a name twice": (graph("[root, A]", A, A), "the name 'A' stands twice"),
    "weights of others": (
        graph("[root, A]", weighted("A", "gamma", "gamma", edge_weights="{B: 1}")),
        "gives weights of B",
    ),
    "a glare without a recipe": (
        graph("[root, A]", constant("A", "glare", "mix", defaults="{glare_type: GHOSTS}")),
        "there is no recipe for glare_type: 'GHOSTS'",
    ),
    "an option that is not kept": (
        graph("[root, A]", constant("A", "lensdist", "distort", defaults="{jitter: true}")),
        "jitter: true cannot be kept",
    ),
    "an unknown default": (
        graph("[root, A]", constant("A", "blur", "size_x", defaults="{size_z: 1}")),
        "did you mean 'size_",
    ),
    "an empty intervention": (
        graph("[root, A]", constant("A", "gamma", "gamma", intervene="{}")),
        "changes nothing",
    ),
    "an intervention outside": (
        graph("[root, A]", weighted("A", "gamma", "gamma", intervene="{render_value: 3}")),
        "outside [0, 1]",
    ),
    "a bias": (
        graph("[root, A]", weighted("A", "gamma", "gamma", bias="maybe")),
        "must be a number, true, false or 'random'",
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, mistake: str) -> None:
    text, *expected = WRONG[mistake]
    found = errors(tmp_path, text)
    for words in expected:
        assert words in found
    assert all("old.yaml" in line for line in found.splitlines())


def test_a_huge_graph_is_refused_at_once(tmp_path: Path) -> None:
    nodes = [constant(f"A{k}", "gamma", "gamma") for k in range(3000)]
    assert "at most 200 are read" in errors(tmp_path, graph("[root, A0]", *nodes))


def test_a_graph_of_the_largest_size_is_read_in_seconds(tmp_path: Path) -> None:
    # Every second node sets one parameter of a corruption, every other one another.
    nodes = [
        weighted(f"A{k}", "lensdist", ("distort", "dispersion")[k % 2], edge_weights="{}")
        if k == 0
        else weighted(f"A{k}", "lensdist", ("distort", "dispersion")[k % 2])
        for k in range(200)
    ]
    edges = ", ".join(["[root, A0]", *(f"[A{k}, A{k + 1}]" for k in range(199))])
    _, dag = convert(tmp_path, graph(edges, *nodes))
    assert len(dag.nodes) == 300
    SCM(dag).sample(10, seed=0)


def test_all_errors_come_at_once(tmp_path: Path) -> None:
    text = graph(
        "[root, A], [A, C]",
        constant("A", "gama", "gamma"),
        constant("B", "blur", "size"),
    )
    assert len(errors(tmp_path, text).splitlines()) == 4
