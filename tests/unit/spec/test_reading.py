"""YAML as YAML: what each kind of broken file says, with its exact line."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustclevr.errors import SpecError
from robustclevr.spec import read_document
from robustclevr.spec.flow import QUOTE_HINT
from robustclevr.spec.reading import read_value

FATAL = {
    "empty": ("", ":1: is empty"),
    "only a comment": ("# nothing\n", ":1: is empty"),
    "a list": ("- 1\n", ":1: the top level must be a mapping of 'key: value'"),
    "a tab": ("a:\n\tb: 1\n", ":2: a tab; YAML is indented with spaces"),
    "two tabs": (
        "a:\n\tb: 1\n  \tc: 1\n",
        ":2: a tab; YAML is indented with spaces\n:3: a tab; YAML is indented with spaces",
    ),
    "open brace": ("a: {b: 1\nc: 2\n", ":2: is not YAML: expected ',' or '}', but got ':'"),
    "open bracket": ("a: [1, 2", ":1: is not YAML: a bracket or brace is not closed"),
    "list in a call": (
        "a: {k: Categorical(probs=[0.5, 0.5])}\n",
        (
            ":1: is not YAML: expected ',' or '}', but got '['; "
            "inside { } and [ ] formulas and distributions need quotes"
        ),
    ),
    "two colons": ("a: b: c\n", ":1: is not YAML: mapping values are not allowed here"),
    "two documents": ("a: 1\n---\nb: 2\n", ":2: is not YAML: a second document begins here"),
    "unknown alias": ("a: 1\nb: *x\n", ":2: is not YAML: found undefined alias 'x'"),
    "control character": ("a: 1\nb: \x01\n", ":2: holds the character U+0001, which YAML"),
    "deep nesting": ("a: " + "[" * 10_000, ":1: is not YAML: more than 50 levels"),
    "alias of itself": ("a: &x [*x]\n", ":1: holds more than 50 levels, aliases counted"),
    "no such code point": ('a: "\\U00110000"\n', ": is not YAML: "),
    "a huge file": ("a: 1\n" * 200_000, ": has 1000000 characters; at most 500000 are read"),
}


@pytest.mark.parametrize(("text", "expected"), FATAL.values(), ids=FATAL)
def test_a_file_that_is_not_yaml_names_the_line(text: str, expected: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_document(text, name="x.yaml")
    lines = str(caught.value).splitlines()
    assert len(lines) == expected.count("\n") + 1
    for line, start in zip(lines, expected.splitlines(), strict=True):
        assert line.startswith(f"x.yaml{start}")


def test_an_alias_bomb_stops_early() -> None:
    rows = ["a0: &a0 [0, 0, 0, 0, 0, 0, 0, 0, 0]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(SpecError, match="more than 50000 entries, aliases counted each time"):
        read_document("\n".join(rows), name="x.yaml")


def test_an_alias_stands_for_what_it_names() -> None:
    assert read_document("a: &x {b: 1}\nc: *x\n").data == {"a": {"b": 1}, "c": {"b": 1}}


LOCAL = {
    "a comma in a formula": (
        "nodes:\n  clouds:\n    set: {factor: where(u > 1, h, 0), z: 3}\n",
        [
            (
                3,
                "nodes.clouds.set.factor",
                "a comma cut the formula: only 'where(u > 1' is left of it",
            )
        ],
        {"nodes": {"clouds": {"set": {"z": 3}}}},
    ),
    "two cut formulas in a line": (
        "noise: {w: Normal(0, 1), h: HalfNormal(1), v: Uniform(0, max(1, 2))}\n",
        [
            (1, "noise.w", "a comma cut the formula: only 'Normal(0' is left of it"),
            (1, "noise.v", "a comma cut the formula: only 'Uniform(0' is left of it"),
        ],
        {"noise": {"h": "HalfNormal(1)"}},
    ),
    "no value in braces": ("a: {u: , v: 1}\n", [(1, "a.u", "has no value")], {"a": {"v": 1}}),
    "a word alone in braces": ("a: {u}\n", [(1, "a.u", "has no value")], {"a": {}}),
    "unbalanced in braces": (
        "a: {u: f(x}\n",
        [(1, "a.u", "unbalanced parenthesis in 'f(x'")],
        {"a": {}},
    ),
}


@pytest.mark.parametrize(("text", "problems", "data"), LOCAL.values(), ids=LOCAL)
def test_a_formula_cut_by_a_comma_says_so(
    text: str, problems: list[tuple[int, str, str]], data: dict[str, object]
) -> None:
    document = read_document(text, name="x.yaml")
    assert [(p.line, p.path, p.message) for p in document.problems] == problems
    assert {p.hint for p in document.problems} == {QUOTE_HINT}
    assert document.data == data
    assert document.broken == {path for _, path, _ in problems}


def test_quotes_save_a_formula_in_braces() -> None:
    document = read_document("set: {factor: 'where(u > 1, h, 0)', b: \"min(1, 2)\"}\n")
    assert document.data == {"set": {"factor": "where(u > 1, h, 0)", "b": "min(1, 2)"}}
    assert not document.problems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3: a: the key stands twice, first in line 1; remove one"),
        (
            "a:\n  1: x\n",
            "x.yaml:2: a: keys must be words, got '1'; put it in quotes if it is meant",
        ),
        ("? [a]\n: 1\n", "x.yaml:1: keys must be words, got a collection; put it in quotes if it"),
        ("a: 1\nb: .inf\n", "x.yaml:2: b: the number .inf is not finite"),
        ("a: 1e999\n", "x.yaml:1: a: the number 1e999 is not finite"),
        ("a: !!str 5\n", "x.yaml:1: a: the tag 'tag:yaml.org,2002:str' is not supported; quotes"),
        ('a: "\\ud800"\n', "x.yaml:1: a: holds half of a surrogate pair"),
    ],
)
def test_a_wrong_entry_is_named_and_left_out(text: str, expected: str) -> None:
    (problem,) = read_document(text, name="x.yaml").problems
    assert str(problem).startswith(expected)


def test_every_wrong_entry_of_a_file_is_named() -> None:
    document = read_document("a: .nan\nb: 1\nb: 2\nc: {d: f(1, 2)}\n", name="x.yaml")
    assert [problem.line for problem in document.problems] == [1, 3, 4]


def test_places_know_keys_items_and_dotted_keys() -> None:
    document = read_document("a:\n  b.c: 1\n  d:\n    - 2\n    - 3\n")
    assert [document.line(path) for path in ("a", "a.b.c", "a.d.1", "a.d.1.x", "no")] == [
        1,
        2,
        5,
        5,
        1,
    ]


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = tmp_path / "bom.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_document(file).data == {"a": 1}


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("a: é".encode("latin-1"))
    for path, what in (
        (tmp_path / "missing.yaml", "no such file"),
        (tmp_path, "cannot be read: Is a directory"),
        (latin, "is not UTF-8: byte 3 is 0xe9; save it as UTF-8 text"),
    ):
        with pytest.raises(SpecError) as caught:
            read_document(path)
        assert str(caught.value) == f"{path}: {what}"


@given(st.text(alphabet=st.sampled_from("ab:{}[]()-,&*!|>'\"#\t\n 1.?%@`~")))
def test_any_text_is_a_document_or_a_spec_error(text: str) -> None:
    with contextlib.suppress(SpecError):
        read_document(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("[3, 5]", [3, 5]),
        ("no", "no"),
        ("", None),
        ("'3'", "3"),
        ("{a: {b: 1}}", {"a": {"b": 1}}),
    ],
)
def test_the_value_of_an_option(text: str, value: object) -> None:
    assert read_value(text, name="--set") == value
