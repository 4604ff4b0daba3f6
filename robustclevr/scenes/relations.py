"""Left, right, front, behind: directions in a scene and who stands where.

The rules are those of clevr-dataset-gen, image_generation/render_images.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robustclevr.records import Camera, Vector
from robustclevr.scenes.camera import camera_axes
from robustclevr.scenes.vectors import dot, negate, subtract, unit

PLANE_DIRECTIONS = ("left", "right", "front", "behind")
"""Directions in the ground plane, for which there are relationships."""

RELATION_EPS = 0.2
"""How much farther than another an object must be to count as lying that way. [m]"""


def scene_directions(camera: Camera) -> dict[str, Vector]:
    """Return CLEVR's six directions as seen from a camera.

    Parameters
    ----------
    camera : Camera
        After jitter; looks neither straight up nor straight down.

    Returns
    -------
    dict of str to 3 floats
        Unit vectors in world space. Behind is the viewing direction laid flat on the ground.
    """
    right, _, backward = camera_axes(camera)
    behind = unit((-backward[0], -backward[1], 0.0))
    left = unit((-right[0], -right[1], 0.0))
    # CLEVR projects the camera's y axis on the plane's normal and normalises: the normal itself.
    above = (0.0, 0.0, 1.0)
    return {
        "left": left,
        "right": negate(left),
        "front": negate(behind),
        "behind": behind,
        "above": above,
        "below": negate(above),
    }


def relationships(
    positions: Sequence[Vector], directions: Mapping[str, Vector]
) -> dict[str, tuple[tuple[int, ...], ...]]:
    """Return, per direction and object i, the sorted objects j that lie that way from i.

    Parameters
    ----------
    positions : sequence of 3 floats
        Centres. [m]
    directions : mapping of str to 3 floats
        As from :func:`scene_directions`.
    """
    return {
        name: tuple(
            tuple(
                j
                for j, other in enumerate(positions)
                if j != i and dot(subtract(other, position), directions[name]) > RELATION_EPS
            )
            for i, position in enumerate(positions)
        )
        for name in PLANE_DIRECTIONS
    }
