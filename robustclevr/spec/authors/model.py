"""What one file of the authors says, checked: nodes with their laws, in file order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from robustclevr.records import Value
from robustclevr.spec.authors.corruptions import Corruption


@dataclass(frozen=True)
class Constant:
    """ConstantNode: always the same value; ``severity`` is what children read."""

    value: Value
    severity: float


@dataclass(frozen=True)
class WeightedSum:
    """WeightedSumNode.

    With s_p the severity of parent p and e ~ Normal(bias, std), the quantile is
    q = activation(sum_p w_p s_p + e), and the value low + (high - low) F^-1(q), F being the
    distribution function of Beta(beta_a, beta_b). The severity of a value v is
    (v - low) / (high - low), (high - v) / (high - low), or the distance from ``standard`` over
    the largest one.

    Attributes
    ----------
    weights : mapping of str to float
        By parent.
    kind : str
        How the severity follows from the value.
    """

    low: float
    high: float
    beta_a: float
    beta_b: float
    bias: float
    std: float
    activation: Literal["sigmoid", "tanh"]
    weights: Mapping[str, float]
    kind: Literal["increasing", "decreasing", "centered"]
    standard: float

    @property
    def reach(self) -> float:
        """Largest distance from ``standard``."""
        return max(abs(self.high - self.standard), abs(self.low - self.standard))

    def severity(self, value: float) -> float:
        """Return the severity of a value."""
        if self.kind == "centered":
            return abs(value - self.standard) / self.reach
        distance = value - self.low if self.kind == "increasing" else self.high - value
        return distance / (self.high - self.low)

    def value(self, severity: float, *, sign: int) -> float:
        """Return the value of a severity; ``sign`` 1 or -1 is the side if it is centered."""
        if self.kind == "centered":
            return self.standard + sign * severity * self.reach
        share = severity if self.kind == "increasing" else 1 - severity
        return self.low + share * (self.high - self.low)


@dataclass(frozen=True)
class Driver:
    """One node of the authors: it sets one parameter of one corruption.

    Attributes
    ----------
    name : str
    function : str
        ``corruption_func``.
    corruption : Corruption
    parameter : str
        By the authors' name.
    parents : tuple of str
        Without the root.
    law : Constant or WeightedSum
    defaults : mapping of str to Value
        The corruption's other parameters, by the authors' names.
    """

    name: str
    function: str
    corruption: Corruption
    parameter: str
    parents: tuple[str, ...]
    law: Constant | WeightedSum
    defaults: Mapping[str, Value]

    @property
    def sets(self) -> str:
        """The recipe's parameter."""
        return self.corruption.parameters[self.parameter]
