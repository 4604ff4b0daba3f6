from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from robustclevr.blender.ground import AWAY, HALF_WIDTH, NEAR_EDGE, ground_height, ground_mesh

# Read off base_scene.blend of clevr-dataset-gen.
TABLE = np.array(
    [
        *[(-9.5, 0), (-1.0, 0), (1.7, 0.011), (2.9, 0.019), (5.1, 0.048), (7.0, 0.10), (8.7, 0.18)],
        *[(10.1, 0.31), (11.4, 0.50), (12.4, 0.76), (13.3, 1.11), (14.0, 1.58), (14.6, 2.17)],
        *[(15.1, 2.92), (15.6, 3.85), (15.9, 4.99), (16.3, 6.36), (16.6, 7.99), (16.8, 9.92)],
        *[(17.2, 13.4), (17.6, 17.8), (18.1, 23.2)],
    ]
)


def test_height_goes_through_the_table():
    assert ground_height(TABLE[:, 0]) == pytest.approx(TABLE[:, 1], abs=1e-12)


def test_height_agrees_with_an_independent_interpolation():
    distance = np.linspace(-9.5, 17.6, 2000)  # the last piece differs by its end slope only
    reference = PchipInterpolator(*TABLE.T)(distance)
    assert ground_height(distance) == pytest.approx(reference, abs=1e-9)


def test_height_never_falls():
    assert (np.diff(ground_height(np.linspace(-12.0, 20.0, 5000))) >= 0).all()


def test_far_left_corner_of_the_objects_square_lies_a_little_high():
    corner = np.array([-3.0, 3.0]) @ np.array(AWAY)
    assert ground_height(np.array([corner]))[0] == pytest.approx(0.03, abs=0.01)


def test_mesh_reaches_as_far_as_clevrs_and_faces_the_objects():
    mesh = ground_mesh()
    along = mesh.vertices[:, :2] @ np.array(AWAY)
    across = mesh.vertices[:, :2] @ np.array([-AWAY[1], AWAY[0]])
    assert along.min() == pytest.approx(NEAR_EDGE, abs=1e-3)
    assert along.max() == pytest.approx(18.1, abs=1e-3)
    assert across.min() == pytest.approx(-HALF_WIDTH, abs=1e-3)
    assert across.max() == pytest.approx(HALF_WIDTH, abs=1e-3)
    assert mesh.vertices[:, 2] == pytest.approx(ground_height(along), abs=0.01)
    corners = mesh.vertices[mesh.triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (facing[:, 2] > 0).all()
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    assert (np.einsum("fx,fcx->fc", facing, mesh.normals[mesh.triangles]) > 0.999).all()
