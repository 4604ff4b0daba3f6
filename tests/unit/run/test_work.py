import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest

from robustclevr.errors import StoreError
from robustclevr.run import renderer
from robustclevr.run.job import SampleDone, SampleFailed, SampleStarted, ShardDone
from robustclevr.run.leases import Lease
from robustclevr.run.shards import ShardTask
from robustclevr.run.work import execute_shard
from robustclevr.store.layout import Layout
from robustclevr.store.parking import parked_indices
from robustclevr.store.shard import ShardReader, iter_samples

FIRST = ShardTask("test", 0, 0, 4)


@pytest.fixture
def job(make_job, make_spec, make_split):
    return make_job(make_spec(make_split(samples=6, shard_size=4)))


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_a_shard_from_nothing(job):
    events = []
    outcome = execute_shard(FIRST, job, events.append)
    assert files(job.root) == ["test/shard-00000.receipt.json", "test/shard-00000.tar"]
    receipt = outcome.receipt
    assert (receipt.start, receipt.count, receipt.renders) == (0, 4, 4)
    assert receipt.versions["blender"] == "0.0.0"
    assert set(receipt.seconds) == {
        "total",
        "startup",
        "cycles",
        "labels",
        "compositor",
        "encode",
        "other",
    }
    assert receipt.seconds["cycles"] == pytest.approx(4 * 0.004)
    assert receipt.seconds["total"] > receipt.seconds["encode"] > 0
    assert receipt.seconds["startup"] > 0
    kinds = [type(event) for event in events]
    assert kinds.count(SampleStarted) == kinds.count(SampleDone) == 4
    assert events[-1] == ShardDone("test", 0, 4)


def test_the_stored_sample_holds_what_was_planned(job):
    execute_shard(FIRST, job)
    with ShardReader(job.layout.tar("test", 0)) as reader:
        assert reader.keys() == ("000000", "000001", "000002", "000003")
        record = reader.record("000002")
        suffixes = reader.suffixes("000002")
    nodes = [node.id for node in job.splits[0].dag.nodes]
    assert list(record["nodes"]) == nodes
    assert len(suffixes) == 1 + 2 * (1 + 8)
    assert {f"{node}.mask.png" for node in nodes} < set(suffixes)


def test_a_failed_sample_stops_no_other(job, monkeypatch):
    monkeypatch.setenv("STAND_IN", "fail:1")
    outcome = execute_shard(FIRST, job)
    assert outcome.receipt is None
    assert [str(failure) for failure in outcome.failures] == ["test/000001: glare.py:7: no"]
    assert parked_indices("test", 0, job.layout) == (0, 2, 3)
    assert not job.layout.tar("test", 0).exists()


@pytest.mark.parametrize("index", [0, 1, 3])
def test_a_renderer_that_dies_fails_its_sample_and_is_replaced(job, monkeypatch, index):
    monkeypatch.setenv("STAND_IN", f"die:{index}")
    events = []
    outcome = execute_shard(FIRST, job, events.append)
    (failure,) = outcome.failures
    assert failure.index == index
    assert "SIGKILL" in failure.reason
    assert f"rendering {index}" in failure.reason
    assert len(parked_indices("test", 0, job.layout)) == 3
    assert SampleFailed(failure) in events
    monkeypatch.delenv("STAND_IN")
    assert execute_shard(FIRST, job).receipt is not None


def test_three_deaths_in_a_row_and_the_worker_gives_up(job, monkeypatch):
    monkeypatch.setenv("STAND_IN", "die:all")
    outcome = execute_shard(FIRST, job)
    assert outcome.gave_up
    assert [failure.index for failure in outcome.failures] == [0, 1, 2]


def test_resumed_shard_has_the_bytes_of_an_undisturbed_one(job, monkeypatch, tmp_path):
    other = replace(job, root=tmp_path / "other")
    execute_shard(FIRST, other)
    monkeypatch.setenv("STAND_IN", "fail:2")
    execute_shard(FIRST, job)
    monkeypatch.delenv("STAND_IN")
    for index, damage in ((0, lambda data: data[:-1]), (1, lambda data: data[:500] + data[501:])):
        path = job.layout.parked("test", 0, index)
        path.write_bytes(damage(path.read_bytes()))
    events = []
    execute_shard(FIRST, job, events.append)
    found = {event.index: event.found for event in events if isinstance(event, SampleDone)}
    assert found == {0: False, 1: False, 2: False, 3: True}
    tars = [layout.tar("test", 0).read_bytes() for layout in (job.layout, other.layout)]
    assert tars[0] == tars[1]


def test_a_longer_split_keeps_the_samples_of_a_partial_shard(job, monkeypatch):
    execute_shard(ShardTask("test", 0, 0, 2), job)
    before = list(iter_samples(job.layout.tar("test", 0)))
    monkeypatch.setenv("STAND_IN", "fail:0")  # asking for sample 0 again would fail
    outcome = execute_shard(FIRST, job)
    assert outcome.receipt.count == 4
    assert outcome.receipt.renders == 4
    assert list(iter_samples(job.layout.tar("test", 0)))[:2] == before


@pytest.mark.parametrize("damage", ["tar", "receipt"])
def test_a_broken_shard_is_made_again(job, damage):
    execute_shard(FIRST, job)
    path = getattr(job.layout, damage)("test", 0)
    whole = job.layout.tar("test", 0).read_bytes()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    events = []
    assert execute_shard(FIRST, job, events.append).receipt is not None
    assert job.layout.tar("test", 0).read_bytes() == whole
    assert any(isinstance(event, SampleStarted) for event in events)


def test_a_finished_shard_is_left_alone(job):
    execute_shard(FIRST, job)
    stamp = job.layout.tar("test", 0).stat().st_mtime_ns
    events = []
    assert execute_shard(FIRST, job, events.append).receipt is not None
    assert events == [ShardDone("test", 0, 4)]
    assert job.layout.tar("test", 0).stat().st_mtime_ns == stamp


def test_a_full_disk_names_the_sample_and_leaves_nothing_half_written(job, monkeypatch):
    real = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.name == "000002.sample":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match=r"test/000002.*No space left on device; free some space"):
        execute_shard(FIRST, job)
    assert files(job.root) == [
        ".work/test/shard-00000/000000.sample",
        ".work/test/shard-00000/000001.sample",
    ]


def test_a_full_disk_at_publishing_names_the_shard(job, monkeypatch):
    real = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.suffix == ".tar":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match=r"test/000000 to test/000003 .*No space left"):
        execute_shard(FIRST, job)
    assert [name for name in files(job.root) if not name.endswith(".sample")] == []


def test_a_shard_under_another_lease_is_left_to_it(job):
    lease = Lease.acquire("test", 0, job.layout)
    with lease:
        outcome = execute_shard(FIRST, job)
        assert outcome.leased
        assert outcome.receipt is None
    assert execute_shard(FIRST, job).receipt is not None
    assert not list(job.layout.leases.rglob("*.lease"))


@pytest.mark.parametrize(
    # The stand-in says that it holds 1000 + index bytes.
    ("limits", "starts"),
    [({}, 1), ({"recycle_after": 1}, 4), ({"recycle_rss_bytes": 1001}, 2)],
)
def test_a_worn_renderer_is_replaced(job, monkeypatch, limits, starts):
    started = []

    class Counted(renderer.BlenderProcess):
        def __init__(self, *args, **keywords):
            super().__init__(*args, **keywords)
            started.append(self.pid)

    monkeypatch.setattr(renderer, "BlenderProcess", Counted)
    assert execute_shard(FIRST, replace(job, **limits)).receipt is not None
    assert len(started) == starts


def test_records_are_json_that_names_its_sample(job):
    execute_shard(FIRST, job)
    for key, members in iter_samples(Layout(job.root).tar("test", 0)):
        record = json.loads(members["json"])
        assert record["index"] == int(key)
        assert record["plan"]["index"] == int(key)
