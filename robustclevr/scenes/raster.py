"""Which object is seen at which pixel, decided without a renderer.

A ray goes through the centre of each pixel near an object; the place where it enters the exact
solid is found by Newton's method. A renderer's own label pass agrees but for single pixels on
the outlines, where its mesh and the solid differ by less than a pixel.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robustclevr.records import Camera, SceneObject, Vector
from robustclevr.scenes.camera import camera_axes, project
from robustclevr.scenes.solids import SOLIDS, Solid, offsets_from_core
from robustclevr.scenes.vectors import add, dot, subtract

_TOLERANCE = 1e-9  # of the unit solid: a hit is this near to the surface
_MAX_STEPS = 60  # grazing rays halve their error each step; all others take about five
_CORNERS: tuple[Vector, ...] = tuple(itertools.product((-1.0, 1.0), (-1.0, 1.0), (-1.0, 1.0)))

_Window = tuple[slice, slice]
_Patch = tuple[_Window, NDArray[np.float64]]


def label_map(
    objects: Sequence[SceneObject], camera: Camera, height: int, width: int
) -> NDArray[np.uint8]:
    """Return the instance labels of a scene as an ideal renderer sees them at pixel centres.

    Parameters
    ----------
    objects : sequence of SceneObject
        At most 255, all in front of the camera.
    camera : Camera
        Its intrinsics belong to ``height`` and ``width``.
    height, width : int
        Image size. [px]

    Returns
    -------
    ndarray of uint8, shape (H, W)
        0 background, i = object i (element i - 1). Row 0 on top.
    """
    labels, _ = _paint(objects, camera, (height, width), required=0)
    return labels


def visible_pixels(labels: NDArray[np.uint8], count: int) -> tuple[int, ...]:
    """Return the number of pixels of the background and of each of ``count`` objects."""
    return tuple(int(n) for n in np.bincount(labels.reshape(-1), minlength=count + 1))


def amodal_masks(
    objects: Sequence[SceneObject], camera: Camera, height: int, width: int
) -> NDArray[np.bool_]:
    """Return the pixels of the image that each object would cover if it stood alone.

    Parameters
    ----------
    objects, camera, height, width
        As for :func:`label_map`.

    Returns
    -------
    ndarray of bool, shape (N, H, W)
    """
    masks = np.zeros((len(objects), height, width), np.bool_)
    for mask, item in zip(masks, objects, strict=True):
        window, depth = _patch(item, camera, (height, width))
        mask[window] = np.isfinite(depth)
    return masks


def shows_all(
    objects: Sequence[SceneObject], camera: Camera, height: int, width: int, *, required: int
) -> bool:
    """Tell whether the background and every object show at least ``required`` pixels.

    The same answer as counting :func:`label_map`, but objects are painted from near to far and
    the first that shows too little ends it: what is painted later can only cover more.
    """
    if required == 0:
        return True
    labels, complete = _paint(objects, camera, (height, width), required=required)
    return complete and min(visible_pixels(labels, len(objects))) >= required


def _paint(
    objects: Sequence[SceneObject], camera: Camera, shape: tuple[int, int], *, required: int
) -> tuple[NDArray[np.uint8], bool]:
    """Paint labels through a depth buffer; stop at an object that shows too little."""
    labels = np.zeros(shape, np.uint8)
    nearest = np.full(shape, np.inf)
    for index in sorted(range(len(objects)), key=lambda i: objects[i].pixel_coords[2]):
        window, depth = _patch(objects[index], camera, shape)
        seen = depth < nearest[window]
        if int(np.count_nonzero(seen)) < required:
            return labels, False
        nearest[window][seen] = depth[seen]
        labels[window][seen] = index + 1
    return labels, True


def _patch(item: SceneObject, camera: Camera, shape: tuple[int, int]) -> _Patch:
    """Return the image window that holds an object, and its depth there, inf where it is not.

    Depth is counted along the optical axis. [m]
    """
    window, front = _bounds(item, camera, shape)
    origin, directions = _rays_in_solid(item, camera, window)
    start = front / item.radius
    entered = _enter(SOLIDS[item.shape], origin, directions.reshape(3, -1), start)
    return window, entered.reshape(directions.shape[1:]) * item.radius


def _bounds(item: SceneObject, camera: Camera, shape: tuple[int, int]) -> tuple[_Window, float]:
    """Bound an object by the box around it: image window, and least depth."""
    turn = (math.cos(item.yaw_rad), math.sin(item.yaw_rad))
    corners = [
        project(camera, add(item.position, _turned(corner, turn, item.radius)))
        for corner in _CORNERS
    ]
    columns, rows, depths = zip(*corners, strict=True)
    window = (_pixel_span(rows, shape[0]), _pixel_span(columns, shape[1]))
    return window, min(depths)


def _turned(corner: Vector, turn: tuple[float, float], radius: float) -> Vector:
    (x, y, z), (cosine, sine) = corner, turn
    return (radius * (cosine * x - sine * y), radius * (sine * x + cosine * y), radius * z)


def _pixel_span(values: Sequence[float], size: int) -> slice:
    """Return the pixels whose centres may lie between the least and the greatest value."""
    start = min(max(math.floor(min(values)), 0), size)
    return slice(start, max(start, min(math.ceil(max(values)), size)))


def _rays_in_solid(
    item: SceneObject, camera: Camera, window: _Window
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the camera's centre and the rays of a window in the frame of the unit solid.

    Rays advance 1 along the optical axis in world space a unit of ``t``, so that
    ``t * radius`` is the depth of ``origin + t * ray``.
    """
    cosine, sine = math.cos(item.yaw_rad), math.sin(item.yaw_rad)
    frame: tuple[Vector, ...] = ((cosine, sine, 0.0), (-sine, cosine, 0.0), (0.0, 0.0, 1.0))
    right, up, backward = camera_axes(camera)
    (focal_x, _, center_x), (_, focal_y, center_y), _ = camera.intrinsics
    rows, columns = window
    x = (np.arange(columns.start, columns.stop) + 0.5 - center_x) / focal_x
    y = (np.arange(rows.start, rows.stop) + 0.5 - center_y)[:, np.newaxis] / focal_y
    rays = np.stack(
        [(dot(axis, right) * x - dot(axis, backward)) - dot(axis, up) * y for axis in frame]
    )
    offset = subtract(camera.position, item.position)
    origin = np.array([dot(axis, offset) / item.radius for axis in frame])
    return origin, rays


def _enter(
    solid: Solid, origin: NDArray[np.float64], rays: NDArray[np.float64], start: float
) -> NDArray[np.float64]:
    """Return the ``t`` at which each ray enters a unit solid, inf where it misses.

    Along a ray the distance to the core is convex, so Newton's method from outside never
    steps over the surface, and a ray that no longer comes nearer has missed.

    Parameters
    ----------
    solid : Solid
    origin : ndarray of float64, shape (3,)
    rays : ndarray of float64, shape (3, N)
    start : float
        A ``t`` at which no ray has entered yet.
    """
    entered = np.full(rays.shape[1], np.inf)
    active = np.arange(rays.shape[1])
    t = np.full(rays.shape[1], start)
    for _ in range(_MAX_STEPS):
        if not active.size:
            break
        offsets = offsets_from_core(solid, origin[:, np.newaxis] + t * rays)
        distance = np.sqrt(_columnwise_dot(offsets, offsets))
        gap = distance - solid.rim
        slope = _columnwise_dot(offsets, rays) / distance
        hit = gap <= _TOLERANCE
        entered[active[hit]] = t[hit]
        going = ~hit & (slope < 0.0)
        active, rays = active[going], rays[:, going]
        t = t[going] - gap[going] / slope[going]
    return entered


def _columnwise_dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    product: NDArray[np.float64] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product
