"""Where a DAG's order and the order of work differ: what acts first whatever its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from robustclevr.spec.model import DagSpec, NodeSpec

_STAGES: Mapping[str, int] = MappingProxyType({"scene": 0, "image": 1, "encoded": 2})


def stage_warnings(dag: DagSpec) -> tuple[str, ...]:
    """Return one sentence a node that is applied before an ancestor of its.

    Edges are causal: a scene-stage recipe may well depend on an image-stage one. But all
    scene-stage recipes of an image go into its render, before any image-stage one.

    Parameters
    ----------
    dag : DagSpec

    Returns
    -------
    tuple of str
        Each begins with file and line; empty for most DAGs.
    """
    return tuple(_warnings(dag))


def _warnings(dag: DagSpec) -> Iterator[str]:
    for node in dag.nodes:
        ancestors = dag.ancestors(node.id)
        later = [
            other for other in dag.nodes if other.id in ancestors and _stage(other) > _stage(node)
        ]
        if node.recipe is None or not later:
            continue
        names = ", ".join(f"'{other.id}'" for other in later)
        stages = {other.recipe.stage for other in later if other.recipe is not None}
        yield (
            f"{dag.file}:{node.line}: '{node.id}' is of the {node.recipe.stage} stage and lies "
            f"below {names} of the {' and '.join(sorted(stages))} stage: it depends on them, but "
            "is applied before them in every image"
        )


def _stage(node: NodeSpec) -> int:
    """Return when a node is applied; a latent one never is, and comes before all."""
    return -1 if node.recipe is None else _STAGES[node.recipe.stage]
