"""The exogenous variables of a DAG: drawn from their streams, or taken from what was recorded."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from robustclevr import seeds
from robustclevr.errors import SamplingError, SpecError
from robustclevr.records import Draw
from robustclevr.scm.distributions import quantile
from robustclevr.scm.elementary import FloatArray
from robustclevr.scm.table import DrawTable
from robustclevr.spec.model import DagSpec, NoiseSpec

Noise = Mapping[str, Mapping[str, FloatArray]]
"""Columns of noise by node and name."""


def noise_names(dag: DagSpec) -> frozenset[str]:
    """Return ``node.noise`` of every exogenous variable."""
    return frozenset(f"{node.id}.{variable.name}" for node in dag.nodes for variable in node.noise)


def draw_noise(
    dag: DagSpec, index: NDArray[np.int64], seed: int, split: str, attempt: int = 0
) -> Noise:
    """Draw all noise of some samples.

    Parameters
    ----------
    dag : DagSpec
    index : ndarray of int64, shape (n,)
        Sample indices, ascending.
    seed, split : int, str
        Root seed, and name of the split.
    attempt : int
        0, or the number of the try when samples are rejected: each try has streams of its own.

    Returns
    -------
    mapping of node to mapping of noise to ndarray of float64, shape (n,)
        Read-only.

    Raises
    ------
    SamplingError
        If a distribution gives infinity.
    """
    suffix = f"\0try {attempt}" if attempt else ""
    first, count = (int(index[0]), int(index[-1] - index[0]) + 1) if index.size else (0, 0)
    noise: dict[str, dict[str, FloatArray]] = {node.id: {} for node in dag.nodes}
    variables = [(node, variable) for node in dag.nodes for variable in node.noise]
    with np.errstate(all="ignore"):  # reported by _check_finite
        for node, variable in variables:
            stage = f"{node.id}.{variable.name}{suffix}"
            u = seeds.uniforms(seed, split, stage, start=first, count=count)
            if count != index.size:
                u = u[index - first]
            values = quantile(variable.distribution, u)
            _check_finite(values, index, node.id, variable, dag.file)
            values.flags.writeable = False
            noise[node.id][variable.name] = values
    return noise


def recorded_noise(dag: DagSpec, drawn: DrawTable | Draw) -> tuple[NDArray[np.int64], Noise]:
    """Return the sample indices and all noise that a DAG needs, as they were recorded.

    Raises
    ------
    SpecError
        If a noise of the DAG was not recorded.
    """
    single = isinstance(drawn, Draw)
    index = np.array([drawn.index], dtype=np.int64) if isinstance(drawn, Draw) else drawn.index
    noise: dict[str, dict[str, FloatArray]] = {}
    for node in dag.nodes:
        recorded = drawn.nodes[node.id].noise if node.id in drawn.nodes else {}
        noise[node.id] = {}
        for variable in node.noise:
            if variable.name not in recorded:
                raise SpecError.single(
                    f"the draws hold no noise '{node.id}.{variable.name}'",
                    file=dag.file,
                    line=variable.line,
                    hint="they were drawn from another DAG",
                )
            value = recorded[variable.name]
            noise[node.id][variable.name] = np.array([value]) if single else np.asarray(value)
    return index, noise


def _check_finite(
    values: FloatArray, index: NDArray[np.int64], node: str, variable: NoiseSpec, file: str
) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argmin(finite))
        raise SamplingError(
            f"{file}:{variable.line}: {node}.{variable.name}: '{variable.text}' gives "
            f"{values[row]} in sample {index[row]}: its tail is too long for a float; "
            "choose a shorter one"
        )
