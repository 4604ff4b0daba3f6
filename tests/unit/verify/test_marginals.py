"""Distributions of a split: right draws pass, draws of a scale that is off by a tenth do not."""

import math

import numpy as np
import pytest
from scipy import stats

from robustclevr.plan import SplitDraws
from robustclevr.recipe import load_recipes
from robustclevr.scm.distributions import quantile
from robustclevr.spec import load_dataset, parse_distribution
from robustclevr.verify.laws import law_of
from robustclevr.verify.marginals import (
    FALSE_ALARM,
    bound,
    comparisons,
    distance_of_samples,
    distance_to_law,
    marginal_problems,
)

RECIPES = load_recipes()
LAWS = (
    "Beta(2, 3)",
    "Cauchy(1, 2)",
    "Chi2(3)",
    "Exponential(2)",
    "FisherSnedecor(3, 7)",
    "Gamma(2, 3)",
    "Gumbel(1, 2)",
    "HalfCauchy(2)",
    "HalfNormal(0.3)",
    "InverseGamma(3, 2)",
    "Kumaraswamy(2, 3)",
    "Laplace(1, 2)",
    "LogNormal(0.5, 0.7)",
    "Logistic(1, 2)",
    "Normal(1, 2)",
    "Pareto(2, 3)",
    "StudentT(4, 1, 2)",
    "Uniform(-1, 3)",
    "VonMises(3, 2)",
    "Weibull(2, 1.5)",
    "Bernoulli(0.3)",
    "Binomial(7, 0.4)",
    "Categorical(9)",
    "Categorical(probs=[0.2, 0.5, 0.3])",
    "Delta(2)",
    "DiscreteUniform(100)",
    "Geometric(0.2)",
    "NegativeBinomial(3, 0.4)",
    "Poisson(4)",
)


@pytest.mark.parametrize("text", LAWS)
def test_every_law_is_that_of_the_quantile_function(text):
    distribution = parse_distribution(text)
    # The middles of n equal intervals lie within 1 / 2n of any law's own quantiles.
    u = (np.arange(4000) + 0.5) / 4000
    distance = distance_to_law(quantile(distribution, u), law_of(distribution))
    assert distance <= 0.5 / 4000 + 1e-9


def test_distances_are_scipys():
    rng = np.random.default_rng(0)
    values, others = rng.normal(size=300), rng.normal(0.2, 1, size=200)
    law = law_of(parse_distribution("Normal(0, 1)"))
    assert distance_to_law(values, law) == pytest.approx(stats.kstest(values, "norm").statistic)
    due = stats.ks_2samp(values, others).statistic
    assert distance_of_samples(values, others) == pytest.approx(due)


def test_the_bound_holds_and_is_not_far_from_scipys():
    for count in (10, 100, 5000):
        exact = stats.kstwo.isf(1e-7, count)
        assert exact <= bound(count, 1e-7) <= 1.15 * exact


SPEC = """\
family: clevr
dag:
  nodes:
    clouds:
      noise: {u: DiscreteUniform(100), h: HalfNormal(0.3)}
      set: {factor: 'where(u > 0.75, h, 0)'}
    gamma:
      parents: [clouds]
      noise: {c: Categorical(9), g: 'Gamma(2, 3)'}
      when: clouds.factor > 0.1
      set: {gamma: 1 + c * g}
splits:
  test: {samples: 10}
  shifted: {samples: 10, shift: {clouds.h: HalfNormal(0.6)}}
  held: {samples: 10, do: {clouds.factor: 0.5}}
  given: {samples: 10, given: clouds.factor > 0.2}
  tail: {samples: 10, tail: {of: joint, below: 0.1}}
  twins: {samples: 10, twin_of: test, shift: {clouds.h: HalfNormal(0.6)}, do: {gamma.gamma: 2}}
  grid: {samples: 10, grid: {clouds.factor: [0, 0.5]}}
  ood: {samples: 10, ood: {clouds.factor: [-2, -1]}}
"""
COUNT = 6000


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    file = tmp_path_factory.mktemp("spec") / "spec.yaml"
    file.write_text(SPEC)
    return {split.name: split for split in load_dataset(file, RECIPES).splits}


def columns_of(split, count=COUNT):
    return SplitDraws(split, root_seed=3).table(0, count).columns(noise=True)


def wrong(columns, split):
    compared = list(comparisons(columns, split, root_seed=3))
    assert compared
    return {
        problem.what.split("'")[1] for problem in marginal_problems(compared, tests=len(compared))
    }


@pytest.mark.parametrize(
    "name", ["test", "shifted", "held", "given", "tail", "twins", "grid", "ood"]
)
def test_right_draws_pass(splits, name):
    count = 200 if name in ("grid", "ood") else COUNT  # drawn row by row
    assert wrong(columns_of(splits[name], count), splits[name]) == set()


def test_a_scale_that_is_a_tenth_off_is_found_though_all_agrees_with_itself(splits):
    split = splits["test"]
    columns = dict(columns_of(split))
    noise = columns["clouds.noise.h"] * 1.1
    due = SplitDraws(split, root_seed=3).recomputed(
        {
            "clouds": {"u": columns["clouds.noise.u"], "h": noise},
            "gamma": {name: columns[f"gamma.noise.{name}"] for name in "cg"},
        },
        COUNT,
    )
    assert "clouds.noise.h" in wrong(due.columns(noise=True), split)


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("clouds.noise.u", lambda u: np.minimum(u + 0.07, 0.99)),
        ("gamma.noise.c", lambda c: np.where(c == 8, 7, c)),
        ("gamma.active", lambda active: active | (np.arange(COUNT) % 11 == 0)),
        ("clouds.factor", lambda factor: factor * 1.7),
    ],
)
def test_other_columns_that_are_not_draws(splits, column, change):
    columns = dict(columns_of(splits["test"]))
    columns[column] = change(columns[column])
    assert column in wrong(columns, splits["test"])


def test_a_shift_is_judged_by_its_own_law(splits):
    assert "clouds.noise.h" in wrong(columns_of(splits["test"]), splits["shifted"])
    assert "clouds.noise.h" in wrong(columns_of(splits["shifted"]), splits["test"])


def test_values_outside_the_box_of_an_ood_split(splits):
    columns = dict(columns_of(splits["ood"], 200))
    columns["clouds.factor"] = columns["clouds.factor"] + 0.5
    assert "clouds.factor" in wrong(columns, splits["ood"])


def test_many_tests_share_one_probability():
    assert bound(1000, FALSE_ALARM / 100) > bound(1000, FALSE_ALARM)
    assert math.isclose(2 * math.exp(-2 * 1000 * bound(1000, 1e-8) ** 2), 1e-8)
