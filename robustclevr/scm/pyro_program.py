"""The same model as a pyro program, for inference with pyro's own tools.

One call is one sample. Noise sites are named ``node.noise`` and are sampled when a formula first
reads them, so a trace holds what the taken branch reads. Its log-probability is that of the
noise; a draw whose ``density_of`` is ``parameters`` has log |d parameter / d noise| subtracted
from it. Values are float64 tensors, and gradients flow through every formula but
``quantile(…)``. Importing this module imports torch and pyro; nothing else of the project does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import pyro
import torch
from torch.distributions import constraints

from robustclevr.records import Value
from robustclevr.scm.distributions import LAWS
from robustclevr.scm.interventions import held_in, switched_on
from robustclevr.scm.severity import offsets, parameters_of_severity
from robustclevr.spec.expression import (
    Call,
    Expression,
    Name,
    Number,
    Operation,
    ParentValue,
    Quantile,
)
from robustclevr.spec.model import Assignment, DagSpec, Distribution, NodeSpec

Program = Callable[[], dict[str, Any]]
"""Returns float64 tensors by ``node.parameter``, ``node.severity`` and ``node.active``."""


def pyro_program(
    dag: DagSpec, held: Mapping[str, Value], condition: Expression | None = None
) -> Program:
    """Return the program; see :meth:`robustclevr.scm.SCM.pyro_model`."""

    def program() -> dict[str, Any]:
        values: dict[str, Any] = {}
        for node in dag.nodes:
            values |= _Node(node, values, held_in(node, held)).run()
        if condition is not None:
            met = _Node(dag.nodes[0], values, {}).compute(condition)
            pyro.factor("given", torch.where(met != 0, 0.0, -torch.inf))
        return values

    return program


class DiscreteUniform(pyro.distributions.TorchDistribution):
    """k / n for k in 0 … n - 1, which pyro does not have."""

    arg_constraints: dict[str, Any] = {}  # noqa: RUF012
    support = constraints.real
    has_enumerate_support = False

    def __init__(self, n: int) -> None:
        self.n = n
        super().__init__(validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return float64 draws."""
        return torch.randint(self.n, tuple(sample_shape)).double() / self.n

    def log_prob(self, value: Any) -> Any:
        """Return -log n on the grid, -inf off it."""
        k = value * self.n
        inside = (torch.abs(k - torch.round(k)) <= 1e-9) & (value >= 0) & (value < 1)
        mass = torch.tensor(-math.log(self.n), dtype=torch.float64)
        return torch.where(inside, mass, -math.inf)


class _Node:
    """One node of one sample."""

    def __init__(self, node: NodeSpec, above: Mapping[str, Any], held: Mapping[str, Value]) -> None:
        self._node, self._above, self._held = node, above, held
        self._own: dict[str, Any] = {}
        self._laws = {item.name: item.distribution for item in node.noise}

    def run(self) -> dict[str, Any]:
        """Sample the node; return its tensors by ``node.field``."""
        node = self._node
        active = node.when is None or bool(self.compute(node.when) != 0)
        fields = self._set() if active else {}
        if node.recipe is not None:
            clean = node.recipe.clean_parameters().items()
            fields = {name: fields.get(name, _constant(value)) for name, value in clean}
        fields |= {name: _constant(value) for name, value in self._held.items()}
        active = active or switched_on(node, self._held)
        for name, value in fields.items():
            if not isinstance(value, str):
                pyro.deterministic(f"{node.id}.{name}", value)
        fields |= {"severity": self._severity(fields), "active": _constant(active)}
        return {f"{node.id}.{name}": value for name, value in fields.items()}

    def _set(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for item in self._node.assignments:
            fields[item.parameter] = self._assigned(item)
            self._own[item.parameter] = fields[item.parameter]
        level = self._node.severity
        if level is not None and self._node.recipe is not None and level.formula is not None:
            drawn = np.asarray(_number(self.compute(level.formula)))
            for name, value in parameters_of_severity(self._node.recipe, drawn).items():
                fields[name] = _constant(float(value))
        return fields

    def _assigned(self, item: Assignment) -> Any:
        if item.parameter in self._held:
            return _constant(self._held[item.parameter])
        if item.formula is None:
            return _constant(item.literal if item.literal is not None else 0.0)
        value = self.compute(item.formula)
        recipe = self._node.recipe
        if recipe is not None and recipe.parameter(item.parameter).kind == "boolean":
            return (value != 0).double()
        return value

    def _severity(self, fields: Mapping[str, Any]) -> Any:
        if self._node.recipe is None:
            return _constant(0.0)
        total = _constant(0.0)
        for parameter in self._node.recipe.parameters:
            if parameter.role == "severity" and parameter.worst is not None:
                clean = float(parameter.clean)
                below, above = offsets(parameter)
                strength = torch.clamp(fields[parameter.name] - clean, below, above)
                total = torch.maximum(total, torch.abs(strength) / abs(parameter.worst - clean))
        curve = self._node.recipe.curve
        return total if curve is None else _interpolate(total, curve.fraction, curve.severity)

    def compute(self, expression: Expression) -> Any:
        """Return the value of a formula; only the branch that is taken is looked at."""
        match expression:
            case Number(value):
                return _constant(value)
            case Name(name):
                return self._read(name)
            case ParentValue(node, field):
                return self._above[f"{node}.{field}"]
            case Call("where", (condition, then, otherwise)):
                return self.compute(then if self.compute(condition) != 0 else otherwise)
            case Operation("and" | "or" as operator, (left, right)):
                decided = bool(self.compute(left) != 0) == (operator == "or")
                truth = decided == (operator == "or")
                return _constant(truth if decided else bool(self.compute(right) != 0))
            case Operation(operator, operands):
                return _OPERATORS[operator](*(self.compute(operand) for operand in operands))
            case Call(function, operands):
                return _FUNCTIONS[function](*(self.compute(operand) for operand in operands))
            case Quantile():
                return self._quantile(expression)
        raise TypeError(f"not an expression: {expression!r}")

    def _read(self, name: str) -> Any:
        if name not in self._own:
            self._own[name] = _sample(f"{self._node.id}.{name}", self._laws[name])
        return self._own[name]

    def _quantile(self, expression: Quantile) -> Any:
        arguments = {name: _number(self.compute(value)) for name, value in expression.arguments}
        level = np.asarray(_number(self.compute(expression.level)))
        return _constant(float(LAWS[expression.distribution].quantile(level, arguments)))


def _constant(value: Value) -> Any:
    return value if isinstance(value, str) else torch.tensor(float(value), dtype=torch.float64)


def _interpolate(x: Any, knots: tuple[float, ...], values: tuple[float, ...]) -> Any:
    """Return the piecewise linear map of one number, differentiable in it."""
    places, heights = (torch.tensor(item, dtype=torch.float64) for item in (knots, values))
    left = torch.clamp(torch.searchsorted(places, x.detach()) - 1, 0, len(knots) - 2)
    slope = (heights[left + 1] - heights[left]) / (places[left + 1] - places[left])
    return heights[left] + slope * (x - places[left])


def _number(value: Any) -> float:
    return float(value.detach())


def _sample(site: str, law: Distribution) -> Any:
    if law.name == "DiscreteUniform":
        kind = DiscreteUniform(int(_scalar(law.arguments["n"])))
    else:
        arguments = {
            name: torch.tensor(value, dtype=torch.float64) for name, value in law.arguments.items()
        }
        kind = getattr(pyro.distributions, law.name)(**arguments)
    return pyro.sample(site, kind).double()


def _scalar(value: float | tuple[float, ...]) -> float:
    if isinstance(value, tuple):
        raise TypeError(f"expected a number, got {value}")
    return value


def _answer(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: function(*operands).double()


def _clip(x: Any, low: Any, high: Any) -> Any:
    return torch.minimum(torch.maximum(x, low), high)


_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": torch.add,
    "-": torch.sub,
    "*": torch.mul,
    "/": torch.div,
    "%": torch.remainder,
    "**": torch.pow,
    "neg": torch.neg,
    "pos": torch.positive,
    "<": _answer(torch.lt),
    "<=": _answer(torch.le),
    ">": _answer(torch.gt),
    ">=": _answer(torch.ge),
    "==": _answer(torch.eq),
    "!=": _answer(torch.ne),
    "not": lambda x: (x == 0).double(),
}

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "clip": _clip,
    "min": lambda *values: reduce(torch.minimum, values),
    "max": lambda *values: reduce(torch.maximum, values),
    "abs": torch.abs,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "sin": torch.sin,
    "cos": torch.cos,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "floor": torch.floor,
    "round": torch.round,
}
