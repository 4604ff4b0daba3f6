"""Every law against pyro's own, against itself, and against its moments."""

import numpy as np
import pyro.distributions
import pytest
import torch
from scipy import stats

from robustclevr.scm.distributions import (
    LAWS,
    log_density,
    quantile,
    support,
    valid_arguments,
)
from robustclevr.scm.laws import Support
from robustclevr.spec.distributions import DISTRIBUTIONS
from robustclevr.spec.formula import parse_distribution

INF = float("inf")


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):
        yield


# text, scipy's distribution (for cdf and moments), support
CASES = [
    ("Normal(1.5, 0.7)", stats.norm(1.5, 0.7), (-INF, INF)),
    ("HalfNormal(0.3)", stats.halfnorm(0, 0.3), (0, INF)),
    ("LogNormal(0.2, 0.5)", stats.lognorm(0.5, scale=np.exp(0.2)), (0, INF)),
    ("Uniform(-2, 3)", stats.uniform(-2, 5), (-2, 3)),
    ("Beta(2, 1.5)", stats.beta(2, 1.5), (0, 1)),
    ("Beta(0.01, 0.01)", None, (0, 1)),
    ("Gamma(0.001, 1)", None, (0, INF)),
    ("Beta(1, 1)", stats.beta(1, 1), (0, 1)),
    ("Gamma(0.7, 2)", stats.gamma(0.7, scale=0.5), (0, INF)),
    ("InverseGamma(3.5, 2)", stats.invgamma(3.5, scale=2), (0, INF)),
    ("Chi2(3)", stats.chi2(3), (0, INF)),
    ("FisherSnedecor(5, 9)", stats.f(5, 9), (0, INF)),
    ("Exponential(4)", stats.expon(scale=0.25), (0, INF)),
    ("Laplace(-1, 0.4)", stats.laplace(-1, 0.4), (-INF, INF)),
    ("Cauchy(0.5, 2)", stats.cauchy(0.5, 2), (-INF, INF)),
    ("HalfCauchy(0.2)", stats.halfcauchy(0, 0.2), (0, INF)),
    ("StudentT(3, 1, 2)", stats.t(3, 1, 2), (-INF, INF)),
    ("Logistic(0.1, 0.2)", stats.logistic(0.1, 0.2), (-INF, INF)),
    ("Gumbel(1, 2)", stats.gumbel_r(1, 2), (-INF, INF)),
    ("VonMises(0.5, 4)", stats.vonmises(4, 0.5), (0.5 - np.pi, 0.5 + np.pi)),
    ("VonMises(0, 0.3)", stats.vonmises(0.3), (-np.pi, np.pi)),
    ("Weibull(2, 1.5)", stats.weibull_min(1.5, scale=2), (0, INF)),
    ("Pareto(0.5, 3)", stats.pareto(3, scale=0.5), (0.5, INF)),
    ("Kumaraswamy(2, 3)", None, (0, 1)),
    ("DiscreteUniform(100)", None, (0, 0.99, 0.01)),
    ("DiscreteUniform(1)", None, (0, 0, 1)),
    ("Categorical(9)", stats.randint(0, 9), (0, 8, 1)),
    ("Categorical(probs=[0, 0.5, 0.2, 0.3, 0])", None, (1, 3, 1)),
    ("Categorical(logits=[11, 10, 9, 8])", None, (0, 3, 1)),
    ("Bernoulli(0.01)", stats.bernoulli(0.01), (0, 1, 1)),
    ("Bernoulli(logits=2)", stats.bernoulli(1 / (1 + np.exp(-2))), (0, 1, 1)),
    ("Bernoulli(1)", stats.bernoulli(1), (1, 1, 1)),
    ("Bernoulli(0)", stats.bernoulli(0), (0, 0, 1)),
    ("Binomial(12, 0.3)", stats.binom(12, 0.3), (0, 12, 1)),
    ("Binomial(3, 1)", stats.binom(3, 1), (3, 3, 1)),
    ("Binomial(3, 0)", stats.binom(3, 0), (0, 0, 1)),
    ("Geometric(0.2)", stats.geom(0.2, loc=-1), (0, INF, 1)),
    ("Geometric(1)", None, (0, 0, 1)),
    ("NegativeBinomial(4, 0.6)", stats.nbinom(4, 0.4), (0, INF, 1)),
    ("NegativeBinomial(2.5, 0.1)", stats.nbinom(2.5, 0.9), (0, INF, 1)),
    ("Poisson(3.7)", stats.poisson(3.7), (0, INF, 1)),
    ("Delta(0.25)", None, (0.25, 0.25)),
]
IDS = [case[0] for case in CASES]
WITH_REFERENCE = [case[:2] for case in CASES if case[1]]
NAMES = [text for text, _ in WITH_REFERENCE]
TEXTS = pytest.mark.parametrize("text", IDS)

# The grid's middle and both far ends: the uniforms lie in [2**-53, 1 - 2**-53].
U = np.concatenate(
    [(np.arange(2000) + 0.5) / 2000, 10.0 ** -np.arange(3.0, 16.0), 1 - 10.0 ** -np.arange(3.0, 16)]
)


def pyro_log_prob(text, x):
    """Return pyro's own float64 log-probability of the distribution as it is written."""
    distribution = parse_distribution(text)
    arguments = {
        name: torch.tensor(value, dtype=torch.float64)
        for name, value in distribution.arguments.items()
    }
    if distribution.name == "Delta":
        return pyro.distributions.Delta(**arguments).log_prob(torch.tensor(x))
    if distribution.name == "DiscreteUniform":
        n = int(distribution.arguments["n"])
        even = torch.ones(n, dtype=torch.float64)
        k = torch.tensor(np.rint(x * n))
        return pyro.distributions.Categorical(even / n).log_prob(k)
    kind = getattr(pyro.distributions, distribution.name)
    return kind(**arguments, validate_args=False).log_prob(torch.tensor(x))


def test_table_is_that_of_the_spec():
    assert set(LAWS) == set(DISTRIBUTIONS)
    assert {text.partition("(")[0] for text in IDS} == set(LAWS)


@TEXTS
def test_log_density_is_pyros(text):
    distribution = parse_distribution(text)
    x = quantile(distribution, U)
    ours, theirs = log_density(distribution, x), pyro_log_prob(text, x).numpy()
    # torch takes the Bessel function of VonMises from a polynomial with seven digits.
    tolerance = 2e-7 if distribution.name == "VonMises" else 1e-9
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=1e-12)


@pytest.mark.parametrize(("text", "reference"), WITH_REFERENCE, ids=NAMES)
def test_log_density_is_scipys(text, reference):
    distribution = parse_distribution(text)
    x = quantile(distribution, U[:2000])
    density = reference.logpdf if hasattr(reference.dist, "pdf") else reference.logpmf
    np.testing.assert_allclose(log_density(distribution, x), density(x), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("text", "reference"), WITH_REFERENCE, ids=NAMES)
def test_quantile_inverts_scipys_cdf(text, reference):
    distribution = parse_distribution(text)
    x = quantile(distribution, U)
    if DISTRIBUTIONS[distribution.name].discrete:
        assert (reference.cdf(x) >= U * (1 - 1e-12)).all()
        assert (reference.cdf(x - 1) < U * (1 + 1e-12)).all()
    else:
        lower, upper = U < 0.5, U >= 0.5
        # Upper tails by the survival function: there the cdf has no digits left.
        np.testing.assert_allclose(reference.cdf(x[lower]), U[lower], rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(reference.sf(x[upper]), 1 - U[upper], rtol=1e-9, atol=2e-13)


@TEXTS
def test_the_density_of_a_drawn_value_is_finite(text):
    distribution = parse_distribution(text)
    assert np.isfinite(log_density(distribution, quantile(distribution, U))).all()


@TEXTS
def test_quantile_never_falls(text):
    x = quantile(parse_distribution(text), np.sort(U))
    assert (np.diff(x) >= 0).all()


@TEXTS
def test_mass_or_density_integrates_to_one(text):
    """Independent of scipy's tables: E[1] over the quantile grid is the integral of exp(log f)."""
    distribution = parse_distribution(text)
    if text in ("Delta(0.25)", "Beta(0.01, 0.01)", "Gamma(0.001, 1)"):
        return  # no density, or all of it in the rounding of the ends
    if DISTRIBUTIONS[distribution.name].discrete:
        ends = quantile(distribution, U[[-1, 0]])
        values = np.arange(0, max(ends) + 1)
        if distribution.name == "DiscreteUniform":
            values = np.unique(quantile(distribution, U))
        assert np.exp(log_density(distribution, values)).sum() == pytest.approx(1, abs=1e-9)
    else:
        edges = quantile(distribution, np.linspace(0.01, 0.99, 20001))
        middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        mass = np.exp(log_density(distribution, middle)) @ width
        assert mass == pytest.approx(0.98, abs=1e-5)


@pytest.mark.parametrize(("text", "reference"), WITH_REFERENCE, ids=NAMES)
def test_moments(text, reference):
    if text.startswith(("Cauchy", "HalfCauchy")):
        return  # these have none
    x = quantile(parse_distribution(text), (np.arange(50_000) + 0.5) / 50_000)
    assert x.mean() == pytest.approx(reference.mean(), rel=2e-3, abs=2e-3)
    heavy = text.startswith(("StudentT", "Pareto", "InverseGamma", "FisherSnedecor"))
    assert x.std() == pytest.approx(reference.std(), rel=0.1 if heavy else 2e-3, abs=2e-3)


@pytest.mark.parametrize(("text", "expected"), [(c[0], c[2]) for c in CASES], ids=IDS)
def test_support(text, expected):
    distribution = parse_distribution(text)
    found = support(distribution)
    if text == "Geometric(1)" or text.startswith("Binomial(3"):
        expected = (0, INF if text.startswith("Geo") else 3, 1)  # the hull of the general case
    assert (found.low, found.high) == pytest.approx(expected[:2])
    assert (found.step is not None) == (len(expected) == 3)
    assert found.step == pytest.approx(expected[2]) if len(expected) == 3 else True
    x = quantile(distribution, U)
    assert (x >= found.low).all()
    assert (x <= found.high).all()
    if found.step is not None:
        steps = (x - found.low) / found.step
        np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)


@TEXTS
def test_nothing_outside_the_support(text):
    distribution = parse_distribution(text)
    inside = support(distribution)
    outside = np.array([inside.low - 0.5, inside.high + 0.5])
    outside = outside[np.isfinite(outside)]
    if distribution.name != "VonMises":  # an angle has no outside
        assert (log_density(distribution, outside) == -INF).all()


@TEXTS
def test_a_value_depends_on_its_own_uniform_alone(text):
    distribution = parse_distribution(text)
    u = np.random.default_rng(3).random(257)
    whole = quantile(distribution, u)
    density = log_density(distribution, whole)
    for row in (0, 1, 6, 100, 255, 256):
        alone = quantile(distribution, u[row : row + 1])
        assert alone[0] == whole[row]
        assert log_density(distribution, alone)[0] == density[row]


def test_discrete_uniform_by_hand():
    distribution = parse_distribution("DiscreteUniform(4)")
    u = np.array([0.01, 0.2499, 0.2501, 0.5001, 0.7501, 0.9999])
    assert quantile(distribution, u).tolist() == [0, 0, 0.25, 0.5, 0.75, 0.75]
    x = np.array([0.0, 0.25, 0.3, 1.0, -0.25])
    assert np.exp(log_density(distribution, x)).tolist() == pytest.approx([0.25, 0.25, 0, 0, 0])


def test_categorical_never_gives_an_impossible_value():
    distribution = parse_distribution("Categorical(probs=[0, 0.3, 0, 0.7, 0])")
    ends = np.array([2.0**-53, 1 - 2.0**-53])
    assert quantile(distribution, ends).tolist() == [1.0, 3.0]


def test_arguments_may_be_columns():
    u = np.array([0.1, 0.5, 0.9])
    a, b = np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 0.5])
    beta = LAWS["Beta"].quantile(u, {"concentration1": a, "concentration0": b})
    np.testing.assert_allclose(beta, stats.beta(a, b).ppf(u), rtol=1e-12)
    poisson = LAWS["Poisson"].quantile(u, {"rate": a})
    np.testing.assert_array_equal(poisson, stats.poisson(a).ppf(u))
    angle = LAWS["VonMises"].quantile(u, {"loc": 0.0, "concentration": a})
    np.testing.assert_allclose(angle, stats.vonmises(a).ppf(u), atol=1e-9)


def test_valid_arguments():
    scale = np.array([-1.0, 0.0, 0.5, np.nan])
    assert valid_arguments("HalfNormal", {"scale": scale}).tolist() == [False, False, True, False]
    low, high = np.array([0.0, 1.0]), np.array([1.0, 1.0])
    assert valid_arguments("Uniform", {"low": low, "high": high}).tolist() == [True, False]
    assert valid_arguments("DiscreteUniform", {"n": np.array([2.5, 3.0])}).tolist() == [False, True]
    assert not valid_arguments("Normal", {"loc": np.array(0.0), "scale": np.array(np.nan)})


def test_support_is_a_value():
    assert support(parse_distribution("Uniform(1, 2)")) == Support(1.0, 2.0)
