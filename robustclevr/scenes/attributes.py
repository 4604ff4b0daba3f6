"""What the objects of a scene are, before they are put anywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from robustclevr.scenes.properties import COLORS, MATERIALS, PALETTES, SHAPES, SIZES, Rgba
from robustclevr.scenes.solids import SOLIDS

_DRAWS_PER_OBJECT = 5
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Attributes:
    """One object without its place; fields as in ``SceneObject``.

    Attributes
    ----------
    reach : float
        Radius of the circle that the gap between objects is measured from. [m]
    """

    shape: str
    size: str
    color: str
    material: str
    radius: float
    rgba: Rgba
    rotation: float
    yaw_rad: float
    reach: float


def draw_attributes(
    rng: np.random.Generator, count: int, *, palette: str, compat: str
) -> tuple[Attributes, ...]:
    """Draw the attributes of ``count`` objects, all uniform and independent.

    Parameters
    ----------
    rng : numpy.random.Generator
        Five numbers an object are taken, so object i does not depend on ``count``.
    count : int
        Number of objects.
    palette : str
        A key of ``PALETTES``.
    compat : str
        ``clevr-v1``: the number stored as rotation, in [0, 360), is applied as radians, and gaps
        are measured from a circle of the object's half height. ``none``: rotation is in degrees
        and the circle is the smallest around the object, 1.34 times as wide for a cube.

    Returns
    -------
    tuple of Attributes
    """
    uniforms = rng.random((count, _DRAWS_PER_OBJECT)).tolist()
    return tuple(_attributes(row, palette=palette, compat=compat) for row in uniforms)


def _attributes(row: Sequence[float], *, palette: str, compat: str) -> Attributes:
    u_shape, u_size, u_color, u_material, u_rotation = row
    shape = _pick(SHAPES, u_shape)
    size = _pick(tuple(SIZES), u_size)
    color = _pick(PALETTES[palette][shape], u_color)
    radius = SIZES[size]
    rotation = 360.0 * u_rotation
    released = compat == "clevr-v1"
    return Attributes(
        shape=shape,
        size=size,
        color=color,
        material=_pick(MATERIALS, u_material),
        radius=radius,
        rgba=COLORS[color],
        rotation=rotation,
        yaw_rad=rotation % math.tau if released else math.radians(rotation),
        reach=radius if released else radius * SOLIDS[shape].reach,
    )


def _pick(items: Sequence[_Item], u: float) -> _Item:
    return items[int(u * len(items))]
