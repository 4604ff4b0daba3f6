"""Which keys a file of the authors has (their dag_generators and node_samplers, and their README).

Keys that their code passes over in silence are errors here, as everywhere in this project.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from robustclevr.spec.schema import Section, show, wrong

ROOT = "root"
"""Name that an edge may start from and no node may have: the rendered image."""


def _bias(value: Any) -> Any:
    if isinstance(value, bool | int | float) or value == "random":
        return value
    raise wrong(f"must be a number, true, false or 'random', got {show(value)}")


class InterveneEntry(Section):
    """``intervene:`` of a node; at least one of the two."""

    severity_value: float | None = Field(default=None, ge=0, le=1)
    render_value: float | None = None


class NodeEntry(Section):
    """An entry of ``node_list:``."""

    name: str | None = None
    corruption_func: str | None = None
    parameter: str | None = None
    type: Literal["ConstantNode", "WeightedSumNode"] | None = None
    defaults: dict[str, Any] = Field(default={})
    intervene: InterveneEntry | None = None
    # ConstantNode
    render_value: float | None = None
    severity_value: float | None = Field(default=None, ge=0, le=1)
    # WeightedSumNode
    min_val: float | None = None
    max_val: float | None = None
    extreme: float | None = None
    standard: float | None = None
    beta_a: float | None = Field(default=None, gt=0)
    beta_b: float | None = Field(default=None, gt=0)
    corruption_type: Literal["increasing", "decreasing", "centered"] | None = None
    bias: Annotated[Any, BeforeValidator(_bias)] = None
    std: float | None = Field(default=None, gt=0)
    activation_type: Literal["sigmoid", "tanh"] | None = None
    edge_weights: dict[str, float] | None = None


class AuthorsFile(Section):
    """A whole file; the last four keys stand in files that their code has saved."""

    dag_generation_method: Literal["CustomDAG"] | None = None
    edge_list: list[list[str]] = Field(default=[])
    node_list: list[NodeEntry] = Field(default=[])
    loadable: bool = False
    seed: int | None = None
    original_configuration: Any = None


COMMON_KEYS = ("name", "corruption_func", "parameter", "type")
CONSTANT_KEYS = ("render_value", "severity_value")
WEIGHTED_KEYS = (
    "min_val",
    "max_val",
    "beta_a",
    "beta_b",
    "corruption_type",
    "bias",
    "std",
    "activation_type",
)
"""Keys that a node of each type needs; ``extreme`` is read by nothing in their code."""
