from pathlib import Path

import pytest

from robustclevr.store.layout import Layout, sample_key, shard_count


@pytest.mark.parametrize(
    ("samples", "size", "shards"),
    [(1, 64, 1), (64, 64, 1), (65, 64, 2), (6, 2, 3), (5, 2, 3), (50_000, 64, 782)],
)
def test_shard_count(samples: int, size: int, shards: int) -> None:
    assert shard_count(samples, size) == shards


def test_paths_are_those_of_the_contract() -> None:
    layout = Layout(Path("d"))
    assert layout.tar("test", 0) == Path("d/test/shard-00000.tar")
    assert layout.receipt("test", 12) == Path("d/test/shard-00012.receipt.json")
    assert layout.parked("test", 0, 17) == Path("d/.work/test/shard-00000/000017.sample")
    assert layout.draws("test") == Path("d/test/draws.parquet")
    assert layout.scenes("test") == Path("d/test/scenes.json")


def test_keys_have_six_digits_or_more() -> None:
    assert [sample_key(i) for i in (0, 17, 1_234_567)] == ["000000", "000017", "1234567"]
