"""Boxes outside the support: proved, or refused with the support in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from robustclevr.errors import Problem, SpecError
from robustclevr.scm.model import SCM
from robustclevr.scm.regions import Region

Box = Mapping[str, Sequence[float]]
"""Lower and upper bound by ``node.parameter``."""


def require_outside(model: SCM, box: Box) -> None:
    """Refuse a box that may hold a draw of the model.

    Parameters
    ----------
    model : SCM
    box : mapping of str to pair of float
        Bounds by ``node.parameter``. The box lies outside if one of them does.

    Raises
    ------
    SpecError
        If no bound lies provably outside the support: one problem a parameter, with its support
        and what to do.
    """
    regions = model.support()
    if any(not regions[name].meets(low, high) for name, (low, high) in box.items()):
        return
    raise SpecError(
        Problem(
            f"[{low:g}, {high:g}] is not outside the support of {name}, {regions[name]}",
            file=model.dag.file,
            path=name,
            hint=_remedy(name, regions[name]),
        )
        for name, (low, high) in box.items()
    )


def _remedy(name: str, region: Region) -> str:
    free = [
        f"{side} {bound:g}"
        for side, bound in (("below", region.low), ("above", region.high))
        if math.isfinite(bound)
    ]
    choose = f"choose an interval {' or '.join(free)}" if free else "every number may be drawn"
    if len(free) == 2:
        return choose
    return (
        f"{choose}; where there is no bound, hold {name} with 'do' or change its law with 'shift'"
    )
