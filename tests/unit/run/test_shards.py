import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustclevr.errors import SpecError
from robustclevr.run.shards import Selection, ShardTask, select, shard_tasks


def tasks(count: int) -> list[ShardTask]:
    return [ShardTask("test", shard, 2 * shard, 2) for shard in range(count)]


def test_tasks_of_two_splits_the_last_of_each_partial(make_split):
    splits = [make_split("train", 5, 2, dag=None), make_split("test", 2, 4, dag=None)]
    assert shard_tasks(splits) == (
        ShardTask("train", 0, 0, 2),
        ShardTask("train", 1, 2, 2),
        ShardTask("train", 2, 4, 1),
        ShardTask("test", 0, 0, 2),
    )


@pytest.mark.parametrize(
    ("count", "text", "shards"),
    [
        (3, "0/3", [0]),
        (3, "2/3", [2]),
        (10, "0/3", [0, 1, 2]),
        (10, "1/3", [3, 4, 5]),
        (10, "2/3", [6, 7, 8, 9]),
        (2, "0/3", []),
        (2, "1/3", [0]),
        (2, "2/3", [1]),
        (4, "0/1", [0, 1, 2, 3]),
    ],
)
def test_selection(count: int, text: str, shards: list[int]):
    chosen = select(tasks(count), Selection.from_text(text))
    assert [task.shard for task in chosen] == shards


@given(st.integers(0, 200), st.integers(1, 40))
def test_every_shard_is_in_exactly_one_part(count: int, parts: int):
    chosen = [select(tasks(count), Selection(part, parts)) for part in range(parts)]
    assert [task for part in chosen for task in part] == tasks(count)
    sizes = [len(part) for part in chosen]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("text", ["3/3", "0/0", "-1/3", "1", "a/b", "1/3/4", ""])
def test_what_names_no_part_is_an_error(text: str):
    with pytest.raises(SpecError, match="0/3, 1/3 and 2/3"):
        Selection.from_text(text)
