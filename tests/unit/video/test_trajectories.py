"""Paths against an independent simulation of the same law."""

import numpy as np
import pytest
from scipy import stats

from robustclevr.errors import SamplingError
from robustclevr.video import resolve, sample_clip
from robustclevr.video.trajectories import Constraints, covariance_factor, draw_paths

LOW, HIGH = 10.0, 54.0


def constraints(count, frames, value):
    shape = (count, frames)
    return Constraints(
        frame=np.zeros(count, np.int64),
        value=np.broadcast_to(np.asarray(value, dtype=float), (count,)).copy(),
        low=np.full(shape, LOW),
        high=np.full(shape, HIGH),
    )


def simulated(rng, frames, sigma, tau, count):
    """Plain rejection: draw f, shift it to the start, keep it if it never leaves."""
    t = np.arange(frames)
    kernel = sigma**2 * np.exp(-((t[:, None] - t) ** 2) / (2 * tau**2))
    start = rng.uniform(LOW, HIGH, count)
    paths, left = np.empty((count, frames)), np.arange(count)
    while left.size:
        f = rng.multivariate_normal(np.zeros(frames), kernel, left.size, method="eigh")
        f += start[left, None] - f[:, :1]
        kept = ((f >= LOW) & (f <= HIGH)).all(axis=1)
        paths[left[kept]] = f[kept]
        left = left[~kept]
    return paths


@pytest.fixture(scope="module")
def paths():
    """All coordinates of 2,000 clips, shape (10,000, 10)."""
    options = resolve("vmds")
    clips = [sample_clip(options, root_seed=3, split="s", index=i) for i in range(2000)]
    return np.concatenate([np.array(s.position).T for clip in clips for s in clip.sprites])


def test_centroids_stay_in_their_bounds(paths):
    assert paths.min() >= LOW
    assert paths.max() <= HIGH


def test_starts_are_uniform(paths):
    assert stats.kstest((paths[:, 0] - LOW) / (HIGH - LOW), "uniform").pvalue > 1e-3


def test_clips_of_ten_frames_move_as_fast_as_the_released_ones(paths):
    speed = np.sqrt((np.diff(paths, axis=1) ** 2).mean())
    assert 2.7 <= speed <= 3.0


def test_autocovariance_is_that_of_an_independent_simulation(paths):
    reference = simulated(np.random.default_rng(0), 10, 55.0, 10.0, len(paths))
    moved, expected = paths - paths[:, :1], reference - reference[:, :1]
    for lag in range(10):
        ours = moved[:, 1 : 10 - lag] * moved[:, 1 + lag :] if lag < 9 else moved[:, :0]
        theirs = expected[:, 1 : 10 - lag] * expected[:, 1 + lag :] if lag < 9 else ours
        if not ours.size:
            continue
        error = np.hypot(
            ours.mean(axis=1).std() / np.sqrt(len(ours)),
            theirs.mean(axis=1).std() / np.sqrt(len(theirs)),
        )
        assert abs(ours.mean() - theirs.mean()) < 4 * error


def test_ends_follow_the_law_of_the_simulation(paths):
    reference = simulated(np.random.default_rng(1), 10, 55.0, 10.0, len(paths))
    assert stats.ks_2samp(paths[:, -1], reference[:, -1]).pvalue > 1e-3


@pytest.mark.parametrize(("frames", "tau"), [(1, 10.0), (10, 10.0), (20, 3.0), (100, 10.0)])
def test_factor_gives_the_covariance(frames, tau):
    factor = covariance_factor(frames, tau)
    t = np.arange(frames)
    expected = np.exp(-((t[:, None] - t) ** 2) / (2 * tau**2))
    assert np.abs(factor.T @ factor - expected).max() < 1e-7


def test_a_path_stands_where_it_is_told_in_the_frame_it_is_told():
    wanted = constraints(50, 10, np.linspace(12, 50, 50).round(4))
    wanted.frame[:] = np.arange(50) % 10
    found = draw_paths(
        np.random.default_rng(0), wanted, tau_frames=10.0, sigma_px=55.0, tries=10_000
    )
    np.testing.assert_array_equal(found[np.arange(50), wanted.frame], wanted.value)


def test_bounds_that_nothing_satisfies_are_an_error_with_a_way_out():
    with pytest.raises(SamplingError) as error:
        draw_paths(
            np.random.default_rng(0),
            constraints(2, 300, 32.0),
            tau_frames=1.0,
            sigma_px=500.0,
            tries=300,
        )
    message = str(error.value)
    for word in ("none of 300", "10 to 54 px", "lower video.sigma_px", "raise video.tries"):
        assert word in message


def test_clip_is_named_where_its_paths_fail():
    options = resolve("vmds", {"frames": 200, "sigma_px": 1000.0, "tries": 64})
    with pytest.raises(SamplingError, match=r"clip 7 of split 'val' \(root seed 2\)"):
        sample_clip(options, root_seed=2, split="val", index=7)
