"""ARI, ARP and ARR: beside scikit-learn, by enumeration, and the propositions of the paper."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import adjusted_rand_score

from robustclevr.metrics import rand_scores

MAPS = st.integers(1, 12).flatmap(
    lambda size: arrays(np.int64, (2, 1, size), elements=st.integers(0, 3))
)


def scores_of(truth: list[int], predicted: list[int], **options: bool) -> tuple[float, ...]:
    scores = rand_scores(np.array([truth]), np.array([predicted]), **options)
    return (float(scores.ari[0]), float(scores.arp[0]), float(scores.arr[0]))


def random_maps(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    shape = rng.integers(1, 40, 2)
    truth = rng.integers(0, rng.integers(1, 9), shape)
    noise = rng.random(shape) < rng.choice([0.0, 0.01, 0.3, 1.0])
    return truth, np.where(noise, rng.integers(0, rng.integers(1, 9), shape), (truth + 1) // 2)


def test_ari_equals_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    for _ in range(1000):
        truth, predicted = random_maps(rng)
        expected = adjusted_rand_score(truth.ravel(), predicted.ravel())
        assert rand_scores(truth[None], predicted[None]).ari[0] == pytest.approx(
            expected, abs=1e-12
        )
        seen = truth > 0
        if seen.any():
            expected = adjusted_rand_score(truth[seen], predicted[seen])
            foreground = rand_scores(truth[None], predicted[None], foreground=True).ari[0]
            assert foreground == pytest.approx(expected, abs=1e-12)


def test_a_large_map_with_one_odd_pixel_keeps_its_digits() -> None:
    truth, predicted = np.zeros((2, 1, 480, 640), np.int64)
    truth[0, 0, 0] = predicted[0, 0, 1] = 1
    # s = p - 2 (m - 2) and so on: the closed form of two single pixels that miss each other.
    m = truth.size
    expected = -1.0 / (m - 1)
    assert rand_scores(truth, predicted).ari[0] == pytest.approx(expected, rel=1e-12)
    assert rand_scores(truth, predicted).arp[0] == pytest.approx(expected, rel=1e-12)


def together(labels: tuple[int, ...]) -> set[tuple[int, int]]:
    pairs = itertools.combinations(range(len(labels)), 2)
    return {(i, j) for i, j in pairs if labels[i] == labels[j]}


def test_precision_and_recall_by_enumerating_pairs_and_shuffles() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        truth = tuple(rng.integers(0, 3, 6).tolist())
        predicted = tuple(rng.integers(0, 3, 6).tolist())
        p, q = together(truth), together(predicted)
        if not 0 < len(p) < 15 or not 0 < len(q) < 15:
            continue
        shuffles = list(itertools.permutations(predicted))
        chance = sum(len(p & together(shuffled)) for shuffled in shuffles) / len(shuffles)
        gain = len(p & q) - chance
        expected = (
            gain / ((len(p) + len(q)) / 2 - chance),
            gain / (len(q) - chance),
            gain / (len(p) - chance),
        )
        assert scores_of(list(truth), list(predicted)) == pytest.approx(expected, abs=1e-12)


@given(MAPS)
@settings(deadline=None)
def test_the_propositions_of_the_paper(maps: np.ndarray) -> None:
    truth, predicted = maps
    ours, turned = rand_scores(truth, predicted), rand_scores(predicted, truth)
    ari, arp, arr = float(ours.ari[0]), float(ours.arp[0]), float(ours.arr[0])
    assert (arp, arr, ari) == (turned.arr[0], turned.arp[0], turned.ari[0])  # proposition 2
    if arp and arr:
        assert ari == pytest.approx(2 / (1 / arp + 1 / arr), abs=1e-12)  # proposition 3
    assert min(arp, arr) - 1e-15 <= ari <= max(arp, arr) + 1e-15  # proposition 4
    assert ari <= 1.0


@given(MAPS, st.permutations([0, 1, 2, 3]))
@settings(deadline=None)
def test_names_of_segments_do_not_matter(maps: np.ndarray, names: list[int]) -> None:
    truth, predicted = maps
    renamed = rand_scores(truth, np.array(names)[predicted] * 1000)
    for name in ("ari", "arp", "arr"):
        np.testing.assert_array_equal(
            getattr(renamed, name), getattr(rand_scores(truth, predicted), name)
        )


@pytest.mark.parametrize(
    ("truth", "predicted", "expected"),
    [
        ([1, 1, 2, 2], [5, 5, 7, 7], (1, 1, 1)),
        ([0, 0, 0, 0], [3, 3, 3, 3], (1, 1, 1)),  # one segment in both
        ([0, 1, 2, 3], [3, 2, 1, 0], (1, 1, 1)),  # single pixels in both
        ([0, 0, 0, 0], [0, 0, 1, 1], (0, 1, 0)),  # split only: nothing is joined
        ([0, 0, 1, 1], [0, 0, 0, 0], (0, 0, 1)),  # joined only
        ([0, 0, 1, 1], [0, 1, 2, 3], (0, 1, 0)),  # single pixels for segments
        ([0, 0, 0, 0], [0, 1, 2, 3], (0, 1, 0)),
        ([7], [9], (1, 1, 1)),  # no pair at all
    ],
)
def test_degenerate_maps(truth: list[int], predicted: list[int], expected: tuple[int, ...]) -> None:
    assert scores_of(truth, predicted) == expected


def test_splitting_lowers_recall_and_joining_lowers_precision() -> None:
    truth = [1] * 8 + [2] * 8
    split = scores_of(truth, [1] * 4 + [3] * 4 + [2] * 8)
    joined = scores_of([1] * 4 + [3] * 4 + [2] * 8, truth)
    assert split[1] == joined[2] == 1.0
    assert split[2] == joined[1] < 0.8


def test_the_foreground_alone() -> None:
    truth, predicted = [0, 0, 1, 1, 2, 2], [4, 5, 1, 1, 0, 0]
    assert scores_of(truth, predicted, foreground=True) == (1, 1, 1)
    assert scores_of(truth, predicted)[0] < 1
    assert all(math.isnan(score) for score in scores_of([0, 0], [1, 2], foreground=True))


def test_maps_of_a_batch_are_scored_apart() -> None:
    rng = np.random.default_rng(2)
    truth, predicted = rng.integers(0, 5, (2, 7, 4, 6))
    together_ = rand_scores(truth, predicted, foreground=True)
    apart = [
        rand_scores(t[None], p[None], foreground=True)
        for t, p in zip(truth, predicted, strict=True)
    ]
    np.testing.assert_array_equal(together_.arp, [scores.arp[0] for scores in apart])
    assert rand_scores(truth[:0], predicted[:0]).ari.shape == (0,)
