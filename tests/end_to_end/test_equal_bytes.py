"""The same dataset, byte for byte, however it was made."""

import random
import shutil
import signal
import subprocess
import time

import psutil
import pytest

from .conftest import command, digests, run

pytestmark = [pytest.mark.blender, pytest.mark.slow]


def test_two_workers(reference, small_spec, tmp_path):
    run("generate", small_spec, "-o", tmp_path / "out", "--workers", 2)
    assert digests(tmp_path / "out") == digests(reference)


def test_three_parts_in_one_folder(reference, small_spec, tmp_path):
    for part in (2, 0, 1):
        run("generate", small_spec, "-o", tmp_path / "out", "--shards", f"{part}/3")
    assert digests(tmp_path / "out") == digests(reference)


def test_three_parts_in_three_folders_copied_together(reference, small_spec, tmp_path):
    for part in range(3):
        run("generate", small_spec, "-o", tmp_path / f"part{part}", "--shards", f"{part}/3")
    for part in range(3):
        shutil.copytree(tmp_path / f"part{part}", tmp_path / "out", dirs_exist_ok=True)
    run("index", tmp_path / "out")
    assert digests(tmp_path / "out") == digests(reference)


def test_killed_at_ten_random_moments(reference, small_spec, tmp_path):
    moments = random.Random(20)  # noqa: S311 - the same moments in every run of this test
    out = tmp_path / "out"
    for _ in range(10):
        process = subprocess.Popen(
            command("generate", small_spec, "-o", out, "--workers", 2),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(moments.uniform(0.3, 6.0))
        everyone = [process, *children_of(process)]
        victim = moments.choice(everyone)
        victim.send_signal(signal.SIGKILL)
        if victim is not process:
            time.sleep(0.2)
            process.kill()
        process.wait()
        assert_all_end([one for one in everyone if one is not process])
    run("generate", small_spec, "-o", out)
    assert digests(out) == digests(reference)
    assert not (out / ".work").exists()


def test_seed_zero_is_the_default_and_not_seed_one(reference, small_spec, tmp_path):
    run("generate", small_spec, "-o", tmp_path / "zero", "--seed", 0)
    run("generate", small_spec, "-o", tmp_path / "one", "--seed", 1)
    assert digests(tmp_path / "zero") == digests(reference)
    shards = [name for name in digests(reference) if name.endswith(".tar")]
    for name in shards:
        assert digests(tmp_path / "one")[name] != digests(reference)[name]


def test_a_longer_run_begins_with_the_shorter_one(reference, small_spec, tmp_path):
    out = tmp_path / "out"
    run("generate", small_spec, "-o", out, "--set", "splits.test.samples=3")
    shorter = digests(out)
    finished = run("generate", small_spec, "-o", out)
    assert "3 samples to make" in finished.stderr or "3 are there already" in finished.stderr
    assert digests(out) == digests(reference)
    assert shorter["test/shard-00000.tar"] == digests(out)["test/shard-00000.tar"]


def test_run_again_it_does_nothing_and_says_so(reference, small_spec):
    before = digests(reference, receipts=True)
    finished = run("generate", small_spec, "-o", reference)
    assert "nothing to do" in finished.stderr
    assert digests(reference, receipts=True) == before


def children_of(process):
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def assert_all_end(processes):
    _, alive = psutil.wait_procs(processes, timeout=30)
    assert not alive, "a child outlived its parent"
