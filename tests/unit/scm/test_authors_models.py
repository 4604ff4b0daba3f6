"""The shipped DAGs against the authors' models, written here as closed forms in plain numpy.

Source of every number: ndrenkow/robustclevr custom_scm, TreeModel, TreeModelV2, ChainModel and
ChainModelV3. Three readings of each model: marginals, row by row from the noise, log-densities.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from robustclevr.recipe import load_recipes
from robustclevr.scm import SCM
from robustclevr.spec import load_dag

SEED = 20240117  # chosen before the first run
ROWS = 100_000
LEVEL = 0.001
NAMES = ("tree-uniform", "tree-halfnormal", "chain-uniform", "chain-halfnormal")
HUNDRED = np.full(100, 0.01)
TURN = 2 * math.pi


@dataclass(frozen=True)
class Grid:
    """Values start + step * k with the given weights."""

    start: float
    step: float
    weights: np.ndarray

    def p_values(self, x):
        k = np.rint((x - self.start) / self.step).astype(int)
        np.testing.assert_allclose(x, self.start + self.step * k, atol=1e-12)
        assert ((k >= 0) & (k < len(self.weights))).all()
        counts = np.bincount(k, minlength=len(self.weights))
        assert not counts[self.weights == 0].any()
        possible = self.weights > 0
        expected = self.weights[possible] * len(x)
        if len(expected) > 1:
            yield stats.chisquare(counts[possible], expected).pvalue


@dataclass(frozen=True)
class Smooth:
    """A continuous law."""

    cdf: object

    def p_values(self, x):
        yield stats.kstest(x, self.cdf).pvalue


@dataclass(frozen=True)
class Atom:
    """One value with a probability; else another law."""

    value: float
    probability: float
    rest: object

    def p_values(self, x):
        here = x == self.value
        yield stats.binomtest(int(here.sum()), len(x), self.probability).pvalue
        yield from self.rest.p_values(x[~here])


def half_normal(scale, start=0.0):
    return Smooth(stats.halfnorm(start, scale).cdf)


def even(n, start=0.0, step=1.0):
    return Grid(start, step, np.full(n, 1 / n))


# --- marginals ----------------------------------------------------------------------------------


def tree_uniform():
    return {
        "gamma.gamma": Grid(1, 0.02, HUNDRED),
        "gaussian_blur.size": even(11, 1),
        "defocus.z": even(10, 1),
        "defocus.f_stop": even(64, 64),
        "lens_distortion.distort": Grid(0, 0.001, HUNDRED),
        "lens_distortion.dispersion": Grid(0, 0.005, HUNDRED),
        "motion_blur.distance": Grid(0, 0.001, HUNDRED),
        "motion_blur.angle": Grid(0, TURN / 100, HUNDRED),
        "white_noise.factor": Grid(0, 0.0025, HUNDRED),
        "clouds.factor": Grid(0, 0.003, HUNDRED),
        "glare.mix": Grid(-0.5, 0.01, HUNDRED),
        "glare.angle_offset": Grid(0, TURN / 100, HUNDRED),
    }


def tree_halfnormal():
    weights = np.exp(np.arange(11.0, 0.0, -1.0))
    return {
        "gamma.gamma": half_normal(1, 1),
        "gaussian_blur.size": Grid(1, 1, weights / weights.sum()),
        "defocus.z": half_normal(3, 1),
        "defocus.f_stop": even(64, 64),
        "lens_distortion.distort": half_normal(0.1),
        "lens_distortion.dispersion": half_normal(0.5),
        "motion_blur.distance": half_normal(0.1),
        "motion_blur.angle": Grid(0, TURN / 100, HUNDRED),
        "white_noise.factor": half_normal(0.25),
        "clouds.factor": half_normal(0.3),
        "glare.mix": Smooth(stats.norm(0, 0.5).cdf),
        "glare.angle_offset": Grid(0, TURN / 100, HUNDRED),
    }


def chain_uniform():
    cloudy = 0.24 * stats.halfnorm(0, 0.3).sf(0.2)  # u in .76 … .99, and then factor > .2
    size = np.full(9, (1 - cloudy) / 9)
    size[0] += cloudy
    mild = size[:3].sum()
    # gamma - 1 in thousandths: k for the mild ones, 10 k for the others.
    gamma = np.zeros(991)
    gamma[:100] += mild / 100
    gamma[::10] += (1 - mild) / 100
    strong, little = gamma[201:].sum(), gamma[1:201].sum()
    straight = 1 - strong + strong / 100  # distort == 0
    still = 1 - straight * 0.99**2  # zoom == 0 or distance == 0
    # white noise: strong if z < 4 or f_stop > 100; where not still, z = 1.
    loud = 1 - still * 0.7 * (37 / 64)
    noise = np.zeros(397)
    noise[::4] += loud / 100
    noise[:100] += (1 - loud) / 100
    return {
        "clouds.factor": Atom(0, 0.76, half_normal(0.3)),
        "gaussian_blur.size": Grid(1, 1, size),
        "gamma.gamma": Grid(1, 0.001, gamma),
        "lens_distortion.distort": Grid(0, 0.0005, _or_zero(strong)),
        "lens_distortion.dispersion": Grid(0, 0.005, _or_zero(little)),
        "motion_blur.zoom": Grid(0, 0.001, _or_zero(straight)),
        "motion_blur.distance": Grid(0, 0.0005, _or_zero(straight)),
        "defocus.z": Atom(1, 1 - still * 0.9, even(9, 2)),
        "defocus.f_stop": Atom(128, 1 - still, even(64, 64)),
        "white_noise.factor": Grid(0, 0.0005, noise),
    }


def _or_zero(probability):
    weights = probability * HUNDRED
    weights[0] += 1 - probability
    return weights


def chain_halfnormal():
    cloudy = 0.24 * 33 / 100  # .3 v > .2 for v in .67 … .99
    clear = 1 - cloudy
    edges = stats.halfnorm(0, 4).cdf(np.arange(41.0))
    size = clear * np.append(np.diff(edges), 1 - edges[-1])
    size[0] += cloudy
    mild = size[:3].sum()
    slow, fast = stats.halfnorm(0, 0.05), stats.halfnorm(0, 0.5)
    strong = mild * slow.sf(0.2) + (1 - mild) * fast.sf(0.2)
    still = strong  # distort is 0 with probability 1 - strong, and then zoom and distance are not
    loud = 1 - still * stats.halfnorm(0, 3).sf(3) * (37 / 64)
    return {
        "clouds.factor": Atom(0, 0.76 + 0.0024, Grid(0.003, 0.003, np.full(99, 1 / 99))),
        "gaussian_blur.size": Merged(size),
        "gamma.gamma": Smooth(lambda x: mild * slow.cdf(x - 1) + (1 - mild) * fast.cdf(x - 1)),
        "lens_distortion.distort": Atom(0, 1 - strong, half_normal(0.025)),
        "lens_distortion.dispersion": Atom(0, strong, half_normal(0.25)),
        "motion_blur.zoom": Atom(0, strong, half_normal(0.05)),
        "motion_blur.distance": Atom(0, strong, half_normal(0.025)),
        "defocus.z": Atom(1, 1 - still, half_normal(3, 1)),
        "defocus.f_stop": Atom(128, 1 - still, even(64, 64)),
        "white_noise.factor": Smooth(
            lambda x: (
                loud * stats.halfnorm(0, 0.1).cdf(x) + (1 - loud) * stats.halfnorm(0, 0.025).cdf(x)
            )
        ),
    }


@dataclass(frozen=True)
class Merged:
    """1, 2, … with the given weights, the last one open; rare ones taken together."""

    weights: np.ndarray

    def p_values(self, x):
        k = np.minimum(x.astype(int), len(self.weights)) - 1
        np.testing.assert_array_equal(x, np.floor(x))
        counts = np.bincount(k, minlength=len(self.weights))
        common = self.weights * len(x) >= 20
        counts = np.append(counts[common], counts[~common].sum())
        expected = np.append(self.weights[common], self.weights[~common].sum()) * len(x)
        yield stats.chisquare(counts, expected).pvalue


MARGINALS = {
    "tree-uniform": tree_uniform,
    "tree-halfnormal": tree_halfnormal,
    "chain-uniform": chain_uniform,
    "chain-halfnormal": chain_halfnormal,
}


def check_marginals(name, table):
    """Fail unless every p-value is above the level after Bonferroni."""
    columns = table.columns(noise=False)
    found = [
        (parameter, p)
        for parameter, law in MARGINALS[name]().items()
        for p in law.p_values(columns[parameter])
    ]
    assert len(found) >= 9
    low = [(parameter, p) for parameter, p in found if p <= LEVEL / len(found)]
    assert not low


@pytest.fixture(scope="module")
def dag_specs():
    recipes = load_recipes()
    return {name: load_dag(name, recipes) for name in NAMES}


@pytest.fixture(scope="module")
def tables(dag_specs):
    return {n: SCM(dag).sample(ROWS, seed=SEED) for n, dag in dag_specs.items()}


@pytest.mark.parametrize("name", NAMES)
def test_marginals(tables, name):
    check_marginals(name, tables[name])


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("tree-halfnormal", "gamma"),
        ("tree-halfnormal", "clouds"),
        ("tree-halfnormal", "glare"),
        ("chain-uniform", "clouds"),
        ("chain-halfnormal", "gaussian_blur"),
        ("chain-halfnormal", "motion_blur"),
    ],
)
def test_marginals_fail_with_one_scale_ten_percent_off(dag_specs, name, node):
    dag = dag_specs[name]
    spec = dag.node(node)
    at = next(i for i, v in enumerate(spec.noise) if "scale" in v.distribution.arguments)
    arguments = dict(spec.noise[at].distribution.arguments)
    arguments["scale"] *= 1.1
    off = dataclasses.replace(spec.noise[at].distribution, arguments=arguments)
    noise = list(spec.noise)
    noise[at] = dataclasses.replace(noise[at], distribution=off)
    changed = dataclasses.replace(spec, noise=tuple(noise))
    nodes = tuple(changed if item.id == node else item for item in dag.nodes)
    table = SCM(dataclasses.replace(dag, nodes=nodes)).sample(ROWS, seed=SEED)
    with pytest.raises(AssertionError):
        check_marginals(name, table)


# --- rows recomputed from the noise -------------------------------------------------------------


def recompute_tree_uniform(e):
    return {
        "gamma.gamma": 1 + 2 * e["gamma.u"],
        "gaussian_blur.size": 1 + e["gaussian_blur.k"],
        "defocus.z": 1 + e["defocus.k"],
        "defocus.f_stop": 64 + e["defocus.f"],
        "lens_distortion.distort": 0.1 * e["lens_distortion.u"],
        "lens_distortion.dispersion": 0.5 * e["lens_distortion.v"],
        "motion_blur.distance": 0.1 * e["motion_blur.u"],
        "motion_blur.angle": TURN * e["motion_blur.a"],
        "white_noise.factor": 0.25 * e["white_noise.u"],
        "clouds.factor": 0.3 * e["clouds.u"],
        "glare.mix": e["glare.u"] - 0.5,
        "glare.angle_offset": TURN * e["glare.a"],
    }


def recompute_tree_halfnormal(e):
    return {
        "gamma.gamma": 1 + e["gamma.h"],
        "gaussian_blur.size": 1 + e["gaussian_blur.k"],
        "defocus.z": 1 + e["defocus.h"],
        "defocus.f_stop": 64 + e["defocus.f"],
        "lens_distortion.distort": 0.1 * e["lens_distortion.h"],
        "lens_distortion.dispersion": 0.5 * e["lens_distortion.g"],
        "motion_blur.distance": e["motion_blur.h"],
        "motion_blur.angle": TURN * e["motion_blur.a"],
        "white_noise.factor": e["white_noise.h"],
        "clouds.factor": e["clouds.h"],
        "glare.mix": e["glare.x"],
        "glare.angle_offset": TURN * e["glare.a"],
    }


def recompute_chain_uniform(e):
    return _chain(
        e,
        factor=e["clouds.h"],
        size=1 + e["gaussian_blur.k"],
        z=1 + e["defocus.k"],
        names={"g": "u", "l1": "u", "l2": "v", "m1": "u", "m2": "v", "n": "u"},
    )


def recompute_chain_halfnormal(e):
    return _chain(
        e,
        factor=0.3 * e["clouds.v"],
        size=1 + np.floor(e["gaussian_blur.h"]),
        z=1 + e["defocus.h"],
        names={"g": "h", "l1": "h", "l2": "g", "m1": "h", "m2": "g", "n": "h"},
    )


def _chain(e, factor, size, z, names):
    """The rules that ChainModel and ChainModelV3 share."""
    c = np.where(e["clouds.u"] > 0.75, factor, 0)
    b = np.where(c > 0.2, 1, size)
    g = e[f"gamma.{names['g']}"]
    g = 1 + np.where(b <= 3, 0.1 * g, g)
    distort = np.where(g > 1.2, 0.05 * e[f"lens_distortion.{names['l1']}"], 0)
    little = (g > 1) & (g <= 1.2)
    dispersion = np.where(little, 0.5 * e[f"lens_distortion.{names['l2']}"], 0)
    straight = distort == 0
    zoom = np.where(straight, 0.1 * e[f"motion_blur.{names['m1']}"], 0)
    distance = np.where(straight, 0.05 * e[f"motion_blur.{names['m2']}"], 0)
    still = (zoom == 0) | (distance == 0)
    z, f = np.where(still, z, 1), np.where(still, 64 + e["defocus.f"], 128)
    n = e[f"white_noise.{names['n']}"]
    return {
        "clouds.factor": c,
        "gaussian_blur.size": b,
        "gamma.gamma": g,
        "lens_distortion.distort": distort,
        "lens_distortion.dispersion": dispersion,
        "lens_distortion.fit": distort > 0,
        "motion_blur.zoom": zoom,
        "motion_blur.distance": distance,
        "defocus.z": z,
        "defocus.f_stop": f,
        "white_noise.factor": np.where((z < 4) | (f > 100), 0.2 * n, 0.05 * n),
    }


RECOMPUTE = {
    "tree-uniform": recompute_tree_uniform,
    "tree-halfnormal": recompute_tree_halfnormal,
    "chain-uniform": recompute_chain_uniform,
    "chain-halfnormal": recompute_chain_halfnormal,
}


@pytest.mark.parametrize("name", NAMES)
def test_rows_recomputed_from_the_recorded_noise(tables, name):
    columns = tables[name].columns(noise=True)
    noise = {k.replace(".noise.", "."): c for k, c in columns.items() if ".noise." in k}
    expected = RECOMPUTE[name](noise)
    varying = {
        f"{node}.{parameter}"
        for node, part in tables[name].nodes.items()
        for parameter, column in part.parameters.items()
        if (column != column[0]).any()
    }
    assert varying <= set(expected)  # what is missing here is constant
    for parameter, column in expected.items():
        np.testing.assert_allclose(columns[parameter].astype(float), column, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_authors_hold_constant(tables, name):
    columns = tables[name].columns(noise=False)
    tree = name.startswith("tree")
    expected = {
        "motion_blur.iterations": 12,
        "motion_blur.spin": 0,
        "motion_blur.center_x": 0.5,
        "motion_blur.center_y": 0.5,
        ("motion_blur.zoom" if tree else "motion_blur.angle"): 0,
    }
    if tree:
        expected |= {"lens_distortion.fit": True, "glare.kind": "simple_star"}
    for parameter, value in expected.items():
        assert (columns[parameter] == value).all()


# --- log-densities ------------------------------------------------------------------------------


def test_the_density_of_the_uniform_tree_is_constant(tables):
    table = tables["tree-uniform"]
    expected = -(9 * math.log(100) + math.log(11) + math.log(10) + math.log(64))
    np.testing.assert_allclose(table.log_density, expected, rtol=1e-12)


def test_densities_of_the_half_normal_tree_are_scipys(tables):
    """Of the parameters themselves: each is a function of one noise, scaled here and there."""
    table = tables["tree-halfnormal"]
    weights = np.arange(11.0, 0.0, -1.0)
    weights = np.log(np.exp(weights) / np.exp(weights).sum())

    def half(parameter, scale, start=0.0):
        return stats.halfnorm(start, scale).logpdf(columns[parameter])

    columns = table.columns(noise=False)
    mix = stats.norm(0, 0.5).logpdf(columns["glare.mix"])
    expected = {
        "gamma": half("gamma.gamma", 1, 1),
        "gaussian_blur": weights[columns["gaussian_blur.size"].astype(int) - 1],
        "defocus": half("defocus.z", 3, 1) - math.log(64),
        "lens_distortion": half("lens_distortion.distort", 0.1)
        + half("lens_distortion.dispersion", 0.5),
        "motion_blur": half("motion_blur.distance", 0.1) - math.log(100),
        "white_noise": half("white_noise.factor", 0.25),
        "clouds": half("clouds.factor", 0.3),
        "glare": mix - math.log(100),
    }
    assert set(expected) == set(table.nodes)
    assert all(node.in_parameters.all() for node in table.nodes.values())
    for node, density in expected.items():
        np.testing.assert_allclose(table.nodes[node].log_density, density, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(table.log_density, sum(expected.values()), rtol=1e-9, atol=1e-12)


def test_densities_of_the_chain_count_the_branch_that_was_taken(tables):
    table = tables["chain-uniform"]
    clouds, lens = table.nodes["clouds"], table.nodes["lens_distortion"]
    cloudy = clouds.noise["u"] > 0.75
    half = stats.halfnorm(0, 0.3).logpdf(clouds.noise["h"])
    expected = -math.log(100) + np.where(cloudy, half, 0)
    np.testing.assert_allclose(clouds.log_density, expected, rtol=1e-9)
    assert not clouds.in_parameters.any()  # u decides and is not seen
    assert lens.in_parameters.all()
    gamma = table.nodes["gamma"].parameters["gamma"]
    one_noise = gamma > 1  # distort above 1.2, dispersion from there down to 1, neither at 1
    expected = np.where(one_noise, -math.log(100), 0)
    np.testing.assert_allclose(lens.log_density, expected, rtol=1e-9)
    assert 0 < one_noise.mean() < 1


def test_densities_of_the_half_normal_chain_are_those_of_its_parameters(tables):
    """Given its parent each parameter is a scaled half-normal, a constant, or off the record."""
    table = tables["chain-halfnormal"]
    columns = table.columns(noise=False)
    size, gamma = columns["gaussian_blur.size"], columns["gamma.gamma"]
    distort, dispersion = columns["lens_distortion.distort"], columns["lens_distortion.dispersion"]
    zoom, distance = columns["motion_blur.zoom"], columns["motion_blur.distance"]
    z, factor = columns["defocus.z"], columns["white_noise.factor"]
    mild, strong, straight = size <= 3, gamma > 1.2, distort == 0

    def half(x, scale, start=0.0):
        return stats.halfnorm(start, scale).logpdf(x)

    moved = half(zoom, 0.05) + half(distance, 0.025)
    still = (zoom == 0) | (distance == 0)
    loud = (z < 4) | (columns["defocus.f_stop"] > 100)
    expected = {
        "gamma": np.where(mild, half(gamma, 0.05, 1), half(gamma, 0.5, 1)),
        "lens_distortion": np.where(strong, half(distort, 0.025), half(dispersion, 0.25)),
        "motion_blur": np.where(straight, moved, 0),
        "defocus": np.where(still, half(z, 3, 1) - math.log(64), 0),
        "white_noise": np.where(loud, half(factor, 0.1), half(factor, 0.025)),
    }
    for node, density in expected.items():
        assert table.nodes[node].in_parameters.all()
        np.testing.assert_allclose(table.nodes[node].log_density, density, rtol=1e-9, atol=1e-9)
    # clouds reads a noise to decide; the size is rounded down, and constant behind thick clouds.
    assert not table.nodes["clouds"].in_parameters.any()
    blur = table.nodes["gaussian_blur"]
    thick = columns["clouds.factor"] > 0.2
    np.testing.assert_array_equal(blur.in_parameters, thick)
    expected = np.where(thick, 0, half(blur.noise["h"], 4))
    np.testing.assert_allclose(blur.log_density, expected, rtol=1e-9)
