"""A DAG file to a :class:`DagSpec`: all errors at once, nodes in the order they are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from robustclevr.errors import suggest
from robustclevr.recipe import LoadedRecipe
from robustclevr.spec.dag_schema import DagFile, NodeFile
from robustclevr.spec.document import Document, as_document, join
from robustclevr.spec.graph import Parents, find_cycles, topological, with_order
from robustclevr.spec.library import find_dag
from robustclevr.spec.model import DagSpec, NodeSpec
from robustclevr.spec.node import read_node, surroundings
from robustclevr.spec.reading import read_document
from robustclevr.spec.schema import validate

_SHOWN = 20  # nodes of a cycle in a message


def load_dag(
    name_or_path: str | Path,
    recipes: Mapping[str, LoadedRecipe],
    *,
    relative_to: Path | None = None,
) -> DagSpec:
    """Load a DAG.

    Parameters
    ----------
    name_or_path : str or Path
        A name among the shipped DAGs, or a path: a Path, or a text that ends in .yaml or .yml or
        holds a slash.
    recipes : mapping of str to LoadedRecipe
        From :func:`robustclevr.recipe.load_recipes`.
    relative_to : Path, optional
        Folder that a relative path starts from; the working directory if None.

    Returns
    -------
    DagSpec

    Raises
    ------
    SpecError
        With everything that is wrong with the file, or if there is no such DAG.
    """
    path = find_dag(name_or_path, relative_to=relative_to)
    return build_dag(read_document(path), recipes, name=path.stem)


def dag_from_document(
    document: Mapping[str, Any], recipes: Mapping[str, LoadedRecipe], *, file: str
) -> DagSpec:
    """Load a DAG from its own :attr:`DagSpec.document`; ``file`` names it in messages."""
    return build_dag(as_document(document, file), recipes, name="dag")


def build_dag(document: Document, recipes: Mapping[str, LoadedRecipe], *, name: str) -> DagSpec:
    """Build the DAG that a document describes; ``name`` is used where the file gives none."""
    file = validate(DagFile, document)
    if not file.nodes and not any(path.startswith("nodes") for path in document.broken):
        document.problem("nodes", "the DAG has no nodes", "write at least one under 'nodes:'")
    around = surroundings(document, file.nodes, recipes)
    nodes = {node: read_node(node, around) for node in file.nodes}
    parents = {node: spec.parents for node, spec in nodes.items()}
    order = _order(document, file, parents)
    document.raise_problems()
    drawn = tuple(nodes[node] for node in topological(parents, order))
    return DagSpec(
        name=file.name or name,
        summary=file.summary,
        source=file.source,
        nodes=drawn,
        file=document.file,
        document=_to_document(file, file.name or name, drawn),
    )


def _order(document: Document, file: DagFile, parents: Parents) -> Sequence[str]:
    """Note cycles and a wrong ``order:``; return the order."""
    cycles = find_cycles(parents)
    for cycle in cycles:
        path = join("nodes", cycle[0], "parents")
        document.problem(
            path, f"cycle: {_arrows(cycle)}", "a DAG has none: remove one of these parents"
        )
    for index, node in enumerate(file.order):
        path = join("order", index)
        if node not in parents and join("nodes", node) not in document.broken:
            document.problem(path, f"there is no node '{node}'", suggest(node, parents))
        elif node in file.order[:index]:
            document.problem(path, f"'{node}' stands twice")
    order = [node for node in dict.fromkeys(file.order) if node in parents]
    if not cycles:
        for cycle in find_cycles(with_order(parents, order)):
            what = f"contradicts the edges of the DAG: {_arrows(cycle)}"
            document.problem("order", what, "parents come first")
    return order


def _arrows(cycle: Sequence[str]) -> str:
    if len(cycle) > _SHOWN:
        cycle = (*cycle[: _SHOWN - 1], f"… {len(cycle) - _SHOWN} more …", cycle[-1])
    return " -> ".join((*cycle, cycle[0]))


def _to_document(file: DagFile, name: str, drawn: Sequence[NodeSpec]) -> dict[str, object]:
    """Return what :func:`dag_from_document` reads as the same DAG, whatever sorts its keys."""
    return {
        "name": name,
        "summary": file.summary,
        "source": file.source,
        "order": [node.id for node in drawn],
        "nodes": {node.id: _node_to_document(file.nodes[node.id]) for node in drawn},
    }


def _node_to_document(node: NodeFile) -> dict[str, object]:
    written = node.model_dump(exclude_unset=True)
    for key in written.keys() & {"noise", "set"}:
        written[key] = [{name: value} for name, value in written[key].items()]
    return written
