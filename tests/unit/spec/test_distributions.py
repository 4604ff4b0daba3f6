from __future__ import annotations

import contextlib
import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustclevr.spec import Distribution, FormulaError, parse_distribution
from robustclevr.spec.distributions import DISTRIBUTIONS, sigmoid

OURS = {"DiscreteUniform"}

CANONICAL = [
    ("Normal(0, 1)", {"loc": 0.0, "scale": 1.0}),
    ("Normal(scale=2, loc=-1e-3)", {"loc": -0.001, "scale": 2.0}),
    ("Normal(1, scale=2)", {"loc": 1.0, "scale": 2.0}),
    ("HalfNormal( 0.3 )", {"scale": 0.3}),
    ("StudentT(3)", {"df": 3.0, "loc": 0.0, "scale": 1.0}),
    ("Beta(2, concentration0=5)", {"concentration1": 2.0, "concentration0": 5.0}),
    ("DiscreteUniform(100)", {"n": 100.0}),
    ("DiscreteUniform(n=1)", {"n": 1.0}),
    ("Categorical(4)", {"probs": (0.25, 0.25, 0.25, 0.25)}),
    ("Categorical(n=2)", {"probs": (0.5, 0.5)}),
    ("Categorical([0.25, 0.75])", {"probs": (0.25, 0.75)}),
    ("Categorical(probs=[0, 1,])", {"probs": (0.0, 1.0)}),
    ("Categorical(logits=[-5, -5])", {"probs": (0.5, 0.5)}),
    ("Categorical(logits=[1000, -1000])", {"probs": (1.0, 0.0)}),
    ("Bernoulli(0.3)", {"probs": 0.3}),
    ("Bernoulli(logits=0)", {"probs": 0.5}),
    ("Binomial(probs=0.5)", {"total_count": 1.0, "probs": 0.5}),
    ("Binomial(3, logits=0)", {"total_count": 3.0, "probs": 0.5}),
    ("NegativeBinomial(2.5, 0.5)", {"total_count": 2.5, "probs": 0.5}),
    ("Delta(7)", {"v": 7.0}),
]


@pytest.mark.parametrize(("text", "arguments"), CANONICAL)
def test_every_spelling_has_one_canonical_form(text: str, arguments: dict[str, object]) -> None:
    name = text.partition("(")[0]
    parsed = parse_distribution(text)
    assert parsed == Distribution(name, arguments)
    assert list(parsed.arguments) == list(DISTRIBUTIONS[name].canonical_names())


ERRORS = [
    ("HalfNormal()", 1, "HalfNormal needs the argument 'scale'", "HalfNormal(scale)"),
    ("HalfNormal(1, 2)", 1, "HalfNormal takes at most 1 arguments, got 2", "HalfNormal(scale)"),
    (
        "HalfNormal(scal=1)",
        1,
        "HalfNormal has no argument 'scal'",
        "did you mean 'scale'? allowed: scale",
    ),
    ("Normal(0, loc=1)", 1, "Normal is given 'loc' twice", "Normal(loc, scale)"),
    ("Normal(scale=1, 0)", 17, "a positional argument stands behind a named one", "name it too"),
    ("HalfNormal(0)", 1, "HalfNormal: scale must be a number above 0, got 0", ""),
    ("HalfNormal(-0.3)", 1, "HalfNormal: scale must be a number above 0, got -0.3", ""),
    ("HalfNormal([1])", 1, "HalfNormal: scale must be a number above 0, got [1]", ""),
    ("Uniform(2, 1)", 1, "Uniform: low must be below high, got 2 and 1", ""),
    ("Uniform(1, 1)", 1, "Uniform: low must be below high, got 1 and 1", ""),
    ("Bernoulli(1.5)", 1, "Bernoulli: probs must be a number in [0, 1], got 1.5", ""),
    (
        "Bernoulli()",
        1,
        "Bernoulli needs exactly one of probs, logits, got none",
        "Bernoulli(probs | logits)",
    ),
    (
        "Bernoulli(0.5, logits=1)",
        1,
        "Bernoulli needs exactly one of probs, logits, got probs and logits",
        "Bernoulli(probs | logits)",
    ),
    ("Categorical(probs=[0.5, 0.4])", 1, "Categorical: probs must sum to 1, got 0.9", ""),
    (
        "Categorical(probs=[1.5, -0.5])",
        1,
        "Categorical: probs must be a list of numbers in [0, 1], got [1.5, -0.5]",
        "",
    ),
    (
        "Categorical(probs=[])",
        1,
        "Categorical: probs must be a list of numbers in [0, 1], got []",
        "",
    ),
    ("Categorical(2.5)", 1, "Categorical: n must be a whole number from 1 to 10000, got 2.5", ""),
    ("Categorical(0)", 1, "Categorical: n must be a whole number from 1 to 10000, got 0", ""),
    (
        "DiscreteUniform(0.5)",
        1,
        "DiscreteUniform: n must be a whole number of at least 1, got 0.5",
        "",
    ),
    ("Geometric(0)", 1, "Geometric: probs must be a number in (0, 1], got 0", ""),
    ("Geometric(logits=-999)", 1, "Geometric: probs must be a number in (0, 1], got 0", ""),
    ("NegativeBinomial(1, 1)", 1, "NegativeBinomial: probs must be a number in [0, 1), got 1", ""),
    ("Normal(0, 1", 12, "expected ',', got the end", ""),
    ("Normal", 7, "expected '(', got the end", "write Normal(loc, scale)"),
    ("Normal(0, 1) + 1", 14, "unexpected '+'", "noises are combined in a formula under 'set'"),
    ("Normal(0, 2 * 3)", 1, "Normal: scale must be a number, not a formula", "write the result"),
    ("Normal(0, 1e999)", 11, "the number 1e999 is too large", ""),
]


@pytest.mark.parametrize(("text", "column", "message", "hint"), ERRORS)
def test_an_error_says_what_and_where(text: str, column: int, message: str, hint: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse_distribution(text)
    assert (caught.value.column, caught.value.message, caught.value.hint) == (column, message, hint)


def test_an_unknown_name_gets_the_nearest_spelling() -> None:
    with pytest.raises(FormulaError, match=r"unknown distribution 'HlfNormal'.*mean 'HalfNormal'"):
        parse_distribution("HlfNormal(1)")


def test_a_noise_cannot_depend_on_a_node() -> None:
    with pytest.raises(FormulaError, match=r"independent of all else.*quantile\("):
        parse_distribution("Normal(clouds.factor, 1)")


@given(st.text())
def test_any_text_is_a_distribution_or_an_error(text: str) -> None:
    for wrapped in (text, f"Normal({text})", f"Categorical(probs=[{text}])"):
        with contextlib.suppress(FormulaError):
            parse_distribution(wrapped)


@given(st.lists(st.floats(-700, 700), min_size=1, max_size=20))
def test_logits_become_probabilities(logits: list[float]) -> None:
    probs = parse_distribution(f"Categorical(logits={logits})").arguments["probs"]
    assert isinstance(probs, tuple)
    assert sum(probs) == pytest.approx(1.0)
    assert all(0 <= p <= 1 for p in probs)


def test_sigmoid_does_not_overflow() -> None:
    assert (sigmoid(-1e4), sigmoid(0.0), sigmoid(1e4)) == (0.0, 0.5, 1.0)


@pytest.mark.parametrize("name", sorted(DISTRIBUTIONS.keys() - OURS))
def test_names_and_arguments_are_those_of_pyro(name: str) -> None:
    import pyro.distributions as pyro

    ours = [p for p in DISTRIBUTIONS[name].parameters if p.name != "n"]
    theirs = list(inspect.signature(getattr(pyro, name).__init__).parameters.values())[1:]
    for parameter, reference in zip(ours, theirs, strict=False):
        assert parameter.name == reference.name
        if parameter.default is not None:
            assert parameter.default == reference.default
