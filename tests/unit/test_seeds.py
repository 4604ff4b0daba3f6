import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from robustclevr.seeds import pixel_seed, stream, uniforms

KNOWN_UNIFORMS = [0.5185846650403868, 0.6426471673220778]
KNOWN_PIXEL_SEED = 10907054


@given(start=st.integers(0, 10**6), count=st.integers(1, 50), skip=st.integers(0, 49))
def test_a_uniform_number_depends_on_its_position_alone(start, count, skip):
    skip = min(skip, count - 1)
    bulk = uniforms(3, "test", "gamma.h", start=start, count=count)
    alone = uniforms(3, "test", "gamma.h", start=start + skip, count=1)
    assert bulk[skip] == alone[0]


def test_every_part_of_the_name_matters():
    reference = uniforms(0, "test", "gamma.h", start=0, count=100)
    for other in ((1, "test", "gamma.h"), (0, "val", "gamma.h"), (0, "test", "gamma.g")):
        assert not np.any(uniforms(*other, start=0, count=100) == reference)


def test_seed_one_is_not_seed_zero_shifted():
    zero = uniforms(0, "test", "a.b", start=0, count=1000)
    one = uniforms(1, "test", "a.b", start=0, count=1000)
    assert not np.intersect1d(zero, one).size


def test_names_cannot_run_into_each_other():
    assert stream(1, "1", "s", 0).random() != stream(11, "", "s", 0).random()


def test_uniforms_are_uniform_independent_and_never_at_the_ends():
    a = uniforms(0, "test", "a.x", start=0, count=200_000)
    b = uniforms(0, "test", "b.x", start=0, count=200_000)
    assert a.min() > 0 and a.max() < 1
    assert stats.kstest(a, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.01
    assert abs(np.corrcoef(a[1:], a[:-1])[0, 1]) < 0.01


def test_uniforms_lie_on_the_centres_of_a_grid():
    cells = uniforms(0, "test", "a.x", start=0, count=1000) * 2.0**52 - 0.5
    assert np.array_equal(cells, np.round(cells))


def test_streams_of_neighbouring_samples_and_stages_do_not_overlap():
    draws = [stream(0, "test", "scene", index).random(1000) for index in range(5)]
    draws.append(stream(0, "test", "lights", 0).random(1000))
    everything = np.concatenate(draws)
    assert np.unique(everything).size == everything.size


def test_known_values_hold_from_version_to_version():
    # Written down once: a change here changes every dataset and must raise DATASET_VERSION.
    assert uniforms(0, "test", "gamma.h", start=0, count=2) == pytest.approx(KNOWN_UNIFORMS)
    assert pixel_seed(0, "test", "white_noise", 17) == KNOWN_PIXEL_SEED


def test_pixel_seeds_fit_a_float32():
    seeds = [pixel_seed(0, "test", "clouds", index) for index in range(200)]
    assert all(np.float32(seed) == seed for seed in seeds)
    assert len(set(seeds)) == 200
