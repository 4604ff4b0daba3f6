import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest

from robustclevr.errors import StoreError
from robustclevr.records import Retry
from robustclevr.run import renderer
from robustclevr.run.job import (
    SampleDone,
    SampleFailed,
    SampleRetried,
    SampleStarted,
    ShardDone,
    ShardOrder,
    WorkerGaveUp,
)
from robustclevr.run.leases import Lease
from robustclevr.run.shards import ShardTask
from robustclevr.run.work import execute_shard
from robustclevr.store.layout import Layout
from robustclevr.store.parking import parked_indices
from robustclevr.store.receipts import read_receipt
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
def test_a_renderer_that_dies_each_time_fails_its_sample_alone(job, monkeypatch, index):
    monkeypatch.setenv("STAND_IN", f"die:{index}")
    events = []
    outcome = execute_shard(FIRST, job, events.append)
    (failure,) = outcome.failures
    assert (failure.index, failure.tries) == (index, 2)
    assert failure.reason == f"Blender was ended by SIGKILL while rendering test/00000{index}"
    assert failure.tail == f"    rendering {index}"
    assert "(tried 2 times); its last lines" in str(failure)
    assert len(parked_indices("test", 0, job.layout)) == 3
    assert SampleFailed(failure) in events
    (retried,) = [event for event in events if isinstance(event, SampleRetried)]
    assert retried.retry == Retry(index, 1, failure.reason)
    assert retried.tail.endswith(failure.tail)
    monkeypatch.delenv("STAND_IN")
    assert execute_shard(FIRST, job).receipt.retries == ()


@pytest.mark.parametrize(
    ("misbehavior", "reason"),
    [
        ("die:1", "Blender was ended by SIGKILL while rendering test/000001"),
        ("exit:3", "Blender ended with exit code 3 while rendering test/000003"),
        ("hang:0", "Blender did not answer within 3 s while rendering test/000000 and was ended"),
        ("error:2", "no light"),
    ],
)
def test_what_a_fresh_process_can_do_is_done_and_in_the_receipt(
    job, monkeypatch, tmp_path, misbehavior, reason
):
    undisturbed = replace(job, root=tmp_path / "undisturbed")
    execute_shard(FIRST, undisturbed)
    monkeypatch.setenv("STAND_IN", f"{misbehavior},once:{tmp_path}/once")
    outcome = execute_shard(FIRST, replace(job, sample_timeout_s=3.0))
    assert outcome.failures == ()
    index = int(misbehavior[-1])
    assert outcome.receipt.retries == (Retry(index, 1, reason),)
    assert read_receipt("test", 0, job.layout) == outcome.receipt
    tars = [one.layout.tar("test", 0).read_bytes() for one in (job, undisturbed)]
    assert tars[0] == tars[1]


@pytest.mark.parametrize("retries", [0, 2])
def test_tries_are_counted(job, monkeypatch, retries):
    monkeypatch.setenv("STAND_IN", "error:1")
    events = []
    (failure,) = execute_shard(FIRST, replace(job, retries=retries), events.append).failures
    assert failure.tries == 1 + retries
    tries = [event.retry.attempt for event in events if isinstance(event, SampleRetried)]
    assert tries == list(range(1, 1 + retries))


def test_what_a_recipe_raises_is_not_tried_again(job, monkeypatch):
    monkeypatch.setenv("STAND_IN", "fail:1")
    events = []
    (failure,) = execute_shard(FIRST, job, events.append).failures
    assert failure.tries == 1
    assert not [event for event in events if isinstance(event, SampleRetried)]


def test_three_samples_lost_in_a_row_and_the_worker_gives_up(job, monkeypatch):
    monkeypatch.setenv("STAND_IN", "die:all")
    events = []
    outcome = execute_shard(FIRST, job, events.append)
    assert outcome.gave_up
    assert [failure.index for failure in outcome.failures] == [0, 1, 2]
    (gave_up,) = [event for event in events if isinstance(event, WorkerGaveUp)]
    assert "died on 3 samples in a row, and on a plain one" in gave_up.reason


def test_samples_lost_to_a_recipe_stop_no_worker_whose_renderer_is_well(job, monkeypatch):
    monkeypatch.setenv("STAND_IN", "recipe:all")
    outcome = execute_shard(FIRST, job)
    assert not outcome.gave_up
    assert [failure.index for failure in outcome.failures] == [0, 1, 2, 3]


def test_an_order_knows_of_the_tries_before_it_and_leaves_samples_out(job):
    lost = (Retry(1, 1, "the worker process that made it ended with SIGKILL"),)
    outcome = execute_shard(ShardOrder(FIRST, lost, skip=(2,)), job)
    assert outcome.receipt is None
    assert outcome.failures == ()
    assert parked_indices("test", 0, job.layout) == (0, 1, 3)
    assert execute_shard(FIRST, job).receipt.retries == lost


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
    assert events == [ShardDone("test", 0, 4, found=True)]
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
