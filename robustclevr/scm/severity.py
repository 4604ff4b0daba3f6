"""From parameters to severity, and from severity to parameters.

A node is as far from clean as the largest |p - clean| / |worst - clean| over its parameters of
role severity, capped at 1, where p is what is applied: the drawn value, clamped to the recipe's
safe range. That fraction is its severity, until the recipe has a measured curve; then the curve
maps it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.recipe import Parameter, Recipe
from robustclevr.scm.piecewise import interpolate

FloatArray = NDArray[np.float64]


def severity(recipe: Recipe, parameters: Mapping[str, NDArray[Any]]) -> FloatArray:
    """Return how severe drawn parameters are.

    Parameters
    ----------
    recipe : Recipe
    parameters : mapping of str to ndarray, shape (n,) or ()
        As drawn, before clamping; those that are missing are clean.

    Returns
    -------
    ndarray of float64, shape (n,) or ()
        In [0, 1]; 0 is clean.
    """
    total: FloatArray | None = None
    for parameter in _severity_parameters(recipe):
        if parameter.name in parameters:
            clean, worst = _ends(parameter)
            strength = np.asarray(np.subtract(parameters[parameter.name], clean, dtype=np.float64))
            np.clip(strength, *offsets(parameter), out=strength)  # first, as dividing may overflow
            np.abs(strength, out=strength)
            strength /= abs(worst - clean)
            total = strength if total is None else np.asarray(np.maximum(total, strength))
    if total is None:
        return np.zeros(())
    curve = recipe.curve
    return total if curve is None else interpolate(total, curve.fraction, curve.severity)


def offsets(parameter: Parameter) -> tuple[float, float]:
    """Return how far below and above clean a severity parameter counts.

    Within its safe range, beyond which another value is not applied, and no farther than worst
    lies on the one side or the other.

    Returns
    -------
    below : float
        At most 0.
    above : float
        At least 0.
    """
    clean, worst = _ends(parameter)
    reach = abs(worst - clean)
    below, above = max(parameter.low - clean, -reach), min(parameter.high - clean, reach)
    return min(below, 0.0), max(above, 0.0)


def parameters_of_severity(recipe: Recipe, level: FloatArray) -> dict[str, FloatArray]:
    """Return the severity parameters that have severity ``level``: the inverse of the above.

    Parameters
    ----------
    recipe : Recipe
    level : ndarray of float64
        Taken as 0 below 0 and as 1 above 1.

    Returns
    -------
    dict of str to ndarray of float64
        All parameters of role severity, on the straight line from clean to worst: that far
        along it where the recipe's curve says, or ``level`` of the way without a curve.
    """
    inside = np.clip(level, 0.0, 1.0)
    if recipe.curve is not None:
        inside = interpolate(inside, recipe.curve.severity, recipe.curve.fraction)
    result = {}
    for parameter in _severity_parameters(recipe):
        clean, worst = _ends(parameter)
        result[parameter.name] = np.asarray(clean + inside * (worst - clean))
    return result


def _severity_parameters(recipe: Recipe) -> list[Parameter]:
    return [parameter for parameter in recipe.parameters if parameter.role == "severity"]


def _ends(parameter: Parameter) -> tuple[float, float]:
    if parameter.worst is None:
        raise ValueError(f"severity parameter '{parameter.name}' has no worst value")
    return float(parameter.clean), float(parameter.worst)
