"""What the authors' nodes compute, as formulas of this project's grammar."""

from __future__ import annotations

from collections.abc import Mapping

from robustclevr.records import Value
from robustclevr.spec.authors.model import Constant, Driver, WeightedSum


def value_formula(driver: Driver, noise: str, severities: Mapping[str, str]) -> str:
    """Return the formula of the value that a driver draws.

    Parameters
    ----------
    driver : Driver
        With a :class:`WeightedSum`.
    noise : str
        Name of its noise.
    severities : mapping of str to str
        Formula of the severity of each parent.
    """
    law = driver.law
    if isinstance(law, Constant):
        return literal(law.value)
    total = noise
    for parent, weight in law.weights.items():
        sign = "-" if weight < 0 else "+"
        total += f" {sign} {literal(abs(weight))} * {severities[parent]}"
    level = f"sigmoid({total})" if law.activation == "sigmoid" else f"(tanh({total}) + 1) / 2"
    beta = f"Beta({literal(law.beta_a)}, {literal(law.beta_b)})"
    spread = f"{literal(law.high - law.low)} * quantile({beta}, {level})"
    return f"{literal(law.low)} + {spread}" if law.low else spread


def severity_formula(law: Constant | WeightedSum, value: str) -> str:
    """Return the formula of a driver's severity, given the name of its value.

    Examples
    --------
    >>> severity_formula(Constant(2.4, 0.8), "gamma.gamma")
    '0.8'
    """
    if isinstance(law, Constant):
        return literal(law.severity)
    width = literal(law.high - law.low)
    if law.kind == "increasing":
        return f"({_minus(value, law.low)}) / {width}" if law.low else f"{value} / {width}"
    if law.kind == "decreasing":
        return f"({literal(law.high)} - {value}) / {width}"
    return f"abs({_minus(value, law.standard)}) / {literal(law.reach)}"


def noise_of(law: WeightedSum) -> str:
    """Return the distribution of a driver's noise."""
    return f"Normal({literal(law.bias)}, {literal(law.std)})"


def literal(value: Value) -> str:
    """Return a value as text that reads back to the same bits.

    Examples
    --------
    >>> [literal(value) for value in (True, 10.0, 0.1, "simple_star")]
    ['true', '10', '0.1', 'simple_star']
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def _minus(value: str, number: float) -> str:
    if number == 0:
        return value
    return f"{value} + {literal(-number)}" if number < 0 else f"{value} - {literal(number)}"
