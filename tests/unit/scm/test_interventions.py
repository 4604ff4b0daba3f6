"""do, shift, given and counterfactuals: what moves, what does not, to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustclevr.errors import SamplingError, SpecError
from robustclevr.scm import SCM
from robustclevr.scm import model as model_module

NODES = {
    "weather": {"latent": True, "noise": {"w": "Normal(0, 1)"}, "set": {"value": "w"}},
    "clouds": {
        "parents": ["weather"],
        "when": "weather.value > 0",
        "noise": {"h": "HalfNormal(0.3)"},
        "set": {"factor": "h"},
    },
    "gamma": {
        "parents": ["clouds"],
        "noise": {"g": "Uniform(0, 1)"},
        "set": {"gamma": "1 + clouds.factor + g"},
    },
    "white_noise": {"noise": {"n": "Uniform(0, 1)"}, "set": {"factor": "n"}},
    "glare": {"parents": ["gamma"], "set": {"mix": "-1 + gamma.severity", "kind": "streaks"}},
}
BELOW = {"clouds": {"clouds", "gamma", "glare"}, "gamma": {"gamma", "glare"}}


@pytest.fixture(scope="module")
def scm(dags):
    return SCM(dags.build(NODES))


def columns_of(table, nodes):
    names = table.columns(noise=True)
    return {name: names[name] for name in names if name.split(".")[0] in nodes}


def assert_same(one, other, nodes):
    left, right = columns_of(one, nodes), columns_of(other, nodes)
    assert left.keys() == right.keys()
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


# --- do -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "value"), [("clouds.factor", 0.4), ("gamma.gamma", 2.5), ("clouds.factor", 0)]
)
def test_descendants_respond_and_nothing_else_moves(scm, target, value):
    before = scm.sample(300, seed=5)
    after = scm.do({target: value}).sample(300, seed=5)
    node, parameter = target.split(".")
    assert_same(before, after, set(NODES) - BELOW[node])
    assert (after.nodes[node].parameters[parameter] == value).all()
    factor = after.nodes["clouds"].parameters["factor"]
    gamma = after.nodes["gamma"]
    if node == "clouds":
        np.testing.assert_array_equal(gamma.parameters["gamma"], 1 + factor + gamma.noise["g"])
    glare = after.nodes["glare"].parameters["mix"]
    np.testing.assert_array_equal(glare, -1 + gamma.severity)
    assert (after.nodes["glare"].parameters["mix"] != before.nodes["glare"].parameters["mix"]).any()


def test_do_switches_an_inactive_node_on_unless_the_value_is_clean(scm):
    table = scm.do({"clouds.factor": 0.4}).sample(50, seed=5)
    assert table.nodes["clouds"].active.all()
    assert (table.nodes["clouds"].severity == 0.4).all()
    clean = scm.do({"clouds.factor": 0}).sample(50, seed=5)
    weather = clean.nodes["weather"].parameters["value"]
    np.testing.assert_array_equal(clean.nodes["clouds"].active, weather > 0)
    assert not clean.nodes["clouds"].severity.any()


def test_noise_of_a_formula_that_is_not_evaluated_leaves_the_density(scm):
    table = scm.do({"clouds.factor": 0.4}).sample(50, seed=5)
    assert not table.nodes["clouds"].log_density.any()
    assert (table.nodes["gamma"].log_density == 0).all()  # Uniform(0, 1)
    total = sum(node.log_density for node in table.nodes.values())
    np.testing.assert_array_equal(table.log_density, total)


def test_do_on_a_latent_node_and_on_words(scm):
    table = scm.do({"weather.value": -1}).do({"glare.kind": "simple_star"}).sample(20, seed=0)
    assert not table.nodes["clouds"].active.any()
    assert set(table.nodes["glare"].parameters["kind"]) == {"simple_star"}
    assert table.draw(0).interventions == {"weather.value": "-1", "glare.kind": '"simple_star"'}


def test_do_on_a_parameter_that_no_formula_sets(scm):
    table = scm.do({"glare.angle_offset": 0.5}).sample(5, seed=0)
    assert (table.nodes["glare"].parameters["angle_offset"] == 0.5).all()
    assert_same(scm.sample(5, seed=0), table, {"weather", "clouds", "gamma", "white_noise"})


def test_do_to_the_value_that_was_drawn_changes_nothing(scm):
    for index in range(40):
        factual = scm.draw(seed=1, split="test", index=index)
        for node in ("weather", "clouds", "gamma", "glare"):
            for parameter, value in factual.nodes[node].parameters.items():
                twin = scm.do({f"{node}.{parameter}": value})
                again = twin.draw(seed=1, split="test", index=index)
                for name, drawn in again.nodes.items():
                    expected = factual.nodes[name]
                    assert drawn.parameters == expected.parameters
                    assert drawn.severity == expected.severity
                    assert drawn.active == expected.active
                    assert drawn.noise == expected.noise


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"cloud.factor": 1}, "did you mean 'clouds'"),
        ({"clouds.facto": 1}, "did you mean 'factor'"),
        ({"clouds.h": 1}, "a noise is replaced under 'shift'"),
        ({"clouds.factor": "h"}, "must be a number"),
        ({"glare.kind": "simplestar"}, "did you mean 'simple_star'"),
        ({}, "changes nothing"),
    ],
)
def test_wrong_interventions(scm, values, says):
    with pytest.raises(SpecError, match=says):
        scm.do(values)


# --- shift --------------------------------------------------------------------------------------


def test_a_shifted_noise_stays_coupled(scm):
    before = scm.sample(200, seed=5)
    after = scm.shift({"clouds.h": "HalfNormal(0.6)"}).sample(200, seed=5)
    assert_same(before, after, {"weather", "white_noise"})
    ratio = after.nodes["clouds"].noise["h"] / before.nodes["clouds"].noise["h"]
    np.testing.assert_allclose(ratio, 2.0, rtol=1e-12)
    on = after.nodes["clouds"].active
    x = after.nodes["clouds"].noise["h"]
    density = math.log(2 / 0.6) - 0.5 * math.log(2 * math.pi) - 0.5 * (x / 0.6) ** 2
    np.testing.assert_allclose(after.nodes["clouds"].log_density, np.where(on, density, 0))
    assert after.draw(0).interventions == {"clouds.h": "HalfNormal(0.6)"}


def test_a_replaced_formula(scm):
    after = scm.shift({"gamma.gamma": "1 + 2 * g"}).sample(100, seed=5)
    gamma = after.nodes["gamma"]
    np.testing.assert_array_equal(gamma.parameters["gamma"], 1 + 2 * gamma.noise["g"])
    assert_same(scm.sample(100, seed=5), after, {"weather", "clouds", "white_noise"})


def test_do_and_shift_do_not_depend_on_their_order(scm):
    one = scm.do({"clouds.factor": 0.2}).shift({"gamma.g": "Uniform(0, 2)"})
    other = scm.shift({"gamma.g": "Uniform(0, 2)"}).do({"clouds.factor": 0.2})
    assert_same(one.sample(50, seed=0), other.sample(50, seed=0), set(NODES))
    assert scm.interventions == {}  # the model itself is unchanged


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"clouds.h": "HalfNormal(0.3)"}, "is what it was; a shift must change something"),
        ({"clouds.h": "HalfNormal(scale=0.30)"}, "is what it was"),
        ({"gamma.gamma": "(1 + clouds.factor) + g"}, "is what it was"),
        ({"clouds.h": "HalfNormal(-1)"}, "scale must be a number above 0"),
        ({"gamma.gamma": "1 + white_noise.factor"}, "not a parent"),
        ({"gamma.k": "1"}, "no parameter or noise 'k'"),
    ],
)
def test_wrong_shifts(scm, changes, says):
    with pytest.raises(SpecError, match=says):
        scm.shift(changes)


# --- counterfactuals ----------------------------------------------------------------------------


def test_twins_without_an_intervention_are_the_factual_draws(scm):
    table = scm.sample(60, seed=5, start=10)
    assert_same(scm.counterfactual(table), table, set(NODES))
    for row in (0, 7, 59):
        assert scm.counterfactual(table.draw(row)).draw(0) == table.draw(row)


def test_twins_keep_the_noise(scm):
    table = scm.sample(60, seed=5)
    twin_model = scm.do({"clouds.factor": 0.9})
    twins = twin_model.counterfactual(table)
    for name, node in twins.nodes.items():
        for key, column in node.noise.items():
            np.testing.assert_array_equal(column, table.nodes[name].noise[key])
    assert_same(twins, twin_model.sample(60, seed=5), set(NODES))
    assert twin_model.counterfactual(table.draw(3)).draw(0) == twins.draw(3)


def test_draws_of_another_dag_are_refused(scm, dags):
    other = SCM(
        dags.build({"white_noise": {"noise": {"m": "Normal(0, 1)"}, "set": {"factor": "m"}}})
    )
    with pytest.raises(SpecError, match=r"hold no noise 'white_noise\.m'"):
        other.counterfactual(scm.sample(2, seed=0))


def test_a_counterfactual_does_not_move_noise(scm):
    shifted = scm.shift({"clouds.h": "HalfNormal(0.6)"})
    with pytest.raises(SpecError, match="a counterfactual keeps the noise"):
        shifted.counterfactual(scm.sample(2, seed=0))


# --- given --------------------------------------------------------------------------------------


def test_given_holds_and_leaves_what_fulfils_it_anyway(scm):
    before = scm.sample(400, seed=5)
    table = scm.given("clouds.factor > 0.2 and clouds.active").sample(400, seed=5)
    factor = table.nodes["clouds"].parameters["factor"]
    assert (factor > 0.2).all()
    met = before.nodes["clouds"].parameters["factor"] > 0.2
    assert 0.1 < met.mean() < 0.4
    for name, column in before.columns(noise=True).items():
        np.testing.assert_array_equal(table.columns(noise=True)[name][met], column[met])
    assert table.draw(0).interventions == {"given": "clouds.factor > 0.2 and clouds.active"}


def test_given_is_the_conditional_distribution(scm):
    """P(weather > 1 | clouds active) = P(w > 1) / P(w > 0), by 20,000 samples within 5 sigma."""
    table = scm.given("clouds.active").sample(20_000, seed=5)
    share = (table.nodes["weather"].parameters["value"] > 1).mean()
    expected = 0.15865525393145707 / 0.5
    assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / 20_000)


def test_a_conditioned_sample_does_not_depend_on_its_neighbours(scm, monkeypatch):
    conditioned = scm.given("clouds.factor > 0.2").do({"gamma.gamma": 2})
    table = conditioned.sample(100, seed=5, start=7)
    for row in (0, 1, 50, 99):
        assert conditioned.draw(seed=5, split="test", index=7 + row) == table.draw(row)
    monkeypatch.setattr(model_module, "_BLOCK", 32)
    assert_same(conditioned.sample(100, seed=5, start=7), table, set(NODES))


def test_two_conditions_both_hold(scm):
    table = scm.given("clouds.active").given("white_noise.factor < 0.5").sample(50, seed=5)
    assert table.nodes["clouds"].active.all()
    assert (table.nodes["white_noise"].parameters["factor"] < 0.5).all()
    assert table.interventions["given"] == "(clouds.active) and (white_noise.factor < 0.5)"


def test_a_condition_that_never_holds_ends(scm):
    with pytest.raises(SamplingError, match=r"held in none of 50 tries of sample 3, and of 4 of 4"):
        scm.given("white_noise.factor > 2", tries=50).sample(4, seed=5, start=3)


def test_a_condition_that_is_not_finite_names_the_sample(scm):
    with pytest.raises(SamplingError, match=r"given: 'log\(clouds\.factor\) > 0' .* in sample"):
        scm.given("log(clouds.factor) > 0").sample(50, seed=5)


@pytest.mark.parametrize(
    ("text", "says"), [("cloud.factor > 1", "unknown node 'cloud'"), ("h > 1", "unknown name 'h'")]
)
def test_wrong_conditions(scm, text, says):
    with pytest.raises(SpecError, match=says):
        scm.given(text)
    with pytest.raises(SpecError, match="tries must be at least 1, got 0"):
        scm.given("clouds.active", tries=0)


@settings(max_examples=25, deadline=None)
@given(
    value=st.floats(0, 1),
    target=st.sampled_from(["clouds.factor", "white_noise.factor", "weather.value"]),
    seed=st.integers(0, 5),
)
def test_do_never_touches_what_is_not_below(scm, value, target, seed):
    node = target.split(".")[0]
    below = {"weather": set(NODES) - {"white_noise"}, "white_noise": {"white_noise"}} | BELOW
    after = scm.do({target: value}).sample(20, seed=seed)
    assert_same(scm.sample(20, seed=seed), after, set(NODES) - below[node])
