"""The formula language, checked against Python's own parser wherever the two overlap."""

from __future__ import annotations

import ast
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustclevr.spec import FormulaError, format_expression, parse_formula
from robustclevr.spec.distributions import DISTRIBUTIONS
from robustclevr.spec.expression import (
    Call,
    Expression,
    Name,
    Number,
    Operation,
    ParentValue,
    Quantile,
)
from robustclevr.spec.grammar import ANY_NUMBER, FUNCTIONS
from robustclevr.spec.tree import MAX_DEPTH

BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.And: "and",
    ast.Or: "or",
}
UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Not: "not"}


def by_python(text: str):
    """Parse with Python and translate: the reference for precedence and associativity."""
    return translate(ast.parse(text, mode="eval").body)


def translate(node: ast.expr):
    match node:
        case ast.Constant(value=value):
            return Number(float(value))
        case ast.Name(id=name):
            return Name(name)
        case ast.Attribute(value=ast.Name(id=parent), attr=field):
            return ParentValue(parent, field)
        case ast.Call(func=ast.Name(id=function), args=arguments):
            return Call(function, tuple(map(translate, arguments)))
        case ast.UnaryOp(op=op, operand=operand):
            return Operation(UNARY[type(op)], (translate(operand),))
        case ast.BinOp(left=left, op=op, right=right):
            return Operation(BINARY[type(op)], (translate(left), translate(right)))
        case ast.BoolOp(op=op, values=values):
            return chain(BINARY[type(op)], [translate(value) for value in values])
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            ends = [translate(item) for item in (left, *comparators)]
            links = [
                Operation(BINARY[type(op)], (first, second))
                for op, first, second in zip(ops, ends, ends[1:], strict=False)
            ]
            return chain("and", links)
    raise AssertionError(ast.dump(node))


def chain(sign: str, parts: list):
    result = parts[0]
    for part in parts[1:]:
        result = Operation(sign, (result, part))
    return result


ATOMS = st.sampled_from(
    ["0", "1", "2.5", ".5", "3.", "1e-3", "u", "k_2", "clouds.factor", "a.active"]
)
SIGNS = ["+", "-", "*", "/", "%", "**", "<", "<=", ">", ">=", "==", "!=", "and", "or"]


def longer(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from(SIGNS), inner),
        st.builds("({})".format, inner),
        st.builds("{}{}".format, st.sampled_from(["-", "+", "not "]), inner),
        st.builds("{}({})".format, st.sampled_from(["exp", "floor"]), inner),
        st.builds("where({}, {}, {})".format, inner, inner, inner),
    )


# Without parentheses around the parts, so that precedence decides.
TEXTS = st.recursive(ATOMS, longer, max_leaves=12)


@given(TEXTS)
def test_precedence_is_pythons(text: str) -> None:
    try:
        expected = by_python(text)
    except SyntaxError:  # `1 + not u`: Python refuses it, and so do we
        with pytest.raises(FormulaError):
            parse_formula(text)
    else:
        assert parse_formula(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2 ** 2", -4.0),
        ("2 ** -1", 0.5),
        ("2 ** 3 ** 2", 512.0),
        ("7 - 2 - 1", 4.0),
        ("8 / 4 / 2", 1.0),
        ("-7 % 3", 2.0),
        ("2 * 3 % 4", 2.0),
        ("1 + 2 * 3", 7.0),
    ],
)
def test_arithmetic_gives_the_number_worked_out_by_hand(text: str, value: float) -> None:
    signs = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "%": operator.mod,
        "**": operator.pow,
    }

    def evaluate(tree) -> float:
        if isinstance(tree, Number):
            return tree.value
        operands = [evaluate(operand) for operand in tree.operands]
        return -operands[0] if tree.operator == "neg" else signs[tree.operator](*operands)

    assert evaluate(parse_formula(text)) == value


def _not_constant(tree: Expression) -> Expression:
    return Call("abs", (tree,)) if isinstance(tree, Number | Operation) else tree


def trees() -> st.SearchStrategy:
    names = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True).filter(
        lambda name: name not in FUNCTIONS and name not in ("and", "or", "not")
    )
    numbers = st.floats(min_value=0, allow_infinity=False, allow_nan=False)
    leaves = st.one_of(
        st.builds(Number, numbers), st.builds(Name, names), st.builds(ParentValue, names, names)
    )

    def grow(inner: st.SearchStrategy) -> st.SearchStrategy:
        pairs, one = st.tuples(inner, inner), st.tuples(inner)
        calls = [
            st.builds(Call, st.just(name), st.tuples(*[inner] * least))
            for name, (least, _) in FUNCTIONS.items()
            if name != "quantile"
        ]
        return st.one_of(
            st.builds(Operation, st.sampled_from(SIGNS), pairs),
            st.builds(Operation, st.sampled_from(["neg", "pos", "not"]), one),
            *calls,
            st.builds(
                lambda a, b, q: Quantile("Gumbel", (("loc", a), ("scale", b)), q),
                inner,
                inner.map(_not_constant),
                inner,
            ),
        )

    return st.recursive(leaves, grow, max_leaves=15)


@given(trees())
def test_a_formatted_tree_is_read_as_the_same_tree(tree) -> None:
    assert parse_formula(format_expression(tree)) == tree


def error_of(text: str) -> FormulaError | None:
    try:
        parse_formula(text)
    except FormulaError as error:
        return error
    return None


@given(st.text())
def test_any_text_is_a_formula_or_an_error_with_a_column(text: str) -> None:
    error = error_of(text)
    assert error is None or 1 <= error.column <= len(text) + 1


PIECES = [
    "(",
    ")",
    "[",
    ",",
    ".",
    "=",
    "==",
    "-",
    "not ",
    "and",
    "where",
    "quantile",
    "Normal",
    "1",
    "u",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_row_of_tokens_is_a_formula_or_an_error(pieces: list[str]) -> None:
    error = error_of(" ".join(pieces))
    assert error is None or error.message


@pytest.mark.parametrize(
    "piece", ["(", "-", "not ", "2 ** ", "exp(", "quantile(Beta(1, 1), ", "1 + "]
)
@pytest.mark.parametrize("times", [MAX_DEPTH, 150, 100_000])
def test_depth_and_length_are_bounded(piece: str, times: int) -> None:
    closing = ")" * times if "(" in piece else ""
    with pytest.raises(FormulaError, match=r"nested too deeply|chains more than|characters"):
        parse_formula(piece * times + "1" + closing)


def test_a_formula_may_stand_on_several_lines() -> None:
    assert parse_formula("1 +\n   u\t* 2\r\n") == parse_formula("1 + u * 2")


ERRORS = [
    ("", 1, "is empty", ""),
    ("  ", 1, "is empty", ""),
    ("1 +", 4, "unexpected the end", "a number, a name or a parenthesis may stand here"),
    ("1 2", 3, "unexpected '2'", "an operator or the end of the formula may stand here"),
    ("(1", 3, "expected ')', got the end", ""),
    ("1)", 2, "unexpected ')'", "it closes a parenthesis that was never opened"),
    ("u ^ 2", 3, "unexpected character '^'", "the power is written **"),
    ("u && v", 3, "unexpected character '&'", "write 'and'"),
    ("u = 2", 3, "unexpected '='", "equality is written =="),
    ("u if v else 1", 3, "unexpected 'if'", "write where(condition, this, that)"),
    ("u.1", 2, "unexpected '.1'", "an operator or the end of the formula may stand here"),
    ("1 + not u", 5, "'not' needs parentheses here", ""),
    ("where + 1", 1, "the function 'where' needs its arguments", ""),
    ("where(u, 1)", 1, "'where' takes 3 arguments, got 2", ""),
    ("exp()", 1, "'exp' takes 1 argument, got 0", ""),
    ("min(u)", 1, f"'min' takes 2 to {ANY_NUMBER} arguments, got 1", ""),
    ("clouds.", 8, "unexpected the end after 'clouds.'", "write parent.parameter"),
    ("1e999", 1, "the number 1e999 is too large", ""),
    ("'a'", 1, 'unexpected character "\'"', ""),
    ("u.__class__.x", 12, "unexpected '.'", "an operator or the end of the formula may stand here"),
    ("[1, 2]", 1, "unexpected '['", "a number, a name or a parenthesis may stand here"),
    (
        "Normal(0, 1)",
        1,
        "unknown function 'Normal'",
        "a distribution stands under 'noise', or in quantile(Normal(…), q)",
    ),
    (
        "quantile(Beta(1, 2))",
        20,
        "expected ',', got ')'",
        "quantile takes a distribution and a level: quantile(Beta(a, b), q)",
    ),
    (
        "quantile(Beta(-1, 2), u)",
        10,
        "Beta: concentration1 must be a number above 0, got -1",
        "",
    ),
    (
        "quantile(Categorical(3), u)",
        10,
        "Categorical may not stand in quantile()",
        "for n equal weights write floor(n * q)",
    ),
]


@pytest.mark.parametrize(("text", "column", "message", "hint"), ERRORS)
def test_an_error_says_what_and_where(text: str, column: int, message: str, hint: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse_formula(text)
    assert (caught.value.column, caught.value.message, caught.value.hint) == (column, message, hint)


def test_an_unknown_function_gets_the_nearest_spelling() -> None:
    with pytest.raises(FormulaError, match="did you mean 'where'") as caught:
        parse_formula("1 + wehre(u, 1, 2)")
    assert caught.value.column == 5


@pytest.mark.parametrize(
    "text", ["__import__('os')", "(lambda: 1)()", "u[0]", "f'{u}'", "u := 1", "1j"]
)
def test_python_beyond_the_language_is_refused(text: str) -> None:
    with pytest.raises(FormulaError):
        parse_formula(text)


def test_quantile_has_all_canonical_arguments_in_order() -> None:
    tree = parse_formula("quantile(StudentT(scale=clouds.factor, df=3), u)")
    df, loc, scale = Number(3.0), Number(0.0), ParentValue("clouds", "factor")
    assert tree == Quantile("StudentT", (("df", df), ("loc", loc), ("scale", scale)), Name("u"))
    logits = parse_formula("quantile(Bernoulli(logits=w), u)")
    assert logits == Quantile("Bernoulli", (("probs", Call("sigmoid", (Name("w"),))),), Name("u"))


def test_a_name_may_be_a_word_of_python() -> None:
    assert parse_formula("lambda + is") == Operation("+", (Name("lambda"), Name("is")))


def test_no_function_has_the_name_of_a_distribution() -> None:
    assert not FUNCTIONS.keys() & DISTRIBUTIONS.keys()
