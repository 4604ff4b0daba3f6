"""Importance of objects: the kernel beside PyGSP, shares by hand."""

import numpy as np
import pytest
from pygsp import filters, graphs

from robustclevr.metrics.importance import (
    caption_typicality,
    heat_kernel,
    important,
    object_importance,
)

WORDS = {"cube": ["cube", "box"], "sphere": ["sphere", "ball"], "none": []}


def test_the_heat_kernel_equals_pygsp() -> None:
    rng = np.random.default_rng(0)
    for size in (2, 3, 8, 20):
        weights = np.triu(rng.random((size, size)), 1)
        weights += weights.T
        signal = rng.random(size)
        graph = graphs.Graph(weights)
        graph.compute_fourier_basis()
        for time in (0.3, 1.0, 5.0):
            expected = filters.Heat(graph, scale=time).filter(signal, method="exact")
            np.testing.assert_allclose(heat_kernel(weights, time) @ signal, expected, atol=1e-12)


def test_heat_is_kept_and_stays_where_there_is_no_edge_or_no_time() -> None:
    weights = np.array([[0, 1, 0.5], [1, 0, 0.2], [0.5, 0.2, 0]])
    np.testing.assert_allclose(heat_kernel(weights, 2.0).sum(axis=0), 1.0)
    np.testing.assert_allclose(heat_kernel(weights, 0.0), np.eye(3), atol=1e-15)
    np.testing.assert_array_equal(heat_kernel(np.zeros((2, 2)), 1.0), np.eye(2))
    assert heat_kernel(np.zeros((0, 0)), 1.0).shape == (0, 0)


def test_typicality_is_the_share_of_captions() -> None:
    captions = ["A red cube.", "Boxes, and two BALLS", "an icebox", "a cube or a box"]
    typicality = caption_typicality(captions, WORDS)
    assert typicality == {"cube": 0.75, "sphere": 0.25, "none": 0.0}
    assert caption_typicality([], WORDS)["cube"] == 0.0


def test_importance_of_two_objects_by_hand() -> None:
    # Two cubes of areas 3 and 1 that share 0.8; 4 px apart. Two nodes: eigenvalues 0 and
    # lambda_max, so half of the difference is left times exp(-1), whatever the distance.
    boxes = np.array([[0, 0, 3, 1], [7, 0, 1, 1]])
    importance = object_importance(["cube", "cube"], np.array([3, 1]), boxes, {"cube": 0.8})
    np.testing.assert_allclose(importance, 0.5 + np.array([1, -1]) * 0.25 * np.exp(-1))
    still = object_importance(["cube", "cube"], np.array([3, 1]), boxes, {"cube": 0.8}, time=0.0)
    np.testing.assert_allclose(still, [0.75, 0.25])
    assert important(importance, 0.5).tolist() == [True, False]


def test_the_near_neighbor_of_an_important_object_gets_more() -> None:
    boxes = np.array([[0, 0, 10, 10], [12, 0, 10, 10], [90, 90, 10, 10]])
    classes, areas = ["cube", "sphere", "sphere"], np.full(3, 100.0)
    importance = object_importance(classes, areas, boxes, {"cube": 1.0})
    assert importance[0] > importance[1] > 2 * importance[2] > 0
    assert importance.sum() == pytest.approx(1.0)


def test_captions_about_nothing_that_is_there_leave_the_image_out() -> None:
    boxes = np.array([[0, 0, 2, 2]])
    nothing = object_importance(["cube"], np.array([4.0]), boxes, {"sphere": 1.0})
    assert np.isnan(nothing).all()
    assert not important(nothing, 0.0).any()
    assert object_importance(["cube"], np.array([4.0]), boxes, {"cube": 0.1}).tolist() == [1.0]
    assert object_importance([], np.zeros(0), np.zeros((0, 4)), {}).shape == (0,)


def test_lengths_and_areas_that_do_not_fit_are_errors() -> None:
    with pytest.raises(ValueError, match="1 classes, 2 areas and 1 boxes"):
        object_importance(["cube"], np.ones(2), np.zeros((1, 4)), {})
    with pytest.raises(ValueError, match=r"areas go down to 0\.0"):
        object_importance(["cube"], np.zeros(1), np.zeros((1, 4)), {})
