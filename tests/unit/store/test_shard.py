import hashlib
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webdataset.tariterators import group_by_keys, tar_file_expander

from robustclevr.errors import StoreError
from robustclevr.store.layout import Layout
from robustclevr.store.shard import ShardReader, iter_samples, write_shard

SAMPLES = [
    ("000003", {"json": b'{"index":3}\n', "clean.png": b"abc", "clean.mask.png": b""}),
    ("000004", {"json": b"{}\n", "glare.png": b"x" * 20_000}),
]


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    path = tmp_path / "test" / "shard-00000.tar"
    write_shard(path, SAMPLES, Layout(tmp_path))
    return path


def test_round_trip_and_digest(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    sha256, size = write_shard(path, SAMPLES, Layout(tmp_path))
    data = path.read_bytes()
    assert (hashlib.sha256(data).hexdigest(), len(data)) == (sha256, size)
    assert list(iter_samples(path)) == SAMPLES


def test_headers_carry_nothing_of_this_machine(shard: Path) -> None:
    with tarfile.open(shard) as tar:
        members = tar.getmembers()
    assert [member.name for member in members] == [
        "000003.clean.mask.png",
        "000003.clean.png",
        "000003.json",
        "000004.glare.png",
        "000004.json",
    ]
    for member in members:
        assert (member.mtime, member.uid, member.gid, member.mode) == (0, 0, 0, 0o644)
        assert (member.uname, member.gname) == ("", "")
    assert shard.read_bytes()[257:263] == b"ustar\0"


def test_order_of_members_does_not_reach_the_bytes(tmp_path: Path) -> None:
    reordered = [(key, dict(reversed(members.items()))) for key, members in SAMPLES]
    first = write_shard(tmp_path / "a.tar", SAMPLES, Layout(tmp_path))
    assert write_shard(tmp_path / "b.tar", reordered, Layout(tmp_path)) == first


def test_webdataset_reads_it(shard: Path) -> None:
    # The reader's own stages, on a file that we close: its URL opener leaves that to the collector.
    with shard.open("rb") as file:
        samples = list(group_by_keys(tar_file_expander([{"stream": file, "url": str(shard)}])))
    assert [sample["__key__"] for sample in samples] == ["000003", "000004"]
    assert samples[0]["clean.png"] == b"abc"
    assert samples[1]["glare.png"] == b"x" * 20_000


def test_random_access(shard: Path) -> None:
    with ShardReader(shard) as reader:
        assert reader.keys() == ("000003", "000004")
        assert reader.record("000003") == {"index": 3}
        assert reader.read("000004", "json") == b"{}\n"
        with pytest.raises(StoreError, match=r"no member '000004\.clean\.png'"):
            reader.read("000004", "clean.png")
        with pytest.raises(StoreError, match="no sample 000009"):
            reader.read("000009", "json")


@pytest.mark.parametrize("keep", [0.2, 0.6])
def test_a_cut_shard_is_an_error_not_fewer_samples(shard: Path, keep: float) -> None:
    data = shard.read_bytes()
    shard.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(StoreError, match=r"shard-00000\.tar"):
        list(iter_samples(shard))


def test_missing_shard(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be read as a shard"):
        ShardReader(tmp_path / "none.tar")


def test_a_name_too_long_for_a_tar_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "test" / "a.tar"
    with pytest.raises(StoreError, match="shorter id"):
        write_shard(path, [("000000", {f"{'n' * 120}.png": b""})], Layout(tmp_path))
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


names = st.text("abcdefgh_", min_size=1, max_size=20)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.dictionaries(names, st.binary(max_size=2000), min_size=1), max_size=4))
def test_any_sample_comes_back(tmp_path_factory: pytest.TempPathFactory, samples: list) -> None:
    root = tmp_path_factory.mktemp("shard")
    keyed = [(f"{i:06d}", members) for i, members in enumerate(samples)]
    write_shard(root / "a.tar", keyed, Layout(root))
    assert list(iter_samples(root / "a.tar")) == keyed
