"""Parameters that no draw keeps within what their recipe can apply."""

from __future__ import annotations

from collections.abc import Iterator

from robustclevr.errors import Problem, SpecError
from robustclevr.scm.support import dag_support
from robustclevr.spec.model import DagSpec


def require_applicable(dag: DagSpec) -> None:
    """Refuse a DAG in which a parameter's support lies wholly outside its recipe's safe range.

    A value outside the range is clamped when it is applied; if every value is, the node is not
    what its author means.

    Raises
    ------
    SpecError
        One problem a parameter, with its support and the range.
    """
    problems = list(_problems(dag))
    if problems:
        raise SpecError(problems)


def _problems(dag: DagSpec) -> Iterator[Problem]:
    regions = dag_support(dag, {})
    for node in dag.nodes:
        for item in node.assignments if node.recipe is not None else ():
            parameter = node.recipe.parameter(item.parameter) if node.recipe else None
            region = regions.get(f"{node.id}.{item.parameter}")
            if parameter is None or region is None or parameter.kind in ("boolean", "choice"):
                continue
            if not region.meets(parameter.low, parameter.high):
                yield Problem(
                    f"every value of {item.parameter} lies outside what the recipe applies: "
                    f"{region}",
                    file=dag.file,
                    line=item.line,
                    path=f"nodes.{node.id}.set.{item.parameter}",
                    hint=f"the safe range is [{parameter.low:g}, {parameter.high:g}]",
                )
