import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustclevr.errors import SpecError
from robustclevr.run.sample_choice import read_samples, write_samples


@pytest.fixture(scope="module")
def splits(make_split):
    return [make_split(samples=50), make_split("test-ood", samples=200)]


def test_one_and_several(splits):
    assert read_samples("test:17", splits) == {"test": {17}}
    assert read_samples("test:17, test:40-42,test-ood:0", splits) == {
        "test": {17, 40, 41, 42},
        "test-ood": {0},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("17", "'17' names no sample; write test:17"),
        ("test:1,", "'' names no sample"),
        ("tset:1", "unknown split 'tset'; did you mean 'test'"),
        ("test:50", "'test:50' is not there; 'test' has 0 to 49"),
        ("test:7-3", "'test:7-3' is not there"),
        ("test:-3", "names no sample"),
    ],
)
def test_what_names_no_sample(splits, text, message):
    with pytest.raises(SpecError, match=f"--samples: .*{message}"):
        read_samples(text, splits)


@given(st.sets(st.tuples(st.sampled_from(["test", "test-ood"]), st.integers(0, 49)), min_size=1))
def test_what_is_written_is_read(splits, samples):
    read = read_samples(write_samples(samples), splits)
    assert {(split, index) for split, indices in read.items() for index in indices} == samples
