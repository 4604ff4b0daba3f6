"""A CLEVR scene: what stands where, and who looks at it under which lights.

World space: right-handed, z up, metres, the ground at z = 0. Camera space is OpenGL's: x right,
y up, looking down -z. Pixel space: origin top left, x right, y down, pixel centres at +0.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Vector = tuple[float, float, float]
Row = tuple[float, float, float, float]


@dataclass(frozen=True)
class SceneOptions:
    """``scene:`` of an image family.

    Attributes
    ----------
    objects : pair of int
        Least and most number of objects.
    palette : str
        ``clevr``, ``cogent-a`` or ``cogent-b``.
    compat : str
        ``none`` or ``clevr-v1``.
    min_pixels : int
        Visible pixels each object needs at 320x240; scales with the image's area.
    min_distance, margin : float
        CLEVR's two placement rules. [m]
    tries : int
        Bound on the tries of one scene; one try begins 100 placements side by side.
    """

    objects: tuple[int, int]
    palette: str
    compat: str
    min_pixels: int
    min_distance: float
    margin: float
    tries: int


@dataclass(frozen=True)
class SceneObject:
    """One object; names are CLEVR's.

    Attributes
    ----------
    shape : str
        ``cube``, ``sphere`` or ``cylinder``.
    size, color, material : str
        Names from CLEVR's property table.
    radius : float
        Half height; scale of the unit mesh. [m]
    rgba : tuple of 4 floats
        Base color, scene-linear as CLEVR uses it. [0, 1]
    position : tuple of 3 floats
        Centre. [m]
    rotation : float
        CLEVR's number, stored under ``rotation``; see ``yaw_rad`` for what is applied. [degree]
    yaw_rad : float
        Rotation about z that is applied. [rad]
    pixel_coords : tuple of 3 floats
        Image of the centre (column, row), and distance along the camera's axis. [px, px, m]
    """

    shape: str
    size: str
    color: str
    material: str
    radius: float
    rgba: tuple[float, float, float, float]
    position: Vector
    rotation: float
    yaw_rad: float
    pixel_coords: Vector


@dataclass(frozen=True)
class Camera:
    """A pinhole camera.

    Attributes
    ----------
    position, look_at : tuple of 3 floats
        [m]
    focal_mm, sensor_width_mm : float
        The sensor spans the image's longer side, as Blender's sensor fit AUTO has it.
    world_from_camera : 4 rows of 4 floats
        Camera to world.
    intrinsics : 3 rows of 3 floats
        Pinhole matrix for pixel space with camera axes x right, y down, z forward (OpenCV's). [px]
    """

    position: Vector
    look_at: Vector
    focal_mm: float
    sensor_width_mm: float
    world_from_camera: tuple[Row, Row, Row, Row]
    intrinsics: tuple[Vector, Vector, Vector]


@dataclass(frozen=True)
class Light:
    """A light source.

    Attributes
    ----------
    name : str
        ``key``, ``fill``, ``back`` or ``sun``.
    kind : str
        ``area`` (a square) or ``sun``.
    position : tuple of 3 floats
        [m]
    direction : tuple of 3 floats
        Unit vector along which it shines.
    energy : float
        Power of an area light [W], irradiance of a sun [W/m^2].
    rgb : tuple of 3 floats
        Scene-linear color.
    size : float
        Edge of an area light [m]; soft size of the sun as Blender's ``shadow_soft_size``. [m]
    """

    name: str
    kind: str
    position: Vector
    direction: Vector
    energy: float
    rgb: Vector
    size: float


@dataclass(frozen=True)
class Scene:
    """Everything that is seen, before any corruption.

    Attributes
    ----------
    objects : tuple of SceneObject
        Object i of the labels is element i - 1.
    camera : Camera
    lights : tuple of Light
    jitters : mapping of str to 3 floats
        Offsets that were added to the camera and to each jittered light. [m]
    directions : mapping of str to 3 floats
        CLEVR's six: left, right, front, behind, above, below; unit vectors in world space.
    relationships : mapping of str to tuple of tuples of int
        For left, right, front and behind: per object i the sorted j that lie that way from i.
    compat : str
        ``none``, or ``clevr-v1`` for the quirks of the released data.
    min_visible_pixels : int
        Each object shows at least this many pixels.
    tries : int
        Tries until a placement fitted, >= 1.
    """

    objects: tuple[SceneObject, ...]
    camera: Camera
    lights: tuple[Light, ...]
    jitters: Mapping[str, Vector]
    directions: Mapping[str, Vector]
    relationships: Mapping[str, tuple[tuple[int, ...], ...]]
    compat: str
    min_visible_pixels: int
    tries: int
