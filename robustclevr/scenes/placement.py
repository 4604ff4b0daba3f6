"""Where objects stand: CLEVR's two placement rules.

The rules are those of clevr-dataset-gen, image_generation/render_images.py: circles around the
objects keep a gap, and along every direction of the ground plane two objects are either clearly
apart or in opposite order, so that "left of" is never a matter of opinion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from robustclevr.records import SceneOptions, Vector

HALF_SIDE = 3.0
"""Centres lie in the square of this half side around the origin. [m]"""

POSITION_TRIES = 50
"""Tries for one object before its placement is given up (--max_retries)."""

STARTS_PER_TRY = 100
"""Placements that one try begins side by side.

Chosen: the hardest attributes that 50,000 default scenes are likely to hold, ten large objects
most of them cubes, complete about one placement in 20,000 (measured), so that 2,000 tries fail
for fewer than one data set in a hundred.
"""


def place(
    rng: np.random.Generator,
    reaches: Sequence[float],
    directions: Mapping[str, Vector],
    options: SceneOptions,
) -> NDArray[np.float64]:
    """Try once: put objects on the ground one after another, each at its first free position.

    ``STARTS_PER_TRY`` independent placements run side by side, because numpy takes little
    longer for all than for one.

    Parameters
    ----------
    rng : numpy.random.Generator
    reaches : sequence of float
        Radius of the circle around each of N objects. [m]
    directions : mapping of str to 3 floats
        The scene's; ``left`` and ``behind`` are read, the others are their opposites.
    options : SceneOptions
        ``min_distance`` and ``margin`` are read.

    Returns
    -------
    ndarray of float64, shape (K, N, 2)
        Centres (x, y) of the placements in which every object found a place within
        ``POSITION_TRIES``, in the order in which they began. K may be 0. [m]
    """
    axes = np.array([directions["left"][:2], directions["behind"][:2]])
    radii = np.asarray(reaches, dtype=np.float64)
    centres = np.zeros((STARTS_PER_TRY, len(reaches), 2))
    for index in range(len(reaches)):
        shape = (len(centres), POSITION_TRIES, 2)
        candidates = rng.uniform(-HALF_SIDE, HALF_SIDE, size=shape)
        gaps = radii[:index] + radii[index] + options.min_distance
        free = _fits(candidates, centres[:, :index], gaps, axes, options.margin)
        alive = np.flatnonzero(free.any(axis=1))
        chosen = candidates[alive, free[alive].argmax(axis=1)]
        centres = centres[alive]
        centres[:, index] = chosen
    return centres


def _fits(
    candidates: NDArray[np.float64],
    centres: NDArray[np.float64],
    gaps: NDArray[np.float64],
    axes: NDArray[np.float64],
    margin: float,
) -> NDArray[np.bool_]:
    """Return which candidates obey both rules.

    Parameters
    ----------
    candidates : ndarray, shape (S, C, 2)
        C positions for each of S placements.
    centres : ndarray, shape (S, M, 2)
        The M objects that each placement already has.
    gaps : ndarray, shape (M,)
        Least distance from each of them.
    axes : ndarray, shape (2, 2)
        Two horizontal directions.
    margin : float

    Returns
    -------
    ndarray of bool, shape (S, C)
    """
    x = candidates[:, :, np.newaxis, 0] - centres[:, np.newaxis, :, 0]
    y = candidates[:, :, np.newaxis, 1] - centres[:, np.newaxis, :, 1]
    apart = x * x + y * y >= gaps * gaps
    for axis_x, axis_y in axes:
        apart &= np.abs(x * axis_x + y * axis_y) >= margin
    fits: NDArray[np.bool_] = apart.all(axis=2)
    return fits
