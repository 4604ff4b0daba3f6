"""Two runs on one folder at once, and what a run that is killed has to make again."""

import json
import subprocess
import time
from collections import Counter

import pytest

from .conftest import command, digests, run

SPEC = """\
family: vmds
video: {frames: 10, height: 48, width: 48}
shard_size: 32
splits:
  train: {samples: 256}
  test: {samples: 64}
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    file = tmp_path_factory.mktemp("spec") / "spec.yaml"
    file.write_text(SPEC)
    return file


@pytest.fixture(scope="module")
def undisturbed(spec):
    run("generate", spec, "-o", spec.with_name("undisturbed"))
    return digests(spec.with_name("undisturbed"))


def start(spec, out, log):
    arguments = ("generate", spec, "-o", out, "--workers", 1, "--log-file", log)
    return subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, text=True)


def events(*logs):
    return [json.loads(line) for log in logs for line in log.read_text().splitlines()]


def count(lines, event, *names):
    return Counter(
        tuple(line[name] for name in names)
        for line in lines
        if line["event"] == event and not line.get("found")
    )


def test_two_at_once_publish_each_shard_once_and_both_end_well(spec, undisturbed, tmp_path):
    out, logs = tmp_path / "out", (tmp_path / "a", tmp_path / "b")
    processes = [start(spec, out, log) for log in logs]
    for process in processes:
        _, stderr = process.communicate(timeout=600)
        assert process.returncode == 0, stderr
    shards = count(events(*logs), "shard_done", "split", "shard")
    assert len(shards) == 8 + 2
    assert set(shards.values()) == {1}
    samples = count(events(*logs), "sample_started", "split", "sample")
    assert len(samples) == 320
    assert set(samples.values()) == {1}
    assert digests(out) == undisturbed
    assert not (out / ".work").exists()


def test_one_of_two_is_killed_and_the_other_makes_the_rest(spec, undisturbed, tmp_path):
    out, logs = tmp_path / "out", (tmp_path / "a", tmp_path / "b")
    first, second = (start(spec, out, log) for log in logs)
    deadline = time.monotonic() + 300
    while not list(out.glob("train/*.receipt.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    first.kill()
    first.communicate()
    _, stderr = second.communicate(timeout=600)
    assert second.returncode == 0, stderr
    shards = count(events(*logs), "shard_done", "split", "shard")
    # The one that was killed may have put a shard in place, and not have told.
    assert 9 <= len(shards) <= 10
    assert set(shards.values()) == {1}
    assert digests(out) == undisturbed
    assert not (out / ".work").exists()
