import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow.parquet as pq
import pytest

from robustclevr.errors import SetupError, SpecError, StoreError
from robustclevr.run import forecast, inventory
from robustclevr.run.cores import share_cores
from robustclevr.run.estimate import estimate
from robustclevr.run.index import rebuild_index
from robustclevr.run.job import LongRun, Notice, RunStarted, SampleDone, SampleStarted, ShardBroken
from robustclevr.run.shards import Selection
from robustclevr.run.status import dataset_status
from robustclevr.scm import SCM
from robustclevr.store.dataset import Dataset
from robustclevr.store.layout import Layout

REST = ["dataset.json", "index.json", "test/draws.parquet", "test/scenes.json"]


@pytest.fixture(scope="module")
def whole(recipes, make_spec, stand_in, tmp_path_factory):
    """The default dataset, made by one undisturbed worker."""
    from robustclevr.run.generate import GenerateOptions, generate

    root = tmp_path_factory.mktemp("whole")
    options = GenerateOptions(workers=1, device="cpu", command=stand_in.command)
    generate(make_spec(), recipes, root, options, [].append)
    return root


def test_a_whole_dataset(whole, tree, make_split):
    shards = [f"test/shard-{shard:05d}.tar" for shard in range(3)]
    assert sorted(tree(whole)) == sorted([*REST, *shards])
    assert len(list(whole.rglob("*.receipt.json"))) == 3
    dataset = Dataset.open(whole)
    assert [sample.key for sample in dataset.samples("test")] == [f"{i:06d}" for i in range(5)]
    table = SCM(make_split().dag).sample(5, seed=0, split="test")
    assert pq.read_table(whole / "test/draws.parquet").equals(
        table.to_arrow(noise=True, interventions=True)
    )
    scenes = json.loads((whole / "test/scenes.json").read_text())["scenes"]
    assert scenes == [record["scene"] for record in dataset.records("test")]
    sample = dataset.sample("test", 4)
    assert sample.image("clean").shape == (24, 32, 3)
    assert sample.labels("glare").max() == len(sample.record["objects"])
    with pytest.raises(StoreError, match="has no split 'tst'; did you mean 'test'"):
        dataset.split("tst")
    with pytest.raises(StoreError, match="0 to 4, not 5"):
        dataset.sample("test", 5)


def test_run_again_does_nothing_and_says_so(whole, run):
    before = {path: path.stat().st_mtime_ns for path in whole.rglob("*")}
    summary, events = run(whole)
    assert summary.nothing_to_do
    assert summary.exit_code == 0
    assert events == [RunStarted(3, 3, 5, 5, 1)]
    assert {path: path.stat().st_mtime_ns for path in whole.rglob("*")} == before


def test_two_workers_give_the_same_bytes(whole, run, tree, tmp_path):
    run(tmp_path / "d", workers=2)
    assert tree(tmp_path / "d") == tree(whole)


def test_three_parts_in_one_folder_or_in_three(whole, run, tree, tmp_path):
    for part in range(3):
        summary, _ = run(tmp_path / "one", selection=Selection(part, 3))
        assert summary.shards == 1
        run(tmp_path / f"part-{part}", selection=Selection(part, 3))
        assert not (tmp_path / f"part-{part}" / ".work").exists()
        assert not (tmp_path / f"part-{part}" / "index.json").exists()
    assert tree(tmp_path / "one") == tree(whole)
    joined = tmp_path / "joined"
    for part in range(3):
        subprocess.run(["cp", "-r", f"{tmp_path}/part-{part}/.", str(joined)], check=True)
    states = rebuild_index(joined)
    assert [state.whole for state in states] == [True]
    assert tree(joined) == tree(whole)


def test_index_says_what_is_missing_or_broken(run, tmp_path):
    root = tmp_path / "d"
    run(root, selection=Selection(0, 3))
    (state,) = rebuild_index(root)
    assert not state.whole
    assert state.missing == ("shard-00001.tar", "shard-00002.tar")
    tar = root / "test/shard-00000.tar"
    tar.write_bytes(tar.read_bytes()[::-1])
    (state,) = rebuild_index(root)
    assert "sha256" in state.broken[0]


def test_seeds(run, make_spec, whole, tree, tmp_path):
    run(tmp_path / "one", make_spec(seed=1))
    tars = {name: data for name, data in tree(whole).items() if name.endswith(".tar")}
    others = tree(tmp_path / "one")
    assert all(others[name] != data for name, data in tars.items())


def test_a_longer_dataset_begins_with_the_shorter(
    whole, run, make_spec, make_split, tree, tmp_path
):
    longer = make_spec(make_split(samples=7), make_split("val", samples=2))
    run(tmp_path / "d")
    _, events = run(tmp_path / "d", longer)
    assert events[0] == RunStarted(5, 2, 9, 5, 1)
    made = {(e.split, e.index) for e in events if isinstance(e, SampleDone) and not e.found}
    assert made == {("test", 5), ("test", 6), ("val", 0), ("val", 1)}
    run(tmp_path / "new", longer)
    assert tree(tmp_path / "d") == tree(tmp_path / "new")
    for shard in range(2):
        name = f"test/shard-{shard:05d}.tar"
        assert tree(tmp_path / "d")[name] == tree(whole)[name]


def test_while_a_split_grows_it_has_no_files_of_the_whole(run, make_spec, make_split, tmp_path):
    run(tmp_path / "d")
    longer = make_spec(make_split(samples=9))
    summary, _ = run(tmp_path / "d", longer, selection=Selection(0, 2))
    assert summary.whole_splits == ()
    assert not (tmp_path / "d/test/draws.parquet").exists()
    assert not (tmp_path / "d/index.json").exists()


def test_splits_are_chosen_and_added(run, make_spec, make_split, tree, tmp_path):
    both = make_spec(make_split(samples=2), make_split("val", samples=2))
    run(tmp_path / "d", both, splits=("val",))
    assert set(Dataset.open(tmp_path / "d").splits) == {"val"}
    run(tmp_path / "d", both, splits=("test",))
    run(tmp_path / "new", both)
    assert tree(tmp_path / "d") == tree(tmp_path / "new")
    with pytest.raises(SpecError, match="unknown split 'tset'; did you mean 'test'"):
        run(tmp_path / "d", both, splits=("tset",))


def test_another_spec_is_refused_and_forced(whole, run, make_spec, make_split, tree, tmp_path):
    run(tmp_path / "d", make_spec(seed=1))
    before = tree(tmp_path / "d")
    with pytest.raises(SpecError, match=r"dataset\.json: seed: .*made with 1.* now says 0"):
        run(tmp_path / "d")
    assert tree(tmp_path / "d") == before
    run(tmp_path / "d", force=True)
    assert tree(tmp_path / "d") == tree(whole)
    shorter = make_spec(make_split(samples=2))
    with pytest.raises(SpecError, match=r"splits\.test\.samples: .*5.*2"):
        run(tmp_path / "d", shorter)
    run(tmp_path / "d", shorter, force=True)
    run(tmp_path / "new", shorter)
    assert tree(tmp_path / "d") == tree(tmp_path / "new")


def test_a_broken_shard_is_reported_and_mended(run, whole, tree, tmp_path):
    run(tmp_path / "d")
    tar = tmp_path / "d/test/shard-00001.tar"
    tar.write_bytes(tar.read_bytes()[:-5])
    (tmp_path / "d/index.json").write_bytes(b"{}")
    (tmp_path / "d/test/draws.parquet").unlink()
    summary, events = run(tmp_path / "d")
    assert summary.missing_shards == 1
    assert [event.shard for event in events if isinstance(event, ShardBroken)] == [1]
    assert tree(tmp_path / "d") == tree(whole)


def test_a_failure_ends_with_1_and_is_made_up_for(run, whole, tree, tmp_path, monkeypatch):
    monkeypatch.setenv("STAND_IN", "die:2")
    summary, _ = run(tmp_path / "d")
    assert summary.exit_code == 1
    assert [failure.index for failure in summary.failures] == [2]
    assert (summary.missing_shards, summary.unfinished_shards) == (3, 1)
    status = dataset_status(tmp_path / "d")
    (split,) = status.splits
    assert (split.shards_done, split.samples_done, split.parked) == (2, 3, 1)
    assert split.missing == ("shard-00001.tar",)
    assert split.samples_left == 1
    assert not status.complete
    monkeypatch.delenv("STAND_IN")
    run(tmp_path / "d")
    assert tree(tmp_path / "d") == tree(whole)
    assert dataset_status(tmp_path / "d").complete


def test_only_chosen_samples_are_made(run, whole, tree, tmp_path):
    root = tmp_path / "d"
    summary, events = run(root, samples="test:1,test:4")
    assert (summary.exit_code, summary.samples, summary.shards) == (0, 2, 2)
    assert summary.unfinished_shards == 0
    assert events[0] == RunStarted(2, 0, 2, 0, 1)
    assert {event.index for event in events if isinstance(event, SampleDone)} == {1, 4}
    (split,) = dataset_status(root).splits
    assert (split.shards_done, split.samples_done, split.parked) == (1, 1, 1)
    summary, events = run(root, samples="test:0-1")
    assert events[0] == RunStarted(1, 0, 2, 1, 1)
    assert dataset_status(root).splits[0].samples_done == 3
    run(root)
    assert tree(root) == tree(whole)


def test_no_blender_stops_everything(run, tmp_path, monkeypatch):
    monkeypatch.setenv("STAND_IN", "no-bpy:0")
    with pytest.raises(SetupError, match="pip install"):
        run(tmp_path / "d", workers=2)
    assert not (tmp_path / "d/.work").exists()


def test_a_folder_that_cannot_be_made(run, tmp_path):
    (tmp_path / "d").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot"):
        run(tmp_path / "d")


def test_a_long_comparison_is_announced_and_finds_what_is_broken(run, whole, tmp_path, monkeypatch):
    shutil.copytree(whole, tmp_path / "d")
    _, events = run(tmp_path / "d")
    assert not any(isinstance(event, Notice) for event in events)
    tar = tmp_path / "d/test/shard-00002.tar"
    tar.write_bytes(tar.read_bytes()[:-1] + b"x")
    monkeypatch.setattr(inventory, "ANNOUNCED_BYTES", 0.0)
    _, events = run(tmp_path / "d")
    (notice,) = [event for event in events if isinstance(event, Notice)]
    assert "finished shards with their checksums" in notice.text
    assert [event.shard for event in events if isinstance(event, ShardBroken)] == [2]
    assert (tmp_path / "d/test/shard-00002.receipt.json").read_bytes() == (
        whole / "test/shard-00002.receipt.json"
    ).read_bytes()


def test_a_user_recipe_is_copied(recipes, tmp_path):
    from dataclasses import replace as changed

    from robustclevr.run.prepare import copy_recipes

    own = tmp_path / "own" / "glare.py"
    own.parent.mkdir()
    own.write_bytes(b"RECIPE = 1\n")
    loaded = changed(recipes["glare"], path=own, shipped=False)
    both = {**recipes, "glare": loaded, "unused": changed(loaded, path=own.with_name("unused.py"))}
    content = {"splits": {"test": {"recipe_digests": {"glare": {}}}}}
    copy_recipes(both, content, Layout(tmp_path / "d"))
    assert [path.name for path in (tmp_path / "d/recipes").iterdir()] == ["glare.py"]


def test_a_long_run_is_announced_once_after_a_measured_sample(run, tmp_path, monkeypatch):
    monkeypatch.setattr(forecast, "ANNOUNCED_S", 0.0)
    _, events = run(tmp_path / "d")
    (announced,) = [event for event in events if isinstance(event, LongRun)]
    assert announced.samples == 4
    first = next(event for event in events if isinstance(event, SampleDone))
    assert announced.seconds == pytest.approx(4 * first.seconds)
    assert events.index(announced) == events.index(first) + 1


def test_the_estimate_is_measured_and_leaves_nothing(
    run, make_spec, make_split, recipes, options, tmp_path, monkeypatch
):
    spec = make_spec(make_split(samples=5), make_split("plain", samples=10, dag=None))
    monkeypatch.setenv("STAND_IN", "slow:0.2")
    made = estimate(spec, recipes, tmp_path / "d", options)
    assert list(tmp_path.iterdir()) == []
    assert (made.samples, made.renders) == (15, 15)
    assert made.startup_s > 0
    tree_split, plain = made.splits
    assert 0.2 < tree_split.seconds_per_sample < 2
    assert tree_split.seconds == pytest.approx(5 * tree_split.seconds_per_sample)
    monkeypatch.delenv("STAND_IN")
    run(tmp_path / "d", spec, splits=("test",))
    stored = sum(path.stat().st_size for path in (tmp_path / "d/test").glob("*.tar"))
    assert tree_split.size_bytes == pytest.approx(stored, rel=0.2)
    rest = estimate(spec, recipes, tmp_path / "d", options)
    assert [split.split for split in rest.splits] == ["plain"]
    assert rest.size_bytes == pytest.approx(plain.size_bytes, rel=0.2)


@pytest.mark.parametrize(
    ("asked", "shards", "cores", "shared"),
    [
        (None, 100, 2, (1, 2)),
        (None, 100, 8, (4, 2)),
        (None, 1, 8, (1, 8)),
        (2, 100, 2, (2, 1)),
        (5, 3, 2, (3, 1)),
        (None, 0, 2, (1, 2)),
    ],
)
def test_cores_are_shared(monkeypatch, asked, shards, cores, shared):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    assert share_cores(asked, shards) == shared


def test_no_workers_is_an_error():
    with pytest.raises(SpecError, match="0 workers"):
        share_cores(0, 1)


CLI = """
import pickle, sys
from pathlib import Path
from robustclevr.recipe import load_recipes
from robustclevr.run.generate import generate
spec, options, out = pickle.load(open(sys.argv[1], "rb"))
summary = generate(spec, load_recipes(), Path(out), options, lambda e: print(e, flush=True))
sys.exit(summary.exit_code)
"""


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def start(make_spec, options, tmp_path):
    """Start a run in a process group of its own; return the process."""
    import pickle
    from dataclasses import replace

    started = []

    def start(out: Path, **changes) -> subprocess.Popen:
        job = tmp_path / f"job-{len(started)}.pickle"
        job.write_bytes(pickle.dumps((make_spec(), replace(options, **changes), str(out))))
        process = subprocess.Popen(
            [sys.executable, "-c", CLI, str(job)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Where the tests run in the background, SIGINT is ignored, and children inherit that.
            preexec_fn=_heed_interrupts,  # noqa: PLW1509 - one system call, no lock
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def family(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def read_until(process: subprocess.Popen, text: str) -> None:
    for line in process.stdout:
        if text in line:
            return
    pytest.fail(f"the run ended before it said {text}")


def assert_all_end(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=20)
    assert alive == []


@pytest.mark.slow
def test_ten_kills_at_random_moments(start, whole, run, tree, tmp_path, monkeypatch):
    monkeypatch.setenv("STAND_IN", "slow:0.3")
    moments = np.random.default_rng(5)
    root = tmp_path / "d"
    for _ in range(10):
        process = start(root, workers=2)
        time.sleep(moments.uniform(0.5, 3.5))
        children = family(process.pid)
        process.kill()
        # Sometimes all at once, as a node that is lost; sometimes the parent alone.
        if moments.random() < 0.5:
            for child in children:
                child.kill() if child.is_running() else None
        assert_all_end(children)
    monkeypatch.delenv("STAND_IN")
    run(root)
    assert tree(root) == tree(whole)
    assert not (root / ".work").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_cleanly(start, whole, run, tree, tmp_path, monkeypatch, number):
    monkeypatch.setenv("STAND_IN", "slow:0.5")
    process = start(tmp_path / "d")
    read_until(process, "SampleDone")
    children = family(process.pid)
    process.send_signal(number)
    output, _ = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in output
    assert_all_end(children)
    left = [path for path in (tmp_path / "d").rglob("*") if path.is_file()]
    assert {path.suffix for path in left} <= {".json", ".sample", ".tar"}
    monkeypatch.delenv("STAND_IN")
    _, events = run(tmp_path / "d")
    assert any(event.found for event in events if isinstance(event, SampleDone))
    assert tree(tmp_path / "d") == tree(whole)


def worker_of(process):
    return next(child for child in family(process.pid) if is_worker(child))


def is_worker(process):
    try:
        return "local_worker" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # a short-lived child, gone by now
        return False


def test_a_killed_worker_is_replaced_and_its_sample_tried_again(
    start, whole, tree, tmp_path, monkeypatch
):
    monkeypatch.setenv("STAND_IN", "slow:0.5")
    process = start(tmp_path / "d")
    read_until(process, "SampleStarted(split='test', index=2)")
    worker_of(process).kill()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "SampleRetried(split='test', retry=Retry(sample=2, attempt=1" in output
    assert tree(tmp_path / "d") == tree(whole)
    receipts = [json.loads(path.read_text()) for path in (tmp_path / "d/test").glob("*.receipt.*")]
    (retry,) = [retry for receipt in receipts for retry in receipt["retries"]]
    assert (retry["sample"], retry["attempt"]) == (2, 1)
    assert retry["reason"].endswith("was ended by SIGKILL")


def test_a_sample_that_costs_its_workers_is_left_out_in_the_end(start, tmp_path, monkeypatch):
    monkeypatch.setenv("STAND_IN", "slow:0.5")
    process = start(tmp_path / "d")
    for _ in range(2):
        read_until(process, "SampleStarted(split='test', index=2)")
        worker_of(process).kill()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "SampleFailed(failure=SampleFailure(split='test', index=2" in output
    (split,) = dataset_status(tmp_path / "d").splits
    assert (split.samples_done, split.parked) == (3, 1)


def test_two_runs_on_one_folder_share_the_work(start, whole, tree, tmp_path, monkeypatch):
    monkeypatch.setenv("STAND_IN", "slow:0.2")
    processes = [start(tmp_path / "d"), start(tmp_path / "d")]
    outputs = [(process, process.communicate(timeout=120)[0]) for process in processes]
    assert [process.returncode for process, _ in outputs] == [0, 0]
    assert tree(tmp_path / "d") == tree(whole)
    assert not (tmp_path / "d/.work").exists()
    rendered = sum(output.count(SampleStarted.__name__) for _, output in outputs)
    assert rendered == 5


def test_status_of_a_run_alive_and_dead(start, tmp_path, monkeypatch):
    monkeypatch.setenv("STAND_IN", "slow:0.5")
    process = start(tmp_path / "d")
    read_until(process, "SampleDone")
    status = dataset_status(tmp_path / "d")
    assert status.workers == 1
    (worker,) = status.leases
    assert worker.pid == worker_of(process).pid
    assert worker.shard.startswith("test/shard-0000")
    assert not worker.gone
    assert -1 < worker.beat_age_s < 100
    children = family(process.pid)
    process.kill()
    for child in children:
        child.kill() if child.is_running() else None
    assert_all_end(children)
    status = dataset_status(tmp_path / "d")
    assert status.workers == 0
    assert [worker.gone for worker in status.leases] in ([True], [])
    assert not status.complete


@pytest.mark.parametrize("name", ["index.json", "test/draws.parquet", "test/scenes.json"])
@pytest.mark.parametrize("damage", ["gone", "altered"])
def test_a_whole_split_without_its_files_is_not_complete(run, whole, tmp_path, name, damage):
    root = tmp_path / "d"
    shutil.copytree(whole, root)
    assert dataset_status(root).complete
    path = root / name
    path.unlink() if damage == "gone" else path.write_bytes(path.read_bytes()[:-1])
    status = dataset_status(root)
    assert not status.complete
    assert status.splits[0].unsound_files == (name,)
    run(root)
    assert dataset_status(root).complete
