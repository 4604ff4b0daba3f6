"""The parser that formulas and distributions share: precedence climbing over tokens.

Precedence and associativity are Python's, chained comparisons and ``-2 ** 2`` included. Depth
is bounded, so that no text can exhaust the stack of this or of a later stage.
"""

from __future__ import annotations

import math

from robustclevr.errors import suggest
from robustclevr.spec.arguments import (
    ArgumentValue,
    DistributionCall,
    ListArgument,
    with_formulas,
)
from robustclevr.spec.distributions import DISTRIBUTIONS, ArgumentError, bind
from robustclevr.spec.expression import (
    Call,
    Expression,
    Name,
    Number,
    Operation,
    ParentValue,
    Quantile,
)
from robustclevr.spec.tokens import FormulaError, Token, tokenize
from robustclevr.spec.tree import MAX_DEPTH

ANY_NUMBER = 16
"""Most arguments of ``min`` and ``max``; chosen."""

FUNCTIONS = {
    "where": (3, 3),
    "clip": (3, 3),
    "min": (2, ANY_NUMBER),
    "max": (2, ANY_NUMBER),
    "abs": (1, 1),
    "exp": (1, 1),
    "log": (1, 1),
    "sqrt": (1, 1),
    "sin": (1, 1),
    "cos": (1, 1),
    "tanh": (1, 1),
    "sigmoid": (1, 1),
    "floor": (1, 1),
    "round": (1, 1),
    "quantile": (2, 2),
}
"""Least and most number of arguments of each function."""

KEYWORDS = frozenset({"and", "or", "not"})
COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})

# Binding powers, loosest first; `not` and the signs are prefixes.
_NOT, _COMPARISON, _SIGN, _POWER = 3, 4, 7, 8
_BINARY = {"or": 1, "and": 2, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6, "**": _POWER}
_BINARY |= dict.fromkeys(COMPARISONS, _COMPARISON)

_TRAILING = {
    "if": "write where(condition, this, that)",
    "=": "equality is written ==",
    ")": "it closes a parenthesis that was never opened",
    "/": "floor division is written floor(a / b)",
}


class _Tokens:
    """A cursor over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._next = 0

    def peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._next + ahead, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self.peek()
        self._next += 1
        return token

    def expect(self, sign: str, hint: str = "") -> None:
        token = self.take()
        if token.text != sign:
            raise FormulaError(f"expected '{sign}', got {token}", token.column, hint)

    def end(self, hint: str) -> None:
        token = self.peek()
        if token.kind != "end":
            hint = _TRAILING.get(token.text, hint)
            raise FormulaError(f"unexpected {token}", token.column, hint)


class Parser:
    """Reads one text; every method consumes tokens and raises FormulaError with a column."""

    def __init__(self, text: str) -> None:
        self._tokens = _Tokens(text)
        self._depth = 0

    def formula(self) -> Expression:
        """Read the whole text as a formula."""
        expression = self._expression(0)
        self._tokens.end("an operator or the end of the formula may stand here")
        return expression

    def distribution(self) -> DistributionCall:
        """Read the whole text as one distribution."""
        call = self._distribution()
        self._tokens.end("noises are combined in a formula under 'set'")
        return call

    def _expression(self, power: int) -> Expression:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            column = self._tokens.peek().column
            raise FormulaError("is nested too deeply", column, f"at most {MAX_DEPTH} levels")
        left = self._prefix(power)
        while (binds := _BINARY.get(self._tokens.peek().text, -1)) >= power:
            left = self._comparisons(left) if binds == _COMPARISON else self._binary(left, binds)
        self._depth -= 1
        return left

    def _binary(self, left: Expression, binds: int) -> Expression:
        operator = self._tokens.take().text
        # The power is right-associative, and its exponent may carry a sign.
        right = self._expression(_SIGN if operator == "**" else binds + 1)
        return Operation(operator, (left, right))

    def _comparisons(self, left: Expression) -> Expression:
        chain: Expression | None = None
        while self._tokens.peek().text in COMPARISONS:
            operator = self._tokens.take().text
            right = self._expression(_COMPARISON + 1)
            link = Operation(operator, (left, right))
            chain = link if chain is None else Operation("and", (chain, link))
            left = right
        return left if chain is None else chain

    def _prefix(self, power: int) -> Expression:
        token = self._tokens.take()
        if token.kind == "number":
            return _number(token)
        if token.text == "not":
            return self._not(token, power)
        if token.text in ("-", "+"):
            operand = self._expression(_SIGN)
            return Operation("neg" if token.text == "-" else "pos", (operand,))
        if token.text == "(":
            inner = self._expression(0)
            self._tokens.expect(")")
            return inner
        if token.kind == "name" and token.text not in KEYWORDS:
            return self._named(token)
        hint = "a number, a name or a parenthesis may stand here"
        raise FormulaError(f"unexpected {token}", token.column, hint)

    def _not(self, token: Token, power: int) -> Expression:
        if power > _NOT:
            raise FormulaError("'not' needs parentheses here", token.column)
        return Operation("not", (self._expression(_NOT),))

    def _named(self, token: Token) -> Expression:
        following = self._tokens.peek().text
        if following == "(":
            return self._call(token)
        if token.text in FUNCTIONS:
            raise FormulaError(f"the function '{token.text}' needs its arguments", token.column)
        if following != ".":
            return Name(token.text)
        self._tokens.take()
        field = self._tokens.take()
        if field.kind != "name":
            what = f"unexpected {field} after '{token.text}.'"
            raise FormulaError(what, field.column, "write parent.parameter")
        return ParentValue(token.text, field.text)

    def _call(self, token: Token) -> Expression:
        if token.text not in FUNCTIONS:
            raise FormulaError(f"unknown function '{token.text}'", token.column, _instead(token))
        self._tokens.expect("(")
        if token.text == "quantile":
            return self._quantile()
        arguments = [] if self._tokens.peek().text == ")" else [self._expression(0)]
        while self._tokens.peek().text == ",":
            self._tokens.take()
            arguments.append(self._expression(0))
        self._tokens.expect(")")
        least, most = FUNCTIONS[token.text]
        if not least <= len(arguments) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            what = f"'{token.text}' takes {wanted} argument{'s' * (most > 1)}"
            raise FormulaError(f"{what}, got {len(arguments)}", token.column)
        return Call(token.text, tuple(arguments))

    def _quantile(self) -> Expression:
        call = self._distribution()
        self._tokens.expect(
            ",", "quantile takes a distribution and a level: quantile(Beta(a, b), q)"
        )
        level = self._expression(0)
        self._tokens.expect(")")
        return Quantile(call.signature.name, with_formulas(call), level)

    def _distribution(self) -> DistributionCall:
        token = self._tokens.take()
        if token.text not in DISTRIBUTIONS:
            hint = suggest(token.text, DISTRIBUTIONS)
            raise FormulaError(f"unknown distribution {token}", token.column, hint)
        signature = DISTRIBUTIONS[token.text]
        self._tokens.expect("(", f"write {signature}")
        positional: list[ArgumentValue] = []
        named: list[tuple[str, ArgumentValue]] = []
        while self._tokens.peek().text != ")":
            self._argument(positional, named)
            if self._tokens.peek().text != ")":
                self._tokens.expect(",")
        self._tokens.take()
        if token.text == "Categorical" and positional and not _is_list(positional[0]):
            named, positional = [("n", positional[0]), *named], positional[1:]
        try:
            return DistributionCall(signature, bind(signature, positional, named), token.column)
        except ArgumentError as error:
            raise FormulaError(error.message, token.column, error.hint) from error

    def _argument(
        self, positional: list[ArgumentValue], named: list[tuple[str, ArgumentValue]]
    ) -> None:
        token = self._tokens.peek()
        if token.kind == "name" and self._tokens.peek(1).text == "=":
            self._tokens.take()
            self._tokens.take()
            named.append((token.text, self._argument_value()))
        elif named:
            what = "a positional argument stands behind a named one"
            raise FormulaError(what, token.column, "name it too")
        else:
            positional.append(self._argument_value())

    def _argument_value(self) -> ArgumentValue:
        if self._tokens.peek().text != "[":
            return self._expression(0)
        self._tokens.take()
        items: list[Expression] = []
        while self._tokens.peek().text != "]":
            items.append(self._expression(0))
            if self._tokens.peek().text != "]":
                self._tokens.expect(",")
        self._tokens.take()
        return ListArgument(tuple(items))


def _is_list(value: ArgumentValue) -> bool:
    return isinstance(value, ListArgument)


def _number(token: Token) -> Number:
    value = float(token.text)
    if not math.isfinite(value):
        raise FormulaError(f"the number {token.text} is too large", token.column)
    return Number(value)


def _instead(token: Token) -> str:
    if token.text in DISTRIBUTIONS:
        return f"a distribution stands under 'noise', or in quantile({token.text}(…), q)"
    return suggest(token.text, FUNCTIONS)
