"""Regions: nothing that is drawn lies outside, and on simple models nothing more lies inside."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robustclevr.scm import SCM
from robustclevr.scm.evaluate import NotFiniteError, Scope, evaluate
from robustclevr.scm.operations import FUNCTIONS, OPERATORS
from robustclevr.scm.regions import LINE, Region, of_values, union
from robustclevr.scm.support import noise_support, region_of
from robustclevr.spec.expression import Call, Name, Number, Operation, ParentValue
from robustclevr.spec.formula import parse_distribution, parse_formula

INF = math.inf
NUMBERS = st.one_of(
    st.sampled_from([-3.0, -1.0, -0.5, 0.0, 0.3, 1.0, 2.0, 5.0]), st.floats(-50, 50)
)
LEAVES = st.one_of(
    st.sampled_from([Name("a"), Name("b"), ParentValue("p", "x")]), NUMBERS.map(Number)
)


def grow(children):
    pairs = st.tuples(children, children)
    binary = [name for name in OPERATORS if name not in ("neg", "pos", "not")]
    unary = [name for name in FUNCTIONS if name not in ("min", "max", "clip")]
    triples = st.tuples(children, children, children)
    return st.one_of(
        st.builds(Operation, st.sampled_from([*binary, "and", "or"]), pairs),
        st.builds(Operation, st.sampled_from(["neg", "pos", "not"]), st.tuples(children)),
        st.builds(Call, st.sampled_from(unary), st.tuples(children)),
        st.builds(Call, st.sampled_from(["min", "max"]), pairs),
        st.builds(Call, st.sampled_from(["where", "clip"]), triples),
    )


@st.composite
def variables(draw):
    """A region, and some values in it: a set, an interval, or an interval without a bound."""
    values = sorted(draw(st.lists(NUMBERS, min_size=1, max_size=5)))
    if draw(st.booleans()):
        return of_values(values), values
    low = -INF if draw(st.integers(0, 5)) == 0 else values[0]
    high = INF if draw(st.integers(0, 5)) == 0 else values[-1]
    between = [values[0] + t * (values[-1] - values[0]) for t in (0.25, 0.5, 0.75)]
    return Region(low, high), [*values, *(min(max(v, low), high) for v in between)]


@settings(max_examples=500, deadline=None)
@given(
    tree=st.recursive(LEAVES, grow, max_leaves=8),
    a=variables(),
    b=variables(),
    x=variables(),
    data=st.data(),
)
def test_a_computed_value_always_lies_in_the_region(tree, a, b, x, data):
    region = region_of(tree, {"a": a[0], "b": b[0]}, {"p.x": x[0]})
    for _ in range(5):
        row = [np.array([data.draw(st.sampled_from(v[1]))]) for v in (a, b, x)]
        scope = Scope({"a": row[0], "b": row[1]}, frozenset(), {("p", "x"): row[2]})
        try:
            with np.errstate(all="ignore"):
                value = float(np.broadcast_to(evaluate(tree, scope), (1,))[0])
        except NotFiniteError:
            continue
        assert region.contains(value), (region, value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", Region(-1, 6)),
        ("a - b", Region(-3, 4)),
        ("a * b", Region(-4, 8)),
        ("abs(b)", Region(0, 4)),
        ("-a", Region(-2, -1)),
        ("min(a, b)", Region(-2, 2)),
        ("max(a, b)", Region(1, 4)),
        ("clip(b, 0, 1)", Region(0, 1)),
        ("floor(a + 0.5)", Region(1, 2)),
        ("where(a > 0, a, b)", Region(1, 2)),
        ("where(a > 1.5, a, b)", Region(-2, 4)),
        ("where(a > 0 and b > 9, a, 7)", Region(7, 7, (7.0,))),
        ("a > 2", of_values([0.0])),
        ("a >= 2", of_values([0.0, 1.0])),
        ("not a", of_values([0.0])),
        ("sin(b)", Region(-1, 1)),
        ("b % 3", Region(0, 3)),
        ("1 / b", LINE),
        ("b ** a", LINE),
    ],
)
def test_intervals_by_hand(text, expected):
    own = {"a": Region(1, 2), "b": Region(-2, 4)}
    assert region_of(parse_formula(text), own, {}) == expected


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("exp(b)", math.exp(-2), math.exp(4)),
        ("log(a)", 0, math.log(2)),
        ("log(b)", -INF, math.log(4)),
        ("sqrt(b)", 0, 2),
        ("a ** 3", 1, 8),
        ("b ** 2", 0, 16),
        ("b ** 3", -8, 64),
        ("a ** -1", 0.5, 1),
        ("1 / a", 0.5, 1),
        ("sigmoid(b)", 1 / (1 + math.exp(2)), 1 / (1 + math.exp(-4))),
        ("quantile(Beta(a, 2), 0.3)", 0, 1),
        ("quantile(Uniform(b, 5 + a), 0.3)", -2, 7),
        ("quantile(HalfNormal(a), 0.3)", 0, INF),
    ],
)
def test_rounded_intervals_by_hand(text, low, high):
    region = region_of(parse_formula(text), {"a": Region(1, 2), "b": Region(-2, 4)}, {})
    assert region.low == pytest.approx(low, abs=1e-12)
    assert region.high == pytest.approx(high, abs=1e-12)
    assert region.low <= low
    assert region.high >= high


def test_sets_stay_sets():
    own = {"u": noise_support(parse_distribution("DiscreteUniform(4)"))}
    region = region_of(parse_formula("where(u > 0.5, 1 + u, 0)"), own, {})
    assert region == of_values([0.0, 1.0, 1.25, 1.5, 1.75])  # operands are not linked: 1 + u is


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DiscreteUniform(4)", of_values([0, 0.25, 0.5, 0.75])),
        ("Categorical(probs=[0.5, 0, 0.5])", of_values([0, 2])),
        ("Bernoulli(0)", of_values([0])),
        ("Poisson(2)", Region(0, INF)),
        ("HalfNormal(2)", Region(0, INF)),
        ("Uniform(-1, 2)", Region(-1, 2)),
        ("DiscreteUniform(1000000)", Region(0, 0.999999)),
        ("Delta(3)", Region(3, 3)),
    ],
)
def test_noise(text, expected):
    assert noise_support(parse_distribution(text)) == expected


def test_meets_is_a_proof():
    assert not of_values([1, 2, 3]).meets(1.5, 1.9)
    assert of_values([1, 2, 3]).meets(1.5, 2)
    assert not Region(0, 1).meets(1.1, 3)
    assert Region(0, INF).meets(1e300, INF)
    assert LINE.meets(-1, 1)


@pytest.mark.parametrize(
    ("region", "text"),
    [
        (of_values([1, 2]), "{1, 2}"),
        (Region(1, INF), "[1, inf)"),
        (LINE, "(-inf, inf)"),
        (of_values(np.arange(100) / 100), "[0, 0.99], 100 values"),
    ],
)
def test_words(region, text):
    assert str(region) == text


def test_union():
    assert union([of_values([1]), of_values([3])]) == of_values([1, 3])
    assert union([of_values([1]), Region(2, 3)]) == Region(1, 3)


# --- whole models -------------------------------------------------------------------------------

SHIPPED = ("tree-uniform", "tree-halfnormal", "chain-uniform", "chain-halfnormal")


def assert_inside(scm, n, seed):
    regions = scm.support()
    for name, column in scm.sample(n, seed=seed).columns(noise=False).items():
        if name in regions:
            inside = [regions[name].contains(v) for v in np.unique(column.astype(float))]
            assert all(inside), name
    return regions


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_models(name):
    regions = assert_inside(SCM.from_yaml(name), 5000, 3)
    assert {"gamma.gamma", "gamma.severity", "gamma.active", "lens_distortion.fit"} <= set(regions)
    assert "glare.kind" not in regions


def test_the_uniform_tree():
    regions = SCM.from_yaml("tree-uniform").support()
    assert regions["gamma.gamma"] == of_values(1 + 2 * (np.arange(100) / 100))
    assert regions["gamma.gamma"].high == 2.98
    assert regions["gamma.gamma"].meets(1.5, 2.0)
    assert not regions["gamma.gamma"].meets(4.0, 5.0)
    assert regions["gaussian_blur.size"] == of_values(range(1, 12))
    assert regions["gaussian_blur.active"] == of_values([1])
    assert SCM.from_yaml("tree-halfnormal").support()["gamma.gamma"] == Region(1, INF)


def test_interventions_move_the_support():
    scm = SCM.from_yaml("chain-uniform").do({"gaussian_blur.size": 9})
    regions = scm.support()
    assert regions["gaussian_blur.size"] == of_values([9])
    assert regions["gamma.gamma"] == of_values(1 + np.arange(100) / 100)
    assert_inside(scm, 500, 0)


def test_inactive_nodes_and_severities(dags):
    nodes = {
        "weather": {"latent": True, "noise": {"w": "Uniform(0, 2)"}, "set": {"value": "w"}},
        "gamma": {
            "parents": ["weather"],
            "when": "weather.value > 1",
            "noise": {"g": "Uniform(2, 3)"},
            "set": {"gamma": "g"},
        },
        "motion_blur": {"parents": ["gamma"], "severity": "0.5 * gamma.severity"},
        "clouds": {"parents": ["gamma"], "set": {"factor": "where(gamma.active, 0.5, 0)"}},
    }
    scm = SCM(dags.build(nodes))
    regions = assert_inside(scm, 300, 1)
    assert regions["gamma.gamma"] == Region(1, 3)  # the clean 1 where it is inactive
    assert regions["gamma.severity"] == Region(0, pytest.approx(2 / 3))
    assert regions["gamma.active"] == of_values([0, 1])
    assert regions["weather.value"] == Region(0, 2)
    assert regions["motion_blur.distance"].high == pytest.approx(1 / 6)
    assert regions["motion_blur.severity"].high == pytest.approx(1 / 3)
    assert regions["clouds.factor"] == of_values([0, 0.5])
    on = scm.do({"weather.value": 1.5})
    assert assert_inside(on, 50, 1)["gamma.gamma"] == Region(2, 3)
    forced = assert_inside(scm.do({"gamma.gamma": 2}), 50, 1)
    assert forced["gamma.active"] == of_values([1])
    off = assert_inside(scm.do({"weather.value": 0}), 50, 1)
    assert off["gamma.gamma"] == of_values([1])
    assert off["gamma.active"] == of_values([0])


LAWS = ["Normal(0, 1)", "HalfNormal(0.5)", "Categorical(4)", "Beta(2, 3)", "Uniform(-1, 2)"]


@settings(max_examples=60, deadline=None)
@given(
    laws=st.tuples(st.sampled_from(LAWS), st.sampled_from(LAWS)),
    formulas=st.tuples(*(st.recursive(LEAVES, grow, max_leaves=5) for _ in range(2))),
    seed=st.integers(0, 3),
)
@example(laws=("Normal(0, 1)", "Beta(2, 3)"), formulas=(Name("a"), Name("b")), seed=0)
def test_random_models(dags, laws, formulas, seed):
    from robustclevr.errors import SamplingError
    from robustclevr.spec.formula import format_expression

    first, second = (format_expression(f).replace("p.x", "p.value") for f in formulas)
    nodes = {
        "p": {"latent": True, "noise": {"w": laws[0]}, "set": {"value": "w"}},
        "gamma": {
            "parents": ["p"],
            "when": "p.value > 0.2",
            "noise": {"a": laws[0], "b": laws[1]},
            "set": {"gamma": first},
        },
        "clouds": {
            "parents": ["p", "gamma"],
            "noise": {"a": laws[1], "b": laws[0]},
            "set": {"factor": f"{second} + gamma.gamma * gamma.severity"},
        },
    }
    try:
        assert_inside(SCM(dags.build(nodes)), 60, seed)
    except SamplingError:
        return  # some row has no finite value; the others are in the test above
