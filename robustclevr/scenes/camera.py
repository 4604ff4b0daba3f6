"""CLEVR's camera: where it stands, and the matrices that follow from it.

The numbers are those of the file base_scene.blend of clevr-dataset-gen: 35 mm lens, 32 mm
sensor, tracked to the origin with its up axis towards world z.
"""

from __future__ import annotations

import numpy as np

from robustclevr.records import Camera, Vector
from robustclevr.scenes.vectors import add, cross, dot, negate, subtract, unit

CAMERA_POSITION: Vector = (7.481132, -6.507640, 5.343665)
"""Before jitter. [m]"""

CAMERA_JITTER = 0.5
"""Each axis moves by up to this much, uniformly (render_images.py, --camera_jitter). [m]"""

_FOCAL_MM = 35.0
_SENSOR_MM = 32.0
_ORIGIN: Vector = (0.0, 0.0, 0.0)
_UP: Vector = (0.0, 0.0, 1.0)


def draw_jitter(rng: np.random.Generator, half_width: float) -> Vector:
    """Draw an offset, uniform in the cube of this half width in metres around 0."""
    x, y, z = (2.0 * rng.random(3) - 1.0) * half_width
    return (float(x), float(y), float(z))


def clevr_camera(jitter: Vector, *, height: int, width: int) -> Camera:
    """Return CLEVR's camera, moved by ``jitter`` and then turned to the origin.

    Parameters
    ----------
    jitter : tuple of 3 floats
        Offset of the position. [m]
    height, width : int
        Image size. [px]

    Returns
    -------
    Camera
        At 320x240 its focal length is 350 px.
    """
    position = add(CAMERA_POSITION, jitter)
    right, up, backward = _axes(position)
    # Blender's sensor fit AUTO lays the sensor along the longer side; pixels are square.
    focal_px = _FOCAL_MM / _SENSOR_MM * max(height, width)
    return Camera(
        position=position,
        look_at=_ORIGIN,
        focal_mm=_FOCAL_MM,
        sensor_width_mm=_SENSOR_MM,
        world_from_camera=(
            (right[0], up[0], backward[0], position[0]),
            (right[1], up[1], backward[1], position[1]),
            (right[2], up[2], backward[2], position[2]),
            (0.0, 0.0, 0.0, 1.0),
        ),
        intrinsics=((focal_px, 0.0, width / 2), (0.0, focal_px, height / 2), (0.0, 0.0, 1.0)),
    )


def camera_axes(camera: Camera) -> tuple[Vector, Vector, Vector]:
    """Return the camera's right, up and backward axes: unit vectors in world space."""
    rows = camera.world_from_camera[:3]
    right, up, backward = ((rows[0][k], rows[1][k], rows[2][k]) for k in range(3))
    return right, up, backward


def project(camera: Camera, point: Vector) -> Vector:
    """Return column, row and depth of a world point.

    Returns
    -------
    tuple of 3 floats
        Not rounded; origin in the image's top left corner, depth along the optical axis.
        [px, px, m]
    """
    right, up, backward = camera_axes(camera)
    offset = subtract(point, camera.position)
    depth = -dot(offset, backward)
    (focal_x, _, center_x), (_, focal_y, center_y), _ = camera.intrinsics
    column = center_x + focal_x * dot(offset, right) / depth
    row = center_y - focal_y * dot(offset, up) / depth
    return (column, row, depth)


def _axes(position: Vector) -> tuple[Vector, Vector, Vector]:
    forward = unit(subtract(_ORIGIN, position))
    right = unit(cross(forward, _UP))
    return right, cross(right, forward), negate(forward)
