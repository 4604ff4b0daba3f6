"""What an intervention points at: ``node.parameter`` or ``node.noise`` of a DAG."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robustclevr.errors import suggest
from robustclevr.recipe import Parameter
from robustclevr.spec.document import Document
from robustclevr.spec.model import DagSpec, NodeSpec
from robustclevr.spec.scope import Kinds, Scope, parameter_kinds


@dataclass(frozen=True)
class Target:
    """A parameter or a noise of a node.

    Attributes
    ----------
    path : str
        Where in the document it is named.
    node : NodeSpec
    name : str
        Of the parameter or noise.
    """

    path: str
    node: NodeSpec
    name: str

    @property
    def is_noise(self) -> bool:
        """True for an exogenous variable."""
        return any(noise.name == self.name for noise in self.node.noise)

    @property
    def parameter(self) -> Parameter | None:
        """The recipe's parameter; None for a noise and in a latent node."""
        if self.node.recipe is None or self.is_noise:
            return None
        return self.node.recipe.parameter(self.name)

    @property
    def kind(self) -> str:
        """Kind of the parameter; ``any`` where there is no recipe."""
        return self.parameter.kind if self.parameter else "any"


def dag_fields(dag: DagSpec) -> Mapping[str, Kinds]:
    """Return the kinds of every node's parameters."""
    fields: dict[str, Kinds] = {}
    for node in dag.nodes:
        if node.recipe is not None:
            fields[node.id] = parameter_kinds(node.recipe)
        else:
            fields[node.id] = {item.parameter: "any" for item in node.assignments}
    return fields


def find_target(document: Document, path: str, name: str, dag: DagSpec) -> Target | None:
    """Return what ``name`` points at, or None with the problem noted at ``path``."""
    node_id, dot, field = name.partition(".")
    fields = dag_fields(dag)
    if node_id not in fields:
        document.problem(path, f"there is no node '{node_id}'", suggest(node_id, fields))
        return None
    node = dag.node(node_id)
    allowed = [*fields[node_id], *(noise.name for noise in node.noise)]
    if not dot:
        hint = f"write {node_id}.parameter; {suggest('', allowed)}"
        document.problem(path, f"'{name}' is a node", hint)
        return None
    if field not in allowed:
        what = f"node '{node_id}' has no parameter or noise '{field}'"
        document.problem(path, what, suggest(field, allowed))
        return None
    return Target(path, node, field)


def node_scope(target: Target, dag: DagSpec) -> Scope:
    """Return what a formula that replaces the one of ``target`` may read."""
    node = target.node
    kinds = dag_fields(dag)[node.id]
    names: dict[str, str] = {}
    for noise in node.noise:
        names[noise.name] = "boolean" if noise.distribution.name == "Bernoulli" else "number"
    written = [item.parameter for item in node.assignments]
    place = written.index(target.name) if target.name in written else len(written)
    names |= {name: kinds[name] for name in written[:place]}
    return Scope(node.id, names, written[place:], node.parents, dag_fields(dag))
