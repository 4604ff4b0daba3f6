"""Which keys a DAG file has."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from robustclevr.spec.schema import DistributionText, FormulaValue, OrderedEntries, Section


class NodeFile(Section):
    """An entry of ``nodes:``."""

    recipe: str | None = Field(
        default=None, description="Recipe to apply; the node's own name if absent."
    )
    latent: bool = Field(default=False, description="True: drives others, touches no pixels.")
    parents: list[str] = Field(default=[], description="Nodes whose values the formulas may read.")
    when: FormulaValue = Field(
        default=None, description="The node is inactive where this is false."
    )
    noise: Annotated[dict[str, DistributionText], OrderedEntries] = Field(
        default={}, description="Exogenous variables: name to distribution."
    )
    set: Annotated[dict[str, FormulaValue], OrderedEntries] = Field(
        default={},
        description="Parameter to formula, or to a literal of a boolean or enumerated one.",
    )
    severity: FormulaValue = Field(
        default=None, description="Formula in place of severity parameters."
    )


class DagFile(Section):
    """A DAG file."""

    name: str | None = Field(default=None, description="Name; the file's stem if absent.")
    summary: str = Field(default="", description="One line.")
    source: str = Field(default="", description="Where the numbers come from.")
    order: list[str] = Field(default=[], description="Order among nodes that no edge orders.")
    nodes: dict[str, NodeFile] = Field(default={}, description="Node id to node.")
