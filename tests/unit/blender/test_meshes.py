from __future__ import annotations

import numpy as np
import pytest

from robustclevr.blender.meshes import UNIT_MESHES, cube, cylinder, sphere

SHAPES = sorted(UNIT_MESHES)


def distance_to_solid(shape: str, points: np.ndarray) -> np.ndarray:
    """Signed distance to the exact solids, written down independently of the meshes."""
    if shape == "sphere":
        return np.linalg.norm(points, axis=-1) - 1.0
    if shape == "cube":
        beyond = np.abs(points) - (1.0 - 0.18)
        rounding = 0.18
    else:
        radius = np.hypot(points[..., 0], points[..., 1])
        beyond = np.stack([radius, np.abs(points[..., 2])], axis=-1) - (1.0 - 0.08)
        rounding = 0.08
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
    return outside + np.minimum(beyond.max(axis=-1), 0.0) - rounding


def on_triangles(mesh, per_triangle: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Random points on the triangles, and the interpolated normals there."""
    weights = np.random.default_rng(0).dirichlet((1, 1, 1), (len(mesh.triangles), per_triangle))
    return tuple(
        np.einsum("fkc,fcx->fkx", weights, values[mesh.triangles]).reshape(-1, 3)
        for values in (mesh.vertices, mesh.normals)
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_surface_lies_within_a_thousandth_of_the_exact_solid(shape):
    mesh = UNIT_MESHES[shape]()
    points, _ = on_triangles(mesh)
    assert np.abs(distance_to_solid(shape, mesh.vertices)).max() < 1e-12
    assert np.abs(distance_to_solid(shape, points)).max() < 1e-3


@pytest.mark.parametrize("shape", SHAPES)
def test_normals_are_those_of_the_exact_solid(shape):
    mesh = UNIT_MESHES[shape]()
    points, normals = on_triangles(mesh)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    step = 1e-5
    gradient = np.stack(
        [
            distance_to_solid(shape, points + offset) - distance_to_solid(shape, points - offset)
            for offset in step * np.eye(3)
        ],
        axis=-1,
    )
    gradient /= np.linalg.norm(gradient, axis=1, keepdims=True)
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-12)
    assert np.degrees(np.arccos(np.clip((normals * gradient).sum(axis=1), -1, 1))).max() < 1.0


@pytest.mark.parametrize("shape", SHAPES)
def test_mesh_is_closed_and_winds_outwards(shape):
    mesh = UNIT_MESHES[shape]()
    a, b, c = mesh.triangles.T
    edges = np.concatenate([np.stack(pair, axis=1) for pair in ((a, b), (b, c), (c, a))])
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert {tuple(edge) for edge in edges} == {tuple(edge[::-1]) for edge in edges}
    assert len(mesh.vertices) - len(edges) // 2 + len(mesh.triangles) == 2
    corners = mesh.vertices[mesh.triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert ((facing * corners.mean(axis=1)).sum(axis=1) > 0).all()
    assert sorted(np.unique(mesh.triangles)) == list(range(len(mesh.vertices)))


def test_radii_match_clevrs_files():
    """Numbers of SmoothCube_v2, Sphere and SmoothCylinder of clevr-dataset-gen, within 1 %."""
    across = np.hypot(*cube().vertices[:, :2].T).max()
    assert across == pytest.approx(1.341, rel=0.01)
    assert np.linalg.norm(cube().vertices, axis=1).max() == pytest.approx(1.599, rel=0.01)
    assert np.linalg.norm(sphere().vertices, axis=1).max() == pytest.approx(0.9994, rel=0.01)
    rim = cylinder().vertices
    upright = rim[np.hypot(rim[:, 0], rim[:, 1]) > 1 - 1e-9]
    assert np.abs(upright[:, 2]).max() == pytest.approx(0.9125, rel=0.01)
    cap = rim[np.abs(rim[:, 2]) > 1 - 1e-9]
    assert 0.92 <= np.hypot(cap[:, 0], cap[:, 1]).max() <= 0.94
    for mesh in (cube(), cylinder(), sphere()):
        assert np.allclose(np.abs(mesh.vertices).max(axis=0), 1.0, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "exact"),
    [
        ("sphere", 4 / 3 * np.pi),
        # A box widened by a ball: box, slabs on the sides, quarter rods on the edges, the ball.
        (
            "cube",
            1.64**3 + 6 * 1.64**2 * 0.18 + 3 * np.pi * 0.18**2 * 1.64 + 4 / 3 * np.pi * 0.18**3,
        ),
        # A disc widened by a ball (Steiner's formula for r = 0.92, half height 0.92, d = 0.08).
        (
            "cylinder",
            np.pi * 0.92**2 * 1.84
            + (2 * np.pi * 0.92**2 + 2 * np.pi * 0.92 * 1.84) * 0.08
            + (np.pi**2 * 0.92 + np.pi * 1.84) * 0.08**2
            + 4 / 3 * np.pi * 0.08**3,
        ),
    ],
)
def test_volume_is_that_of_the_exact_solid(shape, exact):
    mesh = UNIT_MESHES[shape]()
    volume = np.linalg.det(mesh.vertices[mesh.triangles]).sum() / 6
    assert volume == pytest.approx(exact, rel=2e-3)
    assert volume < exact


def test_flat_sides_have_flat_normals():
    mesh = cube()
    top = mesh.vertices[:, 2] > 1 - 1e-9
    assert np.array_equal(mesh.normals[top], np.broadcast_to([0.0, 0.0, 1.0], (top.sum(), 3)))
    assert np.abs(mesh.vertices[top, :2]).max() == pytest.approx(0.82)
