"""All scored predictions as arrays: one row a prediction, the sums of each scorer beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.evaluation.boxes import BoxRow
from robustclevr.metrics.overlap import FloatArray, IntArray


@dataclass(frozen=True)
class Row:
    """One scored prediction.

    Attributes
    ----------
    split, index, variant : str, int, str
    severity : float
        nan for an image that is of no single node.
    missing : bool
    sums : mapping of str to ndarray of float64, shape (K,)
        By scorer.
    boxes : BoxRow or None
        For detection.
    """

    split: str
    index: int
    variant: str
    severity: float
    missing: bool
    sums: Mapping[str, FloatArray]
    boxes: BoxRow | None = None


@dataclass(frozen=True)
class Table:
    """Rows, in the order of splits, samples and variants.

    Attributes
    ----------
    rows : tuple of Row
    units : ndarray of int64, shape (N,)
        Number of each row's sample: what is resampled together.
    """

    rows: tuple[Row, ...]
    units: IntArray = field(init=False)

    def __post_init__(self) -> None:
        numbers: dict[tuple[str, int], int] = {}
        names = ((row.split, row.index) for row in self.rows)
        units = [numbers.setdefault(name, len(numbers)) for name in names]
        object.__setattr__(self, "units", np.array(units, np.int64))

    @property
    def samples(self) -> int:
        """How many samples the rows are of."""
        return len(np.unique(self.units))

    @property
    def missing(self) -> int:
        """How many predictions are missing."""
        return sum(row.missing for row in self.rows)

    @property
    def severity(self) -> FloatArray:
        """Severity of each row, shape (N,)."""
        return np.array([row.severity for row in self.rows], np.float64)

    def sums(self, scorer: str) -> FloatArray:
        """Return the sums of each row, shape (N, K)."""
        return np.stack([row.sums[scorer] for row in self.rows])

    def unit_sums(self, scorer: str) -> FloatArray:
        """Return the sums of each sample, shape (U, K)."""
        sums = self.sums(scorer)
        _, number = np.unique(self.units, return_inverse=True)
        total = np.zeros((self.samples, sums.shape[1]))
        np.add.at(total, number, sums)
        return total

    def groups(self, attribute: str) -> dict[str, Table]:
        """Return the rows by an attribute, in the order in which its values appear."""
        members: dict[str, list[Row]] = {}
        for row in self.rows:
            members.setdefault(getattr(row, attribute), []).append(row)
        return {name: Table(tuple(rows)) for name, rows in members.items()}

    def where(self, chosen: NDArray[np.bool_]) -> Table:
        """Return some rows; ``chosen`` has shape (N,)."""
        return Table(tuple(row for row, take in zip(self.rows, chosen, strict=True) if take))


def gathered(parts: Sequence[Any]) -> Table:
    """Return one table of lists of rows."""
    return Table(tuple(row for part in parts for row in part))
