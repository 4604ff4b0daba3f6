"""The structural causal model of a DAG: draws samples, alone or by the million.

Enters: a valid DAG. Leaves: a :class:`~robustclevr.scm.table.DrawTable`. The noise of sample i is
the quantile function of its distribution at the i-th number of the stream of (seed, split,
``node.noise``); everything else is a function of the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import SetupError, SpecError
from robustclevr.recipe import LoadedRecipe, load_recipes
from robustclevr.records import Draw, Value, canonical_json
from robustclevr.scm.conditioning import DEFAULT_TRIES, Condition, read_condition, reject
from robustclevr.scm.evaluate import Column
from robustclevr.scm.interventions import held_in, held_values, shifted_dag
from robustclevr.scm.mechanism import run_node
from robustclevr.scm.noise import Noise, draw_noise, noise_names, recorded_noise
from robustclevr.scm.regions import Region
from robustclevr.scm.support import dag_support
from robustclevr.scm.table import DrawTable, NodeColumns, concatenate
from robustclevr.spec import load_dag
from robustclevr.spec.model import DagSpec

_BLOCK = 2**15
"""Rows computed together: few enough that their intermediate columns stay in the cache."""


@dataclass(frozen=True)
class SCM:
    """A structural causal model; immutable, and a function of seed, split and index.

    Parameters
    ----------
    dag : DagSpec
        From :func:`robustclevr.spec.load_dag`.
    held : mapping of str to Value
        Values of parameters (``node.parameter``) under a hard intervention: see :meth:`do`.
    shifted : mapping of str to str
        What was replaced in the DAG, for the record: see :meth:`shift`.
    condition : Condition, optional
        What every sample fulfils: see :meth:`given`.

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
    held: Mapping[str, Value] = field(default_factory=dict)
    shifted: Mapping[str, str] = field(default_factory=dict)
    condition: Condition | None = None

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

    @property
    def interventions(self) -> dict[str, str]:
        """What this model changes in its DAG as it was written, as it is recorded in draws."""
        held = {name: canonical_json(value).decode().strip() for name, value in self.held.items()}
        given = {"given": self.condition.text} if self.condition else {}
        return dict(self.shifted) | held | given

    def do(self, values: Mapping[str, Value]) -> SCM:
        """Return the model under a hard intervention: parameters held at values.

        Everything above stays as it is, to the last bit, since no noise moves; what lies below
        responds. The noise of a formula that is not evaluated any more leaves the log-density.

        Parameters
        ----------
        values : mapping of str to Value
            ``node.parameter`` to its value; added to the interventions there are.

        Raises
        ------
        SpecError
            If a node or parameter does not exist, or its kind does not take the value.

        Examples
        --------
        >>> scm = SCM.from_yaml("chain-uniform").do({"gaussian_blur.size": 9})
        >>> scm.draw(seed=0, split="test", index=0).interventions
        {'gaussian_blur.size': '9'}
        """
        return replace(self, held={**self.held, **held_values(self.dag, values)})

    def shift(self, changes: Mapping[str, object]) -> SCM:
        """Return the model under a soft intervention: noises or formulas replaced.

        The draws stay coupled to those of this model: same uniforms, another quantile function.

        Parameters
        ----------
        changes : mapping of str to object
            ``node.noise`` to the text of a distribution, or ``node.parameter`` to a formula or
            literal.

        Raises
        ------
        SpecError
            If a name does not exist, a text is wrong, or a change changes nothing.

        Examples
        --------
        >>> scm = SCM.from_yaml("tree-halfnormal")
        >>> wide = scm.shift({"clouds.h": "HalfNormal(0.6)"})
        >>> one, other = (m.draw(seed=0, split="test", index=0) for m in (scm, wide))
        >>> round(other.nodes["clouds"].noise["h"] / one.nodes["clouds"].noise["h"], 9)
        2.0
        """
        dag, texts = shifted_dag(self.dag, changes)
        return replace(self, dag=dag, shifted={**self.shifted, **texts})

    def given(self, formula: str, *, tries: int = DEFAULT_TRIES) -> SCM:
        """Return the model conditioned on an event, by rejection.

        Samples that fulfil the condition anyway stay as they were. Log-densities are not divided
        by the probability of the condition.

        Parameters
        ----------
        formula : str
            Over ``node.parameter``, ``node.severity`` and ``node.active`` of any node; together
            with conditions there are.
        tries : int
            Bound on draws of one sample; sampling ends in a SamplingError beyond it.

        Raises
        ------
        SpecError
            If it is no formula, or names what the DAG does not have.

        Examples
        --------
        >>> scm = SCM.from_yaml("chain-uniform").given("clouds.factor > 0.2")
        >>> bool((scm.sample(50, seed=0).nodes["clouds"].parameters["factor"] > 0.2).all())
        True
        """
        condition = read_condition(formula, self.dag, tries)
        return replace(
            self, condition=self.condition.also(condition) if self.condition else condition
        )

    def support(self) -> dict[str, Region]:
        """Return which values each parameter can take.

        Returns
        -------
        dict of str to Region
            ``node.parameter`` (numbers, and 0 and 1 for booleans), ``node.severity`` and
            ``node.active``. A drawn value always lies inside; a region may be too wide, and
            conditions (:meth:`given`) do not narrow it.

        Examples
        --------
        >>> regions = SCM.from_yaml("tree-uniform").support()
        >>> print(regions["gamma.gamma"], regions["gaussian_blur.size"])
        [1, 2.98], 100 values [1, 11], 11 values
        """
        return dag_support(self.dag, self.held)

    def pyro_model(self) -> Callable[[], dict[str, Any]]:
        """Return the same model as a pyro program: one call, one sample.

        Sites are named ``node.noise`` for noise and ``node.parameter`` for parameters
        (deterministic). A noise is sampled when a formula first reads it, so the log-probability
        of a trace is that of the noise that the taken branch reads: the log-density of the draw,
        plus log |d parameter / d noise| where that is stated in the parameters.

        Returns
        -------
        callable
            Returns float64 tensors by ``node.parameter``, ``node.severity``, ``node.active``;
            words as str.

        Raises
        ------
        SetupError
            If pyro is not installed.

        Examples
        --------
        How large was the blur, if a detector reports clouds of severity about 0.9?

        >>> import pyro, torch
        >>> model = SCM.from_yaml("chain-uniform").pyro_model()
        >>> def reported():
        ...     values = model()
        ...     noise = pyro.distributions.Normal(values["clouds.severity"], 0.05)
        ...     pyro.sample("report", noise, obs=torch.tensor(0.9))
        ...     return float(values["gaussian_blur.size"])
        >>> _ = pyro.util.set_rng_seed(0)
        >>> run = pyro.infer.Importance(reported, num_samples=300).run()
        >>> best = max(zip(run.log_weights, run.exec_traces), key=lambda pair: pair[0])[1]
        >>> best.nodes["_RETURN"]["value"]  # behind thick clouds the blur has size 1
        1.0
        """
        try:
            from robustclevr.scm.pyro_program import pyro_program
        except ImportError as error:
            raise SetupError(
                f"pyro_model() needs pyro, which cannot be imported ({error}); "
                "install it with: pip install 'robustclevr[pyro]'"
            ) from error
        condition = None if self.condition is None else self.condition.formula
        return pyro_program(self.dag, self.held, condition)

    def counterfactual(self, factual: DrawTable | Draw) -> DrawTable:
        """Return what would have been drawn under this model's interventions, noise unchanged.

        Parameters
        ----------
        factual : DrawTable or Draw
            What was drawn from the model without them.

        Returns
        -------
        DrawTable
            The same samples: without an intervention the factual ones to the last bit.

        Raises
        ------
        SpecError
            If ``factual`` comes from another DAG and lacks a noise, or a noise was shifted.
        SamplingError
            If a formula gives NaN or infinity where it counts.
        """
        if any(name in noise_names(self.dag) for name in self.shifted):
            raise SpecError.single(
                "a counterfactual keeps the noise, and this model replaces the law of one",
                file=self.dag.file,
                hint="sample both models with the same seed and split: their draws are coupled",
            )
        index, noise = recorded_noise(self.dag, factual)
        return self.propagate(index, noise)

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
        return concatenate(self._blocks(n, seed, split, start), n)

    def _blocks(self, n: int, seed: int, split: str, start: int) -> Iterator[DrawTable]:
        def redraw(index: NDArray[np.int64], attempt: int) -> DrawTable:
            return self.propagate(index, draw_noise(self.dag, index, seed, split, attempt))

        for first in range(start, start + max(n, 1), _BLOCK):
            index = np.arange(first, min(first + _BLOCK, start + n), dtype=np.int64)
            index.flags.writeable = False
            table = redraw(index, 0)
            if self.condition is not None:
                table = reject(self.condition, table, redraw, self.dag.file)
            yield table

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
        with np.errstate(all="ignore"):  # run_node reports what is not finite where it counts
            for node in self.dag.nodes:
                held = held_in(node, self.held)
                columns = run_node(node, noise[node.id], parents, index, self.dag.file, held)
                nodes[node.id] = columns
                joint += columns.log_density
                parents |= columns.readable(node.id)
        joint.flags.writeable = False
        return DrawTable(index, nodes, joint, self.interventions)
