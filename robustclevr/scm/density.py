"""The log-density of one node given its parents: in its parameters where they tell the noise.

Enters: the noise of a node, what its formulas read of it, and the slopes of its parameters.
Leaves: a column, and in which rows it is that of the parameters. There, every noise that the
taken branch reads enters one parameter, once and invertibly; elsewhere the density is that of the
noise. It is never a mixture of the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from robustclevr.scm.distributions import log_density
from robustclevr.scm.elementary import FloatArray
from robustclevr.scm.evaluate import Scope
from robustclevr.scm.operations import select
from robustclevr.scm.slopes import Rows, Slope
from robustclevr.spec.model import NodeSpec

_ZERO = np.zeros(())
_ALL, _NONE = np.ones((), dtype=np.bool_), np.zeros((), dtype=np.bool_)


def node_density(
    node: NodeSpec, noise: Mapping[str, FloatArray], scope: Scope, slopes: Iterable[Slope]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the log-density of a node given its parents.

    Parameters
    ----------
    node : NodeSpec
    noise : mapping of str to ndarray of float64, shape (n,)
    scope : Scope
        After all formulas were traced.
    slopes : iterable of Slope
        One for each parameter that reads a noise and tells it.

    Returns
    -------
    density : ndarray of float64, shape (n,) or ()
        [nat]
    in_parameters : ndarray of bool, shape (n,) or ()
        False where the density is stated in the noise.
    """
    density = _noise_density(node, noise, scope.reads)
    lost = list(scope.lost)
    steepness = _ZERO
    for slope in slopes:
        if isinstance(slope.log, float) and slope.log == 0.0:
            continue
        finite = np.isfinite(slope.log)
        if not finite.all():
            lost.append(_and(slope.rows, ~finite))
        if np.any(slope.log):
            steepness = steepness + _within(slope.rows, np.asarray(slope.log))
    if not lost:
        return density - steepness, _ALL
    in_parameters = ~_any(lost)
    if not in_parameters.any() or not steepness.any():
        return density, in_parameters
    return select(in_parameters, density - steepness, density), in_parameters


def _noise_density(
    node: NodeSpec, noise: Mapping[str, FloatArray], reads: Mapping[str, Rows]
) -> FloatArray:
    total = _ZERO
    for variable in node.noise:
        if variable.name in reads:
            density = log_density(variable.distribution, noise[variable.name])
            if density.size and not any(density.strides):
                density = density[:1].reshape(())  # the same in all rows
            total = total + _within(reads[variable.name], density)
    return total


def _within(rows: Rows, column: FloatArray) -> FloatArray:
    if rows is None or not column.any():
        return column
    return np.asarray(select(rows, column, _ZERO))


def _and(rows: Rows, holds: NDArray[np.bool_]) -> Rows:
    if rows is None:
        return holds if holds.ndim else None
    return rows & holds


def _any(several: Iterable[Rows]) -> NDArray[np.bool_]:
    """Return the rows that lie in one of several; shape () if they are all or none."""
    total = _NONE
    for rows in several:
        if rows is None:
            return _ALL
        total = total | rows
    return total if total.any() else _NONE
