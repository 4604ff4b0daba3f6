"""Densities of parameters: closed forms, changes of variables by differences, and refusals."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from robustclevr.errors import SamplingError
from robustclevr.records import from_json, to_json
from robustclevr.records.draw import Draw
from robustclevr.scm import SCM

NOISE = {"h": "HalfNormal(1)", "n": "Normal(0, 1)", "u": "Uniform(0, 1)", "k": "Categorical(4)"}


def model(dags, formula, **more):
    """A node gamma over the noises h, n, u, k and a latent parent."""
    gamma = {"parents": ["p"], "noise": NOISE, "set": {"gamma": formula}} | more
    weather = {"latent": True, "noise": {"w": "Normal(0, 1)"}, "set": {"x": "w"}}
    return SCM(dags.build({"p": weather, "gamma": gamma}))


def densities(node):
    """scipy's densities of the noises, by name."""
    laws = {"h": stats.halfnorm, "n": stats.norm, "u": stats.uniform}
    found = {name: law.logpdf(node.noise[name]) for name, law in laws.items()}
    return found | {"k": np.full(node.noise["k"].shape, -math.log(4))}


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "law"),
    [
        ("1 + h", stats.halfnorm(1).logpdf),
        ("0.1 * h", stats.halfnorm(0, 0.1).logpdf),
        ("3 - h / 2", lambda x: stats.halfnorm(0, 0.5).logpdf(3 - x)),
        ("exp(n)", stats.lognorm(1).logpdf),
        ("exp(0.5 + 2 * n)", stats.lognorm(2, scale=math.exp(0.5)).logpdf),
        ("2 ** n", stats.lognorm(math.log(2)).logpdf),
        ("-log(u) / 3", stats.expon(scale=1 / 3).logpdf),
        ("h ** 2", stats.chi2(1).logpdf),
        ("sqrt(h) ** 4", stats.chi2(1).logpdf),
        ("(-h) ** 2", stats.chi2(1).logpdf),
        ("u ** (1 / 3)", stats.powerlaw(3).logpdf),
        ("u ** -0.5", stats.pareto(2).logpdf),
        ("1 / u", stats.pareto(1).logpdf),
        ("abs(-h)", stats.halfnorm.logpdf),
        ("sigmoid(n)", lambda x: stats.norm.logpdf(np.log(x / (1 - x))) - np.log(x - x**2)),
        ("tanh(n)", lambda x: stats.norm.logpdf(np.arctanh(x)) - np.log1p(-x * x)),
        ("n ** 3", lambda x: stats.norm.logpdf(np.cbrt(x)) - np.log(3 * np.cbrt(x) ** 2)),
        ("quantile(Beta(2, 3), u)", stats.beta(2, 3).logpdf),
        ("1 + quantile(Gamma(2, 3), 1 - u)", stats.gamma(2, 1, 1 / 3).logpdf),
        ("1 + k", lambda x: np.full(x.shape, -math.log(4))),
        ("0.5 ** k", lambda x: np.full(x.shape, -math.log(4))),
        ("7", np.zeros_like),
    ],
)
def test_closed_forms(dags, formula, law):
    gamma = model(dags, formula).sample(300, seed=3).nodes["gamma"]
    assert gamma.in_parameters.all()
    expected = law(gamma.parameters["gamma"])
    np.testing.assert_allclose(gamma.log_density, expected, rtol=1e-9, atol=1e-9)


def test_closed_forms_that_depend_on_a_parent(dags):
    table = model(dags, "p.x + (1 + abs(p.x)) * n").sample(300, seed=3)
    x, gamma = table.nodes["p"].parameters["x"], table.nodes["gamma"]
    expected = stats.norm.logpdf(gamma.parameters["gamma"], x, 1 + abs(x))
    np.testing.assert_allclose(gamma.log_density, expected, rtol=1e-9)
    np.testing.assert_allclose(table.log_density, expected + stats.norm.logpdf(x), rtol=1e-9)
    gamma = model(dags, "quantile(Beta(1 + abs(p.x), 2), u)").sample(300, seed=3).nodes["gamma"]
    expected = stats.beta.logpdf(gamma.parameters["gamma"], 1 + abs(x), 2)
    np.testing.assert_allclose(gamma.log_density, expected, rtol=1e-8)


def test_branches_that_parents_choose(dags):
    table = model(dags, "1 + 2 * where(p.x > 0, exp(n), where(p.x > -1, k, 5))").sample(400, seed=3)
    x, gamma = table.nodes["p"].parameters["x"], table.nodes["gamma"]
    smooth = stats.lognorm(1, scale=2).logpdf(np.maximum(gamma.parameters["gamma"] - 1, 1e-9))
    expected = np.select([x > 0, x > -1], [smooth, -math.log(4)], 0.0)
    np.testing.assert_allclose(gamma.log_density, expected, rtol=1e-9)
    assert gamma.in_parameters.all()


def test_a_parameter_that_reads_another(dags):
    """p(distort) p(dispersion | distort): what was set above is known, as a parent is."""
    node = {
        "noise": {"h": "HalfNormal(1)", "n": "Normal(0, 1)"},
        "set": {
            "distort": "0.1 * h",
            "dispersion": "distort * (2 + n) + distort ** 2",
            "fit": "distort > 0",
        },
    }
    lens = SCM(dags.build({"lens_distortion": node})).sample(200, seed=1).nodes["lens_distortion"]
    distort, dispersion = lens.parameters["distort"], lens.parameters["dispersion"]
    expected = stats.halfnorm.logpdf(distort, 0, 0.1)
    expected += stats.norm.logpdf(dispersion, distort * 2 + distort**2, distort)
    np.testing.assert_allclose(lens.log_density, expected, rtol=1e-9)
    assert lens.in_parameters.all()


# --- noise --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "read"),
    [
        *(("n ** 2", "n"), ("abs(n)", "n"), ("(1 / n) ** 2", "n"), ("n ** 2 + p.x", "n")),
        *(("(h - 1) ** 2", "h"), ("abs(h - 1)", "h"), ("h ** 0", "h"), ("1 ** h", "h")),
        *(("0 * h", "h"), ("h * h", "h"), ("sin(h)", "h"), ("cos(h)", "h"), ("floor(h)", "h")),
        *(("round(h)", "h"), ("h % 1", "h"), ("clip(h, 0, 1)", "h"), ("max(h, 0.5)", "h")),
        *(("h + u", "hu"), ("h + k", "hk"), ("floor(k / 2)", "k"), ("k % 2", "k"), ("k * 0", "k")),
        *(("abs(k - 1)", "k"), ("where(h > 0.5, h, 1)", "h"), ("where(k > 1, n, n)", "kn")),
        *(("(h > 1) + 0", "h"), ("not h", "h"), ("h > 9 or u > 0.5", "hu")),
        *(("quantile(Normal(h, 1), 0.3)", "h"), ("quantile(Poisson(3), u)", "u")),
        *(("quantile(Delta(3), u)", "u"), ("where(p.x > 0, n ** 2, n ** 4)", "n")),
    ],
)
def test_what_does_not_tell_its_noise_is_stated_in_the_noise(dags, formula, read):
    table = model(dags, formula).sample(200, seed=3)
    gamma = table.nodes["gamma"]
    assert not gamma.in_parameters.any()
    assert {draw.nodes["gamma"].density_of for draw in table.draws()} == {"noise"}
    expected = sum(densities(gamma)[name] for name in read)
    np.testing.assert_allclose(gamma.log_density, expected, rtol=1e-12)


@pytest.mark.parametrize("when", ["h > 0.5", "not h < 0.1 and p.x > 0 or h < 0.1"])
def test_a_noise_that_the_condition_reads(dags, when):
    gamma = model(dags, "2 * h", when=when).sample(200, seed=3).nodes["gamma"]
    assert not gamma.in_parameters.any()
    assert 0 < gamma.active.mean() < 1
    np.testing.assert_allclose(gamma.log_density, densities(gamma)["h"], rtol=1e-12)


def test_a_noise_that_two_parameters_read(dags):
    nodes = {
        "p": {"latent": True, "noise": {"w": "Normal(0, 1)"}, "set": {"x": "w"}},
        "lens_distortion": {
            "parents": ["p"],
            "noise": {"h": "HalfNormal(1)"},
            "set": {"distort": "0.1 * h", "dispersion": "where(p.x > 0, 0.5 * h, 0)"},
        },
    }
    table = SCM(dags.build(nodes)).sample(200, seed=1)
    lens, both = table.nodes["lens_distortion"], table.nodes["p"].parameters["x"] > 0
    np.testing.assert_array_equal(lens.in_parameters, ~both)
    h = lens.noise["h"]
    expected = np.where(both, stats.halfnorm.logpdf(h), stats.halfnorm.logpdf(h) - math.log(0.1))
    np.testing.assert_allclose(lens.log_density, expected, rtol=1e-12)


def test_rows_in_which_a_factor_is_zero(dags):
    table = model(dags, "max(p.x, 0) * h").sample(200, seed=3)
    gamma, x = table.nodes["gamma"], table.nodes["p"].parameters["x"]
    np.testing.assert_array_equal(gamma.in_parameters, x > 0)
    h = densities(gamma)["h"]
    expected = np.where(x > 0, h - np.log(np.maximum(x, 1e-300)), h)
    np.testing.assert_allclose(gamma.log_density, expected, rtol=1e-12)


def test_severities_and_truths_are_stated_in_the_noise(dags):
    nodes = {
        "gamma": {"noise": {"u": "Uniform(0, 1)"}, "severity": "u"},
        "lens_distortion": {"noise": {"b": "Bernoulli(0.25)"}, "set": {"fit": "b"}},
    }
    table = SCM(dags.build(nodes)).sample(50, seed=0)
    assert not any(node.in_parameters.any() for node in table.nodes.values())


def test_held_parameters_and_inactive_nodes_read_no_noise(dags):
    held = model(dags, "n ** 2").do({"gamma.gamma": 2}).sample(50, seed=3).nodes["gamma"]
    assert held.in_parameters.all() and not held.log_density.any()
    table = model(dags, "n ** 2", when="p.x > 0").sample(50, seed=3)
    off = table.nodes["p"].parameters["x"] <= 0
    np.testing.assert_array_equal(table.nodes["gamma"].in_parameters, off)
    assert not table.nodes["gamma"].log_density[off].any()


# --- records ------------------------------------------------------------------------------------


def test_the_record_says_which_and_old_records_load(dags):
    table = model(dags, "max(p.x, 0) * h").sample(40, seed=3)
    for row, draw in enumerate(table.draws()):
        exact = bool(table.nodes["gamma"].in_parameters[row])
        assert draw.nodes["gamma"].density_of == ("parameters" if exact else "noise")
        data = to_json(draw)
        assert from_json(Draw, data) == draw
        for node in data["nodes"].values():
            del node["density_of"]
        assert {node.density_of for node in from_json(Draw, data).nodes.values()} == {"noise"}


def test_rows_that_are_taken_or_conditioned_keep_it(dags):
    scm = model(dags, "max(p.x, 0) * h")
    table, rows = scm.sample(60, seed=3), np.array([40, 2, 2, 17])
    taken = table.take(rows).nodes["gamma"].in_parameters
    np.testing.assert_array_equal(taken, table.nodes["gamma"].in_parameters[rows])
    conditioned = scm.given("p.x > -0.5").sample(60, seed=3)
    x = conditioned.nodes["p"].parameters["x"]
    np.testing.assert_array_equal(conditioned.nodes["gamma"].in_parameters, x > 0)


# --- random formulas ----------------------------------------------------------------------------

STEADY = ["{} + p.x", "p.x - {}", "{} * (1 + abs(p.x))", "{} / 3", "2 / {}", "-{}", "{} ** 3"]
CURVED = ["exp({})", "log({})", "sqrt({})", "tanh({})", "sigmoid({})", "abs({})", "{} ** 2"]
CHOSEN = ["where(p.x > 0, {}, 3 * {})", "where(p.x > 0, {}, 1)"]
LOSSY = ["sin({})", "floor({})", "clip({}, -1, 1)"]


@settings(max_examples=150, deadline=None)
@given(
    noise=st.sampled_from("hnu"),
    steps=st.lists(st.sampled_from(STEADY + CURVED + CHOSEN + LOSSY), min_size=1, max_size=4),
)
def test_change_of_variables_by_differences(dags, noise, steps):
    formula = noise
    for step in steps:
        formula = step.replace("{}", f"({formula})")
    scm = model(dags, formula)
    try:
        table = scm.sample(40, seed=5)
        slope, elsewhere = steepness(scm, table, noise, 0), steepness(scm, table, noise, 7)
    except SamplingError:
        assume(False)  # the logarithm of a negative number, say
    gamma = table.nodes["gamma"]
    exact, read = gamma.in_parameters, densities(gamma)[noise]
    np.testing.assert_allclose(gamma.log_density[~exact], read[~exact], rtol=1e-12)
    if set(steps) & set(LOSSY):
        assert not gamma.log_density[exact].any()  # another branch, which reads no noise
        return
    steep = exact & (gamma.log_density != 0) & (abs(slope) > 1e-3) & (abs(slope) < 1e3)
    expected = read[steep] - np.log(abs(slope[steep]))
    np.testing.assert_allclose(gamma.log_density[steep], expected, atol=2e-3)
    # With the same parent it rises, or falls, wherever the noise lies; else there is no inverse.
    assert (slope * elsewhere)[steep].min(initial=0) >= 0


def steepness(scm, table, name, shift):
    """Return the slope of gamma.gamma in one noise, where that noise is or where another's is."""
    ends = []
    for nudge in (-1e-6, 1e-6):
        noise = {node: dict(part.noise) for node, part in table.nodes.items()}
        noise["gamma"][name] = np.roll(noise["gamma"][name], shift) + nudge
        ends.append(scm.propagate(table.index, noise).nodes["gamma"].parameters["gamma"])
    return (ends[1] - ends[0]) / 2e-6
