"""The rare samples of a model: rejection below a threshold of the log-density.

The threshold is the quantile of 2**20 draws of a stream that no split can have. Try 0 of a sample
is its draw without the condition, as in `conditioning`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import SamplingError, SpecError
from robustclevr.scm.elementary import FloatArray
from robustclevr.scm.model import SCM
from robustclevr.scm.noise import draw_noise
from robustclevr.scm.table import DrawTable, concatenate

JOINT = "joint"
THRESHOLD_DRAWS = 2**20
_THRESHOLD_STREAM = "threshold of the tail"  # no split's name has a space
_CONSTANT_NATS = 1e-9
_TRIES_PER_INVERSE_PROBABILITY = 30  # chosen: a sample fails with probability exp(-30)


@dataclass(frozen=True)
class Tail:
    """An event: the log-density lies at or below a threshold.

    Attributes
    ----------
    of : str
        ``joint``, or a node.
    below : float
        Probability of the event. (0, 1)
    threshold : float
        [nat]
    """

    of: str
    below: float
    threshold: float

    def __str__(self) -> str:
        return (
            f"log-density of {self.of} at most {self.threshold!r}: the rarest {self.below:g} of "
            f"{THRESHOLD_DRAWS} draws"
        )


def find_tail(model: SCM, *, of: str, below: float, seed: int) -> Tail:
    """Measure the threshold below which the rarest samples of a model lie.

    Parameters
    ----------
    model : SCM
    of : str
        ``joint``, or a node.
    below : float
        Probability of the tail. (0, 1)
    seed : int
        Root seed.

    Raises
    ------
    SpecError
        If the density is the same everywhere, so that no sample is rarer than another.
    """
    density = _density(model.sample(THRESHOLD_DRAWS, seed=seed, split=_THRESHOLD_STREAM), of)
    if np.ptp(density) <= _CONSTANT_NATS:
        raise SpecError.single(
            f"tail of '{of}': every sample has the same density, {density[0]:.6g} nat, so none is "
            "rarer than another",
            file=model.dag.file,
            hint="choose a DAG with noise that is not uniform, as chain-halfnormal, or use 'given'",
        )
    threshold = float(np.quantile(density, below, method="inverted_cdf"))
    return Tail(of, below, threshold)


def sample_tail(
    model: SCM, tail: Tail, n: int, *, seed: int, split: str, start: int = 0
) -> DrawTable:
    """Draw consecutive samples that all lie in the tail.

    Parameters
    ----------
    model : SCM
    tail : Tail
        From :func:`find_tail`.
    n, seed, split, start
        As for :meth:`SCM.sample`.

    Raises
    ------
    SamplingError
        If a sample does not reach the tail in a bounded number of tries.
    """
    index = np.arange(start, start + n, dtype=np.int64)
    missing = np.arange(n)
    places: list[NDArray[np.intp]] = []
    parts: list[DrawTable] = []
    tries = int(_TRIES_PER_INVERSE_PROBABILITY / tail.below) + 1
    for attempt in range(tries):
        table = model.propagate(
            index[missing], draw_noise(model.dag, index[missing], seed, split, attempt)
        )
        met = _density(table, tail.of) <= tail.threshold
        places.append(missing[met])
        parts.append(table.take(np.flatnonzero(met)))
        missing = missing[~met]
        if not missing.size:
            return concatenate(parts).take(np.argsort(np.concatenate(places)))
    raise SamplingError(
        f"{model.dag.file}: sample {index[missing[0]]} did not reach the tail in {tries} tries: "
        f"{tail}; take a larger 'below'"
    )


def _density(table: DrawTable, of: str) -> FloatArray:
    return table.log_density if of == JOINT else table.nodes[of].log_density
