"""The exact solids behind CLEVR's three meshes, as convex cores swelled by a ball.

Sphere, smooth cube and smooth cylinder are all the points within ``rim`` of a core: a point, a
box, a cylinder. The distance to a convex core is convex along any line, which makes finding
the place where a ray enters simple (:mod:`robustclevr.scenes.raster`).

Unit solids have half height 1 and stand upright; an object scales one by its ``radius``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Solid:
    """A unit solid.

    Attributes
    ----------
    core : float
        Half extent of the core along each axis.
    rim : float
        Radius of the ball by which the core is swelled; ``core + rim`` is 1.
    is_round : bool
        True if the core is a cylinder about z, or a point; False for a box.
    reach : float
        Largest horizontal distance of a point of the solid from its axis.
    """

    core: float
    rim: float
    is_round: bool
    reach: float


_CUBE_RIM = 0.18
_CYLINDER_RIM = 0.08

SOLIDS: Mapping[str, Solid] = MappingProxyType(
    {
        "cube": Solid(
            core=1.0 - _CUBE_RIM,
            rim=_CUBE_RIM,
            is_round=False,
            reach=(1.0 - _CUBE_RIM) * 2.0**0.5 + _CUBE_RIM,
        ),
        "sphere": Solid(core=0.0, rim=1.0, is_round=True, reach=1.0),
        "cylinder": Solid(core=1.0 - _CYLINDER_RIM, rim=_CYLINDER_RIM, is_round=True, reach=1.0),
    }
)
"""By shape name. Rims fit the meshes of clevr-dataset-gen: SmoothCube_v2 reaches 1.341 from its
axis and 1.599 from its centre, SmoothCylinder keeps its full radius up to |z| = 0.91."""


def offsets_from_core(solid: Solid, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the vectors from the nearest point of the core to each point.

    Parameters
    ----------
    solid : Solid
    points : ndarray of float64, shape (3, N)
        In the unit solid's frame.

    Returns
    -------
    ndarray of float64, shape (3, N)
        Zero inside the core. A point lies in the solid where the length is at most ``rim``.
    """
    if solid.core == 0.0:
        return points
    if not solid.is_round:
        return points - np.clip(points, -solid.core, solid.core)
    offsets = np.empty_like(points)
    axial = points[2]
    radial = np.sqrt(points[0] * points[0] + points[1] * points[1])
    # max() keeps the quotient finite on the axis, where the offset is 0 in any case.
    outside = np.maximum(radial - solid.core, 0.0) / np.maximum(radial, solid.core)
    offsets[:2] = points[:2] * outside
    offsets[2] = axial - np.clip(axial, -solid.core, solid.core)
    return offsets
