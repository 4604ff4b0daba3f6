"""What the structural causal model decided for one sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Value = float | int | bool | str
"""A parameter's value: a number, or a literal for a boolean or enumerated parameter."""


@dataclass(frozen=True)
class NodeDraw:
    """One node of a draw.

    Attributes
    ----------
    active : bool
        False where the node's ``when`` is false: clean parameters, severity 0.
    parameters : mapping of str to Value
        Every parameter of the recipe as drawn, before any clamping.
    severity : float
        In [0, 1]; 0 is clean.
    noise : mapping of str to float
        Every exogenous variable of the node, also those the taken branch does not read.
    log_density : float
        Log-density of the node given its parents. [nat]
    clamped : mapping of str to Value
        Applied value of each parameter whose drawn value lies outside the recipe's safe range.
    density_of : str
        What ``log_density`` is a density of: ``parameters`` where each noise that the taken
        branch reads enters one parameter, once and invertibly; else ``noise``, of all noise that
        is read. A discrete noise counts with its mass in both.
    """

    active: bool
    parameters: Mapping[str, Value]
    severity: float
    noise: Mapping[str, float]
    log_density: float
    clamped: Mapping[str, Value]
    density_of: str = "noise"


@dataclass(frozen=True)
class Draw:
    """One sample of an SCM.

    Attributes
    ----------
    index : int
        Sample index in its split.
    nodes : mapping of str to NodeDraw
        In topological order, latent nodes included.
    log_density : float
        Sum over the nodes. [nat]
    interventions : mapping of str to str
        What was intervened on (``node.parameter``, ``node.noise``) and with what.
    """

    index: int
    nodes: Mapping[str, NodeDraw]
    log_density: float
    interventions: Mapping[str, str]
