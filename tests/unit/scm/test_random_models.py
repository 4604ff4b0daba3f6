"""Random graphs and formulas as YAML, through parser, sampler, density and support."""

import json

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st

from robustclevr.errors import SamplingError
from robustclevr.recipe import load_recipes
from robustclevr.scm import SCM
from robustclevr.scm.distributions import log_density
from robustclevr.spec import dag_from_document, read_document
from robustclevr.spec.dag import build_dag

RECIPES = load_recipes()
ROWS = 30
NODES = {  # node to a parameter that takes any number
    "gamma": "gamma",
    "clouds": "factor",
    "white_noise": "factor",
    "lens_distortion": "distort",
    "fog_of_mind": "value",
    "mood": "value",
}
LATENT = ("fog_of_mind", "mood")
LAWS = (
    *("Normal(0, 1)", "HalfNormal(0.5)", "Uniform(-1, 2)", "Beta(2, 3)", "Cauchy(0, 1)"),
    *("Categorical(4)", "DiscreteUniform(7)", "Bernoulli(0.4)", "Poisson(2)", "Delta(0.5)"),
    *("Categorical(probs=[0, 0.25, 0.75])", "Exponential(2)", "StudentT(3)", "VonMises(1, 2)"),
)
NUMBERS = ("0", "1", "2", "0.5", "3.7", "1e-3", "-1", "10")
BINARY = ("+", "-", "*", "/", "%", "**", "<", "<=", ">", ">=", "==", "!=", "and", "or")
UNARY = ("abs", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "floor", "round", "not", "-")
MANY = ("where", "clip", "min", "max")


@st.composite
def formulas(draw, names, depth=3):
    """Texts; every part in parentheses, as precedence is tested elsewhere."""
    kind = draw(st.integers(0, 9)) if depth else 0
    if kind <= 2:
        return draw(st.sampled_from([*names, *names, *NUMBERS]))
    inner = formulas(names, depth - 1)
    if kind <= 5:
        return f"({draw(inner)} {draw(st.sampled_from(BINARY))} {draw(inner)})"
    if kind <= 7:
        return f"({draw(st.sampled_from(UNARY))}({draw(inner)}))"
    if kind == 8:
        return f"{draw(st.sampled_from(MANY))}({draw(inner)}, {draw(inner)}, {draw(inner)})"
    return f"quantile(Beta(1 + abs({draw(inner)}), 2), sigmoid({draw(inner)}))"


@st.composite
def dags(draw):
    """A graph with a latent node or two, conditions, and parameters that read each other."""
    nodes, above = {}, []
    for name in draw(st.lists(st.sampled_from(list(NODES)), min_size=1, max_size=5, unique=True)):
        parents = draw(st.lists(st.sampled_from(above), unique=True)) if above else []
        noise = {f"e{i}": draw(st.sampled_from(LAWS)) for i in range(draw(st.integers(0, 3)))}
        fields = [NODES.get(p) for p in parents]
        read = [f"{p}.{field}" for p, field in zip(parents, fields, strict=True)]
        read += [f"{p}.{field}" for p in parents for field in ("severity", "active")]
        names = [*noise, *read] or ["2"]
        node = {"parents": parents, "noise": noise, "set": {NODES[name]: draw(formulas(names))}}
        if name == "lens_distortion":
            node["set"] |= {
                "dispersion": draw(formulas([*names, "distort"])),
                "fit": f"{draw(formulas([*names, 'dispersion']))} > 0.5",
            }
        if name in LATENT:
            node["latent"] = True
        elif draw(st.booleans()):
            node["when"] = f"{draw(formulas(names, 1))} < 0.5"
        nodes[name] = node
        above.append(name)
    return {"nodes": nodes}


def assert_inside(scm, table):
    regions = scm.support()
    for name, column in table.columns(noise=False).items():
        if name in regions:
            assert all(regions[name].contains(float(value)) for value in column), (
                name,
                regions[name],
            )
    assert set(regions) == {
        name
        for name, column in table.columns(noise=False).items()
        if "." in name and not name.endswith("log_density") and column.dtype.kind != "U"
    }


@settings(max_examples=150, deadline=None)
@given(document=dags(), seed=st.integers(0, 5), row=st.integers(0, ROWS - 1))
def test_random_graphs_and_formulas(document, seed, row):
    dag = build_dag(read_document(json.dumps(document)), RECIPES, name="random")
    scm = SCM(dag)
    scm.support()
    try:
        table = scm.sample(ROWS, seed=seed)
    except SamplingError:
        event("no finite number")
        return
    event("sampled")
    assert_inside(scm, table)
    assert_densities(dag, table)
    assert scm.draw(seed=seed, split="test", index=row) == table.draw(row)
    again = SCM(dag_from_document(json.loads(json.dumps(dag.document)), RECIPES, file="again"))
    assert again.sample(ROWS, seed=seed).draw(row) == table.draw(row)


def assert_densities(dag, table):
    """Check that the joint is the sum, and that no node counts more than its own noise."""
    total = sum(node.log_density for node in table.nodes.values())
    np.testing.assert_array_equal(table.log_density, total)
    assert np.isfinite(table.log_density).all()
    for node in dag.nodes:
        columns = table.nodes[node.id]
        with np.errstate(all="ignore"):  # the logarithm of a mass of 0
            parts = [log_density(e.distribution, columns.noise[e.name]) for e in node.noise]
        subsets = [
            sum((p for i, p in enumerate(parts) if bits >> i & 1), np.zeros(ROWS))
            for bits in range(2 ** len(parts))
        ]
        stated = ~columns.in_parameters
        near = np.min([abs(columns.log_density - subset) for subset in subsets], axis=0)
        assert (near[stated] < 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(document=dags(), value=st.sampled_from([-1.5, 0, 0.5, 2]), data=st.data())
def test_random_interventions(document, value, data):
    scm = SCM(build_dag(read_document(json.dumps(document)), RECIPES, name="random"))
    node = data.draw(st.sampled_from(list(document["nodes"])))
    held = scm.do({f"{node}.{NODES[node]}": value})
    try:
        table = held.sample(ROWS, seed=1)
        before = scm.sample(ROWS, seed=1)
    except SamplingError:
        return
    assert_inside(held, table)
    assert (table.nodes[node].parameters[NODES[node]] == value).all()
    for name, columns in table.nodes.items():
        for key, column in columns.noise.items():
            np.testing.assert_array_equal(column, before.nodes[name].noise[key])
        if name != node and node not in scm.dag.ancestors(name):
            for key, column in columns.parameters.items():
                np.testing.assert_array_equal(column, before.nodes[name].parameters[key])


def test_the_strategy_is_not_vacuous():
    """Of graphs like these many sample, and many have densities of parameters."""
    found = []

    @settings(max_examples=60, deadline=None, database=None, derandomize=True)
    @given(document=dags())
    def collect(document):
        scm = SCM(build_dag(read_document(json.dumps(document)), RECIPES, name="random"))
        try:
            found.append(scm.sample(ROWS, seed=0))
        except SamplingError:
            found.append(None)

    collect()
    sampled = [table for table in found if table is not None]
    assert len(sampled) > len(found) / 3
    exact = [n.in_parameters.all() for table in sampled for n in table.nodes.values() if n.noise]
    assert 0.1 < np.mean(exact) < 0.9
