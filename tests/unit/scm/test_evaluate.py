"""Formulas on columns against a one-row interpreter written here, branch by branch."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import special, stats

from robustclevr.scm import elementary
from robustclevr.scm.evaluate import NotFiniteError, Scope, evaluate
from robustclevr.spec.expression import Call, Name, Number, Operation, ParentValue, Quantile
from robustclevr.spec.formula import parse_formula

COLUMNS = {
    "a": np.array([0.0, 0.5, -1.25, 3.0, -2.0, 1.0, 0.1]),
    "b": np.array([1.0, -0.5, 0.0, 2.0, 0.7, -3.0, 0.1]),
}
PARENT = np.array([2.0, 0.0, 1.0, -1.0, 0.5, 3.0, 0.9])
SCALAR = {
    "exp": lambda x: float(elementary.exp(x)),
    "log": lambda x: float(elementary.log(x)),
    "sin": lambda x: float(elementary.sin(x)),
    "cos": lambda x: float(elementary.cos(x)),
    "tanh": lambda x: float(elementary.tanh(x)),
    "sqrt": math.sqrt,
    "abs": abs,
    "floor": lambda x: float(math.floor(x)),
    "round": lambda x: float(round(x)),
    "sigmoid": lambda x: float(special.expit(x)),
    "min": min,
    "max": max,
    "clip": lambda x, low, high: min(max(x, low), high),
}
ARITHMETIC = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "%": lambda x, y: x % y,
    "**": lambda x, y: float(elementary.power(x, y)),
    "neg": lambda x: -x,
    "pos": lambda x: +x,
    "<": lambda x, y: float(x < y),
    "<=": lambda x, y: float(x <= y),
    ">": lambda x, y: float(x > y),
    ">=": lambda x, y: float(x >= y),
    "==": lambda x, y: float(x == y),
    "!=": lambda x, y: float(x != y),
    "not": lambda x: float(not x),
}


class NoNumberError(Exception):
    pass


def interpret(tree, row, reads):
    """One row, lazily, in Python: the independent reading of what a formula means."""
    match tree:
        case Number(value):
            return value
        case Name(name):
            reads.add(name)
            return float(COLUMNS[name][row])
        case ParentValue():
            return float(PARENT[row])
        case Operation("and", (left, right)):
            return float(bool(interpret(left, row, reads) and interpret(right, row, reads)))
        case Operation("or", (left, right)):
            return float(bool(interpret(left, row, reads) or interpret(right, row, reads)))
        case Call("where", (condition, then, otherwise)):
            return interpret(then if interpret(condition, row, reads) else otherwise, row, reads)
        case Operation(name, operands) | Call(name, operands):
            values = [interpret(operand, row, reads) for operand in operands]
            try:
                result = (ARITHMETIC | SCALAR)[name](*values)
            except (ArithmeticError, ValueError) as error:
                raise NoNumberError from error
            if not math.isfinite(result):
                raise NoNumberError
            return result
    raise AssertionError(tree)


def run(tree):
    scope = Scope(dict(COLUMNS), frozenset(COLUMNS), {("p", "x"): PARENT})
    with np.errstate(all="ignore"):
        return np.broadcast_to(evaluate(tree, scope), PARENT.shape), scope.reads


def compute(text, **columns):
    own = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    scope = Scope(own, frozenset(own), {})
    with np.errstate(all="ignore"):
        return evaluate(parse_formula(text), scope), scope.reads


LEAVES = st.one_of(
    st.sampled_from([Name("a"), Name("b"), ParentValue("p", "x")]),
    st.sampled_from([0.0, 1.0, 2.0, 0.5, 0.1, 3.7]).map(Number),
)


def grow(children):
    pairs = st.tuples(children, children)
    binary = [name for name in ARITHMETIC if name not in ("neg", "pos", "not")]
    unary = [n for n in SCALAR if n not in ("min", "max", "clip")]
    return st.one_of(
        st.builds(Operation, st.sampled_from([*binary, "and", "or"]), pairs),
        st.builds(Operation, st.sampled_from(["neg", "pos", "not"]), st.tuples(children)),
        st.builds(Call, st.sampled_from(unary), st.tuples(children)),
        st.builds(Call, st.sampled_from(["min", "max"]), pairs),
        st.builds(
            Call, st.sampled_from(["where", "clip"]), st.tuples(children, children, children)
        ),
    )


@settings(max_examples=400, deadline=None)
@given(tree=st.recursive(LEAVES, grow, max_leaves=12))
@example(tree=parse_formula("where(a > 0, log(a), b)"))
@example(tree=parse_formula("a != 0 and 1 / a > 1 or b == 0"))
@example(tree=parse_formula("(a > 0) + (b > 0) * 2 - (not a)"))
@example(tree=parse_formula("where(1 > 0, a, 1 / 0)"))
def test_columns_agree_with_a_row_by_row_interpreter(tree):
    expected, reads, bad = [], [], set()
    for row in range(PARENT.size):
        reads.append(set())
        try:
            with np.errstate(all="ignore"):
                expected.append(interpret(tree, row, reads[-1]))
        except NoNumberError:
            bad.add(row)
    if bad:
        with pytest.raises(NotFiniteError) as caught:
            run(tree)
        assert caught.value.row in bad
        return
    values, found = run(tree)
    np.testing.assert_array_equal(values.astype(float), expected)
    for name in COLUMNS:
        rows = found.get(name, np.zeros(PARENT.shape, dtype=bool))
        rows = np.ones(PARENT.shape, dtype=bool) if rows is None else rows
        assert rows.tolist() == [name in read for read in reads]


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tan", "tanh", "arcsin"])
def test_elementary_functions_are_those_of_the_c_library(name):
    x = np.random.default_rng(5).uniform(0.001, 0.999, 2000)
    ours = getattr(elementary, name)(x)
    theirs = [getattr(math, {"arcsin": "asin"}.get(name, name))(value) for value in x]
    assert (np.abs(ours - theirs) <= 2 * np.spacing(np.abs(theirs))).all()


def test_power():
    x = np.array([2.0, 0.5, -3.0, 0.0])
    assert elementary.power(x, 3.0).tolist() == [8.0, 0.125, -27.0, 0.0]
    assert elementary.power(x, 2.0).tolist() == [4.0, 0.25, 9.0, 0.0]
    assert elementary.power(2.0, np.array([-1.0, 0.0, 0.5])).tolist() == [0.5, 1.0, 2.0**0.5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-7 % 3", 2.0),
        ("7 % -3", -2.0),
        ("7 / 2", 3.5),
        ("-2 ** 2", -4.0),
        ("2 ** 3 ** 2", 512.0),
        ("round(2.5) + round(3.5)", 6.0),
        ("floor(-0.5)", -1.0),
        ("1 < 2 < 3", True),
        ("1 < 2 < 2", False),
        ("(1 < 2) + (2 < 3)", 2.0),
        ("-(1 < 2)", -1.0),
        ("not 0.5", False),
        ("0.5 and 2", True),
        ("0 or 0", False),
        ("clip(5, 0, 1) + clip(-5, 0, 1)", 1.0),
        ("max(1, 5, 3) - min(4, 2, 8)", 3.0),
        ("sigmoid(-1000)", 0.0),
        ("tanh(1000)", 1.0),
    ],
)
def test_constants_have_pythons_meaning(text, expected):
    value, _ = compute(text)
    assert value == expected


def test_quantile_in_a_formula():
    a, b, q = np.array([1.0, 2.0]), np.array([3.0, 0.5]), np.array([0.2, 0.9])
    value, _ = compute("quantile(Beta(a, b), q)", a=a, b=b, q=q)
    np.testing.assert_allclose(value, stats.beta(a, b).ppf(q), rtol=1e-12)
    # Named and logit arguments arrive in their canonical form.
    value, _ = compute("quantile(Bernoulli(logits=a), q)", a=a, q=np.array([0.2, 0.3]))
    assert value.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("quantile(HalfNormal(a), 0.5)", "HalfNormal.scale=-1"),
        ("quantile(Beta(1, 1), a)", "level=-1"),
        ("quantile(Uniform(0.5, a), 0.5)", "Uniform.low=0.5, Uniform.high=-1"),
        ("quantile(Binomial(a, 0.5), 0.5)", "Binomial.total_count=-1"),
        ("log(a)", "log(-1) = nan"),
        ("1 / (a + 1)", "/(1, 0) = inf"),
        ("a ** 0.5", "**(-1, 0.5) = nan"),
        ("exp(-1000 * a)", "exp(1000) = inf"),
    ],
)
def test_what_is_not_finite_is_named(text, says):
    with pytest.raises(NotFiniteError) as caught:
        compute(text, a=[1.0, -1.0, 2.0])
    assert caught.value.row == 1
    assert says in str(caught.value)


def test_a_branch_that_is_not_taken_may_be_anything():
    value, reads = compute("where(a > 0, log(a), b)", a=[1.0, -1.0], b=[5.0, 7.0])
    assert value.tolist() == [0.0, 7.0]
    assert reads["a"] is None
    assert reads["b"].tolist() == [False, True]
    value, _ = compute("a > 0 and log(a) > 0.5 or a == 0", a=[0.0, 1.0, 2.0])
    assert value.tolist() == [True, False, True]
    value, _ = compute("where(a > 0, quantile(HalfNormal(a), 0.5), 0)", a=[-1.0, 0.0])
    assert value.tolist() == [0.0, 0.0]


def test_reads_of_nested_branches():
    text = "where(a > 0, where(b > 0, c, 1), d) + where(a > 2, c, 0)"
    columns = {"a": [1, 1, -1, 3], "b": [1, -1, 1, -1], "c": [9] * 4, "d": [8] * 4}
    _, reads = compute(text, **columns)
    assert reads["b"].tolist() == [True, True, False, True]
    assert reads["c"].tolist() == [True, False, False, True]
    assert reads["d"].tolist() == [False, False, True, False]


def test_a_noise_that_nothing_reads_is_missing():
    _, reads = compute("where(1 > 2, a, 3)", a=[1.0])
    assert reads == {}


def test_quantile_tree_by_hand():
    tree = Quantile("Uniform", (("low", Number(2.0)), ("high", Name("a"))), Number(0.25))
    scope = Scope({"a": np.array([6.0])}, frozenset("a"), {})
    assert evaluate(tree, scope).tolist() == [3.0]
    assert scope.reads == {"a": None}
