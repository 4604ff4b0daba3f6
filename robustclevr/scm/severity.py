"""From parameters to severity, and from severity to parameters.

A node's severity is the largest |p - clean| / |worst - clean| over its parameters of role
severity, capped at 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.recipe import Parameter, Recipe

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
    total: FloatArray = np.zeros(())
    for parameter in _severity_parameters(recipe):
        if parameter.name in parameters:
            clean, worst = _ends(parameter)
            strength = np.subtract(parameters[parameter.name], clean, dtype=np.float64)
            strength = np.abs(strength) / abs(worst - clean)
            total = np.maximum(total, strength)
    return np.minimum(total, 1.0)


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
        All parameters of role severity, on the straight line from clean to worst.
    """
    inside = np.clip(level, 0.0, 1.0)
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
