"""Smooth random paths that stay where they must.

Each coordinate of a path is a Gaussian process with squared exponential covariance
``sigma^2 exp(-(s - t)^2 / (2 tau^2))``, moved as a whole so that it stands at a given place in a
given frame; candidates that leave their bounds are rejected (Weis et al., JMLR 2021, appendix
B.1). Coordinates are independent and so are their bounds, hence rejecting each alone is the same
law as rejecting whole paths, and much faster. The given place is kept, so that uniformly drawn
starts stay uniform.

Only elementwise arithmetic is used, no BLAS and no vectorized transcendental functions: the same
numbers on every processor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import SamplingError

DECIMALS = 4
"""Places are rounded to this many decimals, which keeps records short. [px]"""

_VARIANCE_LEFT = 1e-8  # of 1: what the factor may leave out, 0.006 px at a sigma of 55 px
_FIRST_BLOCK = 32  # chosen: one block is enough for most clips of 10 frames (a third is accepted)
_LARGEST_BLOCK = 4096


@dataclass(frozen=True)
class Constraints:
    """What P coordinates over T frames must obey.

    Attributes
    ----------
    frame : ndarray of int64, shape (P,)
        The frame in which a coordinate is given.
    value : ndarray of float64, shape (P,)
        Its value there. [px]
    low, high : ndarray of float64, shape (P, T)
        Least and greatest value in each frame. [px]
    """

    frame: NDArray[np.int64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@lru_cache(maxsize=32)
def covariance_factor(frames: int, tau_frames: float) -> NDArray[np.float64]:
    """Return F with ``F.T @ F`` the squared exponential covariance at unit variance.

    Parameters
    ----------
    frames : int
        T.
    tau_frames : float
        Time constant. [frame]

    Returns
    -------
    ndarray of float64, shape (R, T)
        R <= T: a Cholesky factor with pivots, cut where the variance left is below 1e-8.
        Read-only.
    """
    residual = np.ones(frames)
    rows: list[NDArray[np.float64]] = []
    while len(rows) < frames and residual.max() > _VARIANCE_LEFT:
        pivot = int(residual.argmax())
        gaps = (abs(t - pivot) / tau_frames for t in range(frames))
        row = np.array([math.exp(-gap * gap / 2) for gap in gaps])
        for other in rows:
            row -= other[pivot] * other
        row /= math.sqrt(residual[pivot])
        residual = np.maximum(residual - row * row, 0.0)
        residual[pivot] = 0.0
        rows.append(row)
    factor = np.array(rows)
    factor.flags.writeable = False
    return factor


def draw_paths(
    rng: np.random.Generator,
    constraints: Constraints,
    *,
    tau_frames: float,
    sigma_px: float,
    tries: int,
) -> NDArray[np.float64]:
    """Draw one path for each coordinate.

    Parameters
    ----------
    rng : numpy.random.Generator
    constraints : Constraints
    tau_frames, sigma_px : float
        Of the Gaussian process. [frame, px]
    tries : int
        Bound on the candidates of one coordinate.

    Returns
    -------
    ndarray of float64, shape (P, T)
        Rounded to :data:`DECIMALS`. [px]

    Raises
    ------
    SamplingError
        If a coordinate found no path; says what to relax.
    """
    frames = constraints.low.shape[1]
    factor = covariance_factor(frames, tau_frames) * sigma_px
    everyone = np.arange(len(constraints.low))
    paths, found = _first_fitting(rng, factor, constraints, everyone, min(_FIRST_BLOCK, tries))
    # One after another, so that a path that cannot be is given up before others are searched.
    for which in np.flatnonzero(~found):
        drawn, block = _FIRST_BLOCK, _FIRST_BLOCK
        while not found[which]:
            if drawn >= tries:
                raise SamplingError(_advice(constraints, which, tries, tau_frames, sigma_px))
            block = min(4 * block, _LARGEST_BLOCK, tries - drawn)
            alone = np.array([which])
            paths[alone], found[alone] = _first_fitting(rng, factor, constraints, alone, block)
            drawn += block
    return paths


def _first_fitting(
    rng: np.random.Generator,
    factor: NDArray[np.float64],
    constraints: Constraints,
    which: NDArray[np.int64],
    block: int,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the first of some candidates that fits, and whether there is one."""
    candidates = _candidates(rng, factor, constraints, which, block)
    low, high = constraints.low[which, np.newaxis], constraints.high[which, np.newaxis]
    fits = ((candidates >= low) & (candidates <= high)).all(axis=2)
    return candidates[np.arange(len(which)), fits.argmax(axis=1)], fits.any(axis=1)


def _candidates(
    rng: np.random.Generator,
    factor: NDArray[np.float64],
    constraints: Constraints,
    which: NDArray[np.int64],
    block: int,
) -> NDArray[np.float64]:
    """Return shape (len(which), block, T): paths that pass through the given places."""
    normals = rng.standard_normal((len(factor), len(which), block, 1))
    paths = normals[0] * factor[0]
    for normal, row in zip(normals[1:], factor[1:], strict=True):
        paths += normal * row
    given = paths[np.arange(len(which)), :, constraints.frame[which]]
    paths += (constraints.value[which, np.newaxis] - given)[:, :, np.newaxis]
    # Exact where it is given: x - x + v is v only if x and v are of like size.
    paths[np.arange(len(which)), :, constraints.frame[which]] = constraints.value[which, np.newaxis]
    rounded: NDArray[np.float64] = np.round(paths, DECIMALS)
    return rounded


def _advice(
    constraints: Constraints, which: np.int64, drawn: int, tau_frames: float, sigma_px: float
) -> str:
    low, high = constraints.low[which].min(), constraints.high[which].max()
    frame, value = int(constraints.frame[which]), float(constraints.value[which])
    frames = constraints.low.shape[1]
    return (
        f"none of {drawn} trajectories of {frames} frames that pass {value:g} px in frame {frame} "
        f"stays within its bounds, at the widest {low:g} to {high:g} px (video.sigma_px "
        f"{sigma_px:g}, video.tau_frames {tau_frames:g}); lower video.sigma_px, raise "
        "video.tau_frames, ask for fewer video.frames, lower video.margin_px, or raise video.tries"
    )
