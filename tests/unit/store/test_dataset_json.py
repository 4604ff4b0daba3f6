from pathlib import Path

import pytest

from robustclevr.errors import SpecError, StoreError
from robustclevr.store.dataset_json import (
    changed_splits,
    describe,
    entries,
    extended,
    read_dataset_json,
    write_dataset_json,
)
from robustclevr.store.layout import Layout

PATH = Path("d/dataset.json")


def split(samples=10, shard_size=4, **render):
    nodes = {"zeta": {"set": {"b": "1", "a": "b"}}, "alpha": {}}
    return {
        "samples": samples,
        "shard_size": shard_size,
        "render": {"samples": 512, "height": 240, **render},
        "dag": {"nodes": nodes},
    }


def content(seed=0, fingerprints=None, **splits):
    splits = splits or {"test": split()}
    return describe(
        header={"name": "tiny", "seed": seed, "licence": "CC-BY-4.0"},
        splits=splits,
        fingerprints=fingerprints or dict.fromkeys(splits, "f"),
    )


def test_round_trip_keeps_the_order_of_nodes(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert read_dataset_json(layout) is None
    write_dataset_json(content(), layout)
    read = read_dataset_json(layout)
    assert read == content()
    nodes = read["splits"]["test"]["dag"]["nodes"]
    assert list(nodes) == ["zeta", "alpha"]
    assert list(nodes["zeta"]["set"]) == ["b", "a"]


def test_an_altered_file_is_refused(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    write_dataset_json(content(), layout)
    data = layout.dataset_json.read_bytes()
    layout.dataset_json.write_bytes(data.replace(b"512", b"513"))
    with pytest.raises(StoreError, match="own digest"):
        read_dataset_json(layout)


def test_bytes_do_not_tell_the_order_of_splits(tmp_path: Path) -> None:
    a, b = Layout(tmp_path / "a"), Layout(tmp_path / "b")
    write_dataset_json(content(test=split(), train=split(20)), a)
    write_dataset_json(extended(content(train=split(20)), content(test=split()), PATH), b)
    assert a.dataset_json.read_bytes() == b.dataset_json.read_bytes()


def test_more_samples_and_more_splits_extend() -> None:
    merged = extended(content(test=split(10)), content(test=split(12), val=split(3)), PATH)
    assert {name: entry.samples for name, entry in entries(merged).items()} == {
        "test": 12,
        "val": 3,
    }
    kept = extended(content(test=split(), val=split()), content(test=split()), PATH)
    assert set(kept["splits"]) == {"test", "val"}


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (content(seed=1), r"d/dataset\.json: seed: .*made with 0, the spec now says 1"),
        (content(test=split(samples_=1)), r"render\.samples_: .*\(absent\), the spec now says 1"),
        (content(test=split(height=120)), r"splits\.test\.render\.height: .*240.*120"),
        (content(test=split(9)), r"splits\.test\.samples: .*10.*9"),
        (content(test=split(shard_size=5)), r"splits\.test\.shard_size: .*4.*5"),
        (content(fingerprints={"test": "g"}), r"fingerprints\.test: .*\"f\".*\"g\""),
    ],
)
def test_any_other_difference_names_the_first_field_and_both_values(new, said) -> None:
    with pytest.raises(SpecError, match=said) as caught:
        extended(content(), new, PATH)
    assert "--force" in str(caught.value)


def test_inside_lists_the_place_is_named() -> None:
    old, new = content(), content()
    old["splits"]["test"] = {**split(), "set": [{"a": "1"}, {"b": "2"}]}
    new["splits"]["test"] = {**split(), "set": [{"a": "1"}, {"b": "3"}]}
    with pytest.raises(SpecError, match=r"splits\.test\.set\[1\]\.b: .*\"2\".*\"3\""):
        extended(old, new, PATH)


def test_a_new_summary_is_no_other_dataset() -> None:
    assert extended({**content(), "summary": "a"}, {**content(), "summary": "b"}, PATH)


def test_what_force_removes() -> None:
    old = content(a=split(), b=split(), c=split())
    new = content(fingerprints={"a": "f", "b": "g"}, a=split(8, shard_size=4), b=split(height=120))
    assert changed_splits(old, new) == ("b", "c")
