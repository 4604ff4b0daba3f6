"""The structural causal model of a DAG: draws samples, alone or by the million.

Enters: a valid DAG. Leaves: a :class:`~robustclevr.scm.table.DrawTable`. The noise of sample i is
the quantile function of its distribution at the i-th number of the stream of (seed, split,
``node.noise``); everything else is a function of the noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robustclevr import seeds
from robustclevr.errors import SamplingError, SpecError
from robustclevr.recipe import LoadedRecipe, load_recipes
from robustclevr.records import Draw
from robustclevr.scm.distributions import quantile
from robustclevr.scm.elementary import FloatArray
from robustclevr.scm.evaluate import Column
from robustclevr.scm.mechanism import run_node
from robustclevr.scm.table import DrawTable, NodeColumns, concatenate
from robustclevr.spec import load_dag
from robustclevr.spec.model import DagSpec, NodeSpec, NoiseSpec

_BLOCK = 2**15
"""Rows computed together: few enough that their intermediate columns stay in the cache."""

Noise = Mapping[str, Mapping[str, FloatArray]]
"""Columns of noise by node and name."""


@dataclass(frozen=True)
class SCM:
    """A structural causal model; immutable, and a function of seed, split and index.

    Parameters
    ----------
    dag : DagSpec
        From :func:`robustclevr.spec.load_dag`.

    Examples
    --------
    >>> scm = SCM.from_yaml("tree-uniform")
    >>> table = scm.sample(1000, seed=7)
    >>> bool((table.nodes["gamma"].parameters["gamma"] < 3.0).all())
    True
    >>> scm.draw(seed=7, split="test", index=17) == table.draw(17)
    True
    """

    dag: DagSpec

    @classmethod
    def from_yaml(
        cls, name_or_path: str | Path, recipes: Mapping[str, LoadedRecipe] | None = None
    ) -> SCM:
        """Build the model of a DAG file.

        Parameters
        ----------
        name_or_path : str or Path
            Name of a shipped DAG, or a YAML file.
        recipes : mapping of str to LoadedRecipe, optional
            From :func:`robustclevr.recipe.load_recipes`; the shipped ones if not given.

        Raises
        ------
        SpecError
            All problems of the file, each with its line.
        """
        return cls(load_dag(name_or_path, load_recipes() if recipes is None else recipes))

    def sample(self, n: int, *, seed: int, split: str = "test", start: int = 0) -> DrawTable:
        """Draw consecutive samples.

        Parameters
        ----------
        n : int
            Number of samples, >= 0.
        seed : int
            Root seed; 0 is a seed like any other.
        split : str
            Name of the split.
        start : int
            Index of the first sample, >= 0.

        Returns
        -------
        DrawTable
            ``n`` rows. A row depends on its index, not on ``n`` or ``start``, to the last bit.

        Raises
        ------
        SpecError
            If ``n`` or ``start`` is negative.
        SamplingError
            If a formula or a distribution gives NaN or infinity where it counts.
        """
        for name, value in (("n", n), ("start", start)):
            if value < 0:
                raise SpecError.single(f"{name} must be at least 0, got {value}")
        return concatenate(list(self._blocks(n, seed, split, start)))

    def _blocks(self, n: int, seed: int, split: str, start: int) -> Iterator[DrawTable]:
        for first in range(start, start + max(n, 1), _BLOCK):
            index = np.arange(first, min(first + _BLOCK, start + n), dtype=np.int64)
            index.flags.writeable = False
            yield self.propagate(index, self._noise(index, seed, split))

    def draw(self, *, seed: int, split: str, index: int) -> Draw:
        """Draw one sample as a record: row ``index`` of any table that holds it.

        Parameters are those of :meth:`sample`, and so are the errors.
        """
        return self.sample(1, seed=seed, split=split, start=index).draw(0)

    def propagate(self, index: NDArray[np.int64], noise: Noise) -> DrawTable:
        """Compute everything that follows from given noise.

        Parameters
        ----------
        index : ndarray of int64, shape (n,)
            Sample indices.
        noise : mapping of node to mapping of noise to ndarray of float64, shape (n,)
            All noises of all nodes.

        Raises
        ------
        SamplingError
            If a formula gives NaN or infinity where it counts.
        """
        parents: dict[tuple[str, str], Column] = {}
        nodes: dict[str, NodeColumns] = {}
        joint = np.zeros(index.size)
        for node in self.dag.nodes:
            with np.errstate(all="ignore"):  # run_node reports what is not finite where it counts
                columns = run_node(node, noise[node.id], parents, index, self.dag.file)
            nodes[node.id] = columns
            joint += columns.log_density
            for name, column in columns.parameters.items():
                parents[node.id, name] = column
            parents[node.id, "severity"] = columns.severity
            parents[node.id, "active"] = columns.active
        joint.flags.writeable = False
        return DrawTable(index, nodes, joint, {})

    def _noise(self, index: NDArray[np.int64], seed: int, split: str) -> Noise:
        return {
            node.id: {
                variable.name: self._variable(node, variable, index, seed, split)
                for variable in node.noise
            }
            for node in self.dag.nodes
        }

    def _variable(
        self,
        node: NodeSpec,
        variable: NoiseSpec,
        index: NDArray[np.int64],
        seed: int,
        split: str,
    ) -> FloatArray:
        start = int(index[0]) if index.size else 0
        name = f"{node.id}.{variable.name}"
        u = seeds.uniforms(seed, split, name, start=start, count=index.size)
        with np.errstate(all="ignore"):  # reported below
            values = quantile(variable.distribution, u)
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise SamplingError(
                f"{self.dag.file}:{variable.line}: {name}: '{variable.text}' gives {values[row]} "
                f"in sample {index[row]}: its tail is too long for a float; choose a shorter one"
            )
        values.flags.writeable = False
        return values
