"""K-means: exact where colors are few, scikit-learn on pixels elsewhere, links by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from robustclevr.baselines import kmeans_labels
from robustclevr.baselines.kmeans import link_segments
from robustclevr.errors import SpecError


def soft_discs(rng: np.random.Generator, frames: int = 4) -> np.ndarray:
    """Three colored discs with soft edges that drift over a plain background."""
    rows, columns = np.mgrid[:32, :32]
    clip = np.full((frames, 32, 32, 3), rng.integers(0, 256, 3), np.float64)
    for _ in range(3):
        color = rng.integers(0, 256, 3)
        path = rng.uniform(6, 26, 2) + np.cumsum(rng.normal(0, 1, (frames, 2)), axis=0)
        for index, (row, column) in enumerate(path):
            alpha = np.clip(6.5 - np.hypot(rows - row, columns - column), 0, 1)[..., np.newaxis]
            clip[index] += alpha * (color - clip[index])
    return np.round(clip).astype(np.uint8)


def inertia(image: np.ndarray, labels: np.ndarray) -> float:
    pixels, labels = image.reshape(-1, 3).astype(float), labels.reshape(-1)
    parts = (pixels[labels == label] for label in np.unique(labels))
    return float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))


@given(arrays(np.uint8, (2, 5, 5), elements=st.integers(0, 3)))
@settings(max_examples=30, deadline=None)
def test_few_colors_are_their_own_clusters(which: np.ndarray) -> None:
    palette = np.array([[9, 0, 0], [0, 9, 0], [0, 0, 9], [9, 9, 9]], np.uint8)
    labels = kmeans_labels(palette[which], 4, rng=np.random.default_rng(0))
    for frame, truth in zip(labels, which, strict=True):
        assert adjusted_rand_score(truth.ravel(), frame.ravel()) == 1.0
    assert labels.min() >= 1
    assert labels.max() <= 4


def test_clusters_are_as_good_as_those_of_pixels() -> None:
    clip = soft_discs(np.random.default_rng(1), frames=6)
    labels = kmeans_labels(clip, 5, rng=np.random.default_rng(2))
    for seed, (image, frame) in enumerate(zip(clip, labels, strict=True)):
        assert set(np.unique(frame)) == {1, 2, 3, 4, 5}
        pixels = image.reshape(-1, 3).astype(float)
        reference = KMeans(5, n_init=10, random_state=seed).fit(pixels)
        assert inertia(image, frame) == pytest.approx(reference.inertia_, rel=0.02)


def test_equal_generators_give_equal_labels_and_frames_their_own_seeds() -> None:
    clip = soft_discs(np.random.default_rng(3))
    first = kmeans_labels(clip, 6, rng=np.random.default_rng(4))
    np.testing.assert_array_equal(first, kmeans_labels(clip, 6, rng=np.random.default_rng(4)))
    longer = np.concatenate([clip, clip[:1]])
    np.testing.assert_array_equal(first, kmeans_labels(longer, 6, rng=np.random.default_rng(4))[:4])
    assert first.dtype == np.uint8


def test_a_label_follows_its_disc() -> None:
    clip = soft_discs(np.random.default_rng(6), frames=8)
    labels = kmeans_labels(clip, 4, rng=np.random.default_rng(7))
    for label in range(1, 5):
        colors = [
            np.median(image[frame == label], axis=0)
            for image, frame in zip(clip, labels, strict=True)
        ]
        assert np.ptp(colors, axis=0).max() < 40


def test_links_maximize_the_overlap_of_all() -> None:
    first = [[0, 0, 0, 1, 1, 2]]
    second = [[2, 2, 0, 0, 0, 1]]  # 2 lies on 0, 0 on half of 1, 1 on 2
    linked = link_segments(np.array([first, second, second], np.uint8), 3)
    np.testing.assert_array_equal(linked, [first, [[0, 0, 1, 1, 1, 2]], [[0, 0, 1, 1, 1, 2]]])


def test_a_segment_that_was_away_takes_the_free_label() -> None:
    first, second = [[0, 0, 1, 1]], [[1, 1, 1, 1]]
    linked = link_segments(np.array([first, second, first], np.uint8), 3)
    covering = int(linked[1, 0, 0])
    assert covering in (0, 1)  # it lies on both alike
    assert set(np.unique(linked[2])) <= {0, 1, 2}
    assert linked[2, 0, 0] != linked[2, 0, 2]


def test_no_frames_have_no_labels() -> None:
    frames = np.zeros((0, 4, 4, 3), np.uint8)
    assert kmeans_labels(frames, 3, rng=np.random.default_rng(0)).shape == (0, 4, 4)


@pytest.mark.parametrize("clusters", [0, 256])
def test_a_count_out_of_range_is_an_error(clusters: int) -> None:
    with pytest.raises(SpecError, match=f"{clusters} clusters; 1 to 255 are possible"):
        kmeans_labels(np.zeros((1, 2, 2, 3), np.uint8), clusters, rng=np.random.default_rng(0))


def test_frames_of_floats_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"float64 \(1, 2, 2, 3\), not uint8"):
        kmeans_labels(np.zeros((1, 2, 2, 3)), 2, rng=np.random.default_rng(0))
