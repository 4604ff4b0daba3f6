"""Entries that hold a formula or distribution: read, checked, and every error noted."""

from __future__ import annotations

from robustclevr.errors import suggest
from robustclevr.recipe import Parameter
from robustclevr.spec.document import Document
from robustclevr.spec.expression import Expression, Number
from robustclevr.spec.formula import parse_distribution, parse_formula
from robustclevr.spec.model import Assignment, Distribution
from robustclevr.spec.schema import show
from robustclevr.spec.scope import Scope, is_truth, name_problems
from robustclevr.spec.tokens import FormulaError


def read_distribution(document: Document, path: str, text: object) -> Distribution | None:
    """Return the distribution written at ``path``, or None with the problem noted."""
    if not isinstance(text, str):
        what = f"must be a distribution, such as HalfNormal(0.3), got {show(text)}"
        document.problem(path, what)
        return None
    try:
        return parse_distribution(text)
    except FormulaError as error:
        _note(document, path, text, error)
        return None


def read_formula(
    document: Document, path: str, value: object, scope: Scope | None
) -> Expression | None:
    """Return the formula written at ``path``, or None with the problem noted.

    Parameters
    ----------
    document : Document
    path : str
    value : str, int, float or bool
        As it stands in the file.
    scope : Scope, optional
        What the formula may read; None leaves its names unchecked.
    """
    if isinstance(value, bool | int | float):
        return Number(float(value))
    if not isinstance(value, str):
        document.problem(path, f"must be a formula, got {show(value)}")
        return None
    try:
        expression = parse_formula(value)
    except FormulaError as error:
        _note(document, path, value, error)
        return None
    problems = list(name_problems(expression, scope)) if scope else []
    for message, hint in problems:
        document.problem(path, message, hint)
    return None if problems else expression


def read_truth(
    document: Document, path: str, value: object, scope: Scope | None
) -> Expression | None:
    """Return a formula that must answer yes or no, or None with the problem noted."""
    expression = read_formula(document, path, value, scope)
    if expression is not None and scope and not is_truth(expression, scope):
        hint = "write a comparison, such as u > 0.5"
        document.problem(path, f"{show(value)} is a number, not a yes or no", hint)
        return None
    return expression


def read_assignment(
    document: Document,
    path: str,
    value: object,
    parameter: Parameter | None,
    *,
    scope: Scope | None,
) -> Assignment | None:
    """Return how a parameter is set, or None with the problem noted.

    ``parameter`` is None where any formula may stand: in a latent node, or for a parameter of a
    recipe that is not known.
    """
    name, line = path.rpartition(".")[2], document.line(path)
    text = value if isinstance(value, str) else show(value)
    kind = parameter.kind if parameter else "any"
    if parameter and kind == "choice":
        literal = read_literal(document, path, value, parameter)
        return None if literal is None else Assignment(name, None, literal, text, line)
    if kind == "boolean" and isinstance(value, bool):
        return Assignment(name, None, value, text, line)
    if isinstance(value, bool) and kind != "any":
        document.problem(path, f"{name} is a number, got {text}")
        return None
    read = read_truth if kind == "boolean" else read_formula
    formula = read(document, path, value, scope)
    return None if formula is None else Assignment(name, formula, None, text, line)


def read_literal(
    document: Document, path: str, value: object, parameter: Parameter
) -> bool | str | None:
    """Return a literal of an enumerated parameter, or None with the problem noted."""
    if isinstance(value, str) and value in parameter.choices:
        return value
    hint = suggest(value if isinstance(value, str) else show(value), parameter.choices)
    document.problem(path, f"{show(value)} is not a choice of {parameter.name}", hint)
    return None


def _note(document: Document, path: str, text: str, error: FormulaError) -> None:
    message = f"{error.message} at column {error.column} of {show(text)}"
    document.problem(path, message, error.hint)
