"""CLEVR's three unit solids as triangle meshes: numbers in, arrays out, no Blender.

Every vertex lies on the exact solid and carries the exact normal, so flat faces look flat and
rims look round however the triangles are cut. Triangles wind counter-clockwise seen from
outside; each mesh is closed and has no doubled vertices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

CUBE_EDGE_RADIUS = 0.18
"""Edge radius of a cube of half-edge 1. Gives the largest radii 1.340 (across) and 1.600 (in
space) where ``SmoothCube_v2.blend`` of clevr-dataset-gen has 1.341 and 1.599."""

CYLINDER_RIM_RADIUS = 0.08
"""Rim radius of a cylinder of radius 1. ``SmoothCylinder.blend`` of clevr-dataset-gen is full up
to 0.9125 of its half height and has flat caps of radius 0.92 to 0.94."""

_SEGMENTS = 128  # around the axis: the chord's error is 1 - cos(pi / 128) = 3.0e-4
_RINGS = 64  # pole to pole: the same angle, so the same error
_RIM_STEPS = 8  # a quarter turn of radius 0.08: error 3.9e-4
_EDGE_STEPS = 8  # an eighth of a turn of radius 0.18: error 2.2e-4


@dataclass(frozen=True)
class Mesh:
    """A closed triangle mesh.

    Attributes
    ----------
    vertices : ndarray of float64, shape (V, 3)
    normals : ndarray of float64, shape (V, 3)
        Outward unit normal of the exact solid at each vertex.
    triangles : ndarray of int32, shape (F, 3)
        Vertex indices, counter-clockwise seen from outside.
    """

    vertices: NDArray[np.float64]
    normals: NDArray[np.float64]
    triangles: NDArray[np.int32]


def sphere() -> Mesh:
    """Return the sphere of radius 1."""
    angle = np.linspace(0.0, np.pi, _RINGS + 1)
    profile = np.stack([np.sin(angle), np.cos(angle)], axis=1)
    profile[[0, -1], 0] = 0.0
    return _revolve(profile, profile)


def cylinder() -> Mesh:
    """Return the cylinder of radius 1 and half height 1 with rounded rims, axis z."""
    angle = np.linspace(0.0, np.pi / 2, _RIM_STEPS + 1)
    turn = np.stack([np.sin(angle), np.cos(angle)], axis=1)
    core = 1.0 - CYLINDER_RIM_RADIUS
    top = np.concatenate([[[0.0, 1.0]], core + CYLINDER_RIM_RADIUS * turn])
    top_normals = np.concatenate([[[0.0, 1.0]], turn])
    mirror = np.array([1.0, -1.0])
    return _revolve(
        np.concatenate([top, top[::-1] * mirror]),
        np.concatenate([top_normals, top_normals[::-1] * mirror]),
    )


def cube() -> Mesh:
    """Return the cube of half-edge 1 with rounded edges and corners.

    It is a smaller cube widened by a ball. Each side is a grid: the directions of an equiangular
    cubed sphere, with the line through the middle doubled and pulled apart to the flat part.
    """
    half = np.linspace(0.0, np.pi / 4, _EDGE_STEPS + 1)
    slope = np.tan(np.concatenate([-half[::-1], half]))
    sign = np.repeat([-1.0, 1.0], _EDGE_STEPS + 1)
    u, v = np.meshgrid(slope, slope, indexing="ij")
    u_sign, v_sign = np.meshgrid(sign, sign, indexing="ij")
    normals = _unit(np.stack([u, v, np.ones_like(u)], axis=-1).reshape(-1, 3))
    inner = np.stack([u_sign, v_sign, np.ones_like(u)], axis=-1).reshape(-1, 3)
    side = (1.0 - CUBE_EDGE_RADIUS) * inner + CUBE_EDGE_RADIUS * normals
    # The top side, and the same turned by half a turn about x; then all axes in cyclic order.
    # These are rotations, so the winding stays.
    turns = [
        np.roll(np.diag(signs), shift, axis=1)
        for signs in ([1.0, 1.0, 1.0], [1.0, -1.0, -1.0])
        for shift in range(3)
    ]
    offsets = np.arange(len(turns))[:, None, None] * len(side)
    triangles = _grid_triangles(len(slope), len(slope))[None] + offsets
    return _welded(
        np.concatenate([side @ turn for turn in turns]),
        np.concatenate([normals @ turn for turn in turns]),
        triangles.reshape(-1, 3),
    )


UNIT_MESHES: Mapping[str, Callable[[], Mesh]] = MappingProxyType(
    {"cube": cube, "cylinder": cylinder, "sphere": sphere}
)
"""Shape name of a scene object to the mesh it is made of."""


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit


def _grid_triangles(rows: int, columns: int) -> NDArray[np.int64]:
    """Return the triangles of a grid of rows x columns vertices, seen with row x column up."""
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    triangles: NDArray[np.int64] = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    return triangles


def _revolve(profile: NDArray[np.float64], normals: NDArray[np.float64]) -> Mesh:
    """Turn a profile of (radius, z) from the top pole to the bottom pole about the z axis."""
    turn = 2.0 * np.pi * np.arange(_SEGMENTS) / _SEGMENTS

    def swept(points: NDArray[np.float64]) -> NDArray[np.float64]:
        x, y = np.outer(np.cos(turn), points[:, 0]), np.outer(np.sin(turn), points[:, 0])
        z = np.broadcast_to(points[:, 1], x.shape)
        return np.stack([x, y, z], axis=-1)

    vertices, directions = swept(profile), swept(normals)
    closed = [np.concatenate([part, part[:1]]).reshape(-1, 3) for part in (vertices, directions)]
    # Columns run downwards, rows turn counter-clockwise: row x column would point inwards.
    triangles = _grid_triangles(_SEGMENTS + 1, len(profile))[:, ::-1]
    return _welded(closed[0], closed[1], triangles)


def _welded(
    vertices: NDArray[np.float64], normals: NDArray[np.float64], triangles: NDArray[np.int64]
) -> Mesh:
    """Merge vertices of one place and drop the triangles that collapse by it."""
    # Copies of a vertex differ in the last bits only; no two distinct ones are nearer than 1e-3.
    _, first, merged = np.unique(
        np.round(vertices, 6) + 0.0, axis=0, return_index=True, return_inverse=True
    )
    corners = merged.reshape(-1)[triangles]
    a, b, c = corners.T
    whole = corners[(a != b) & (b != c) & (c != a)]
    return Mesh(vertices[first], normals[first], whole.astype(np.int32))
