import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from robustclevr.errors import StoreError
from robustclevr.records import Retry
from robustclevr.run.event_log import EventLog, both
from robustclevr.run.job import (
    SampleDone,
    SampleFailed,
    SampleFailure,
    SampleRetried,
    ShardDone,
)


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_event_is_a_line_that_can_be_read_alone(tmp_path):
    path = tmp_path / "log"
    with EventLog(path) as log:
        log(SampleDone("test", 3, 1.5, 2000, device="cpu"))
        assert len(lines(path)) == 1  # at once, not at the end
        log(SampleRetried("test", Retry(4, 1, "it died\n\u2028"), "    its words"))
        log(SampleFailed(SampleFailure("test", 4, "it died", "", 2)))
        log(ShardDone("test", 0, 64))
    done, retried, failed, shard = lines(path)
    assert done["event"] == "sample_done"
    assert {key: done[key] for key in ("split", "sample", "seconds", "device", "found")} == {
        "split": "test",
        "sample": 3,
        "seconds": 1.5,
        "device": "cpu",
        "found": False,
    }
    assert (retried["event"], retried["sample"], retried["attempt"]) == ("sample_retried", 4, 1)
    assert retried["reason"] == "it died\n\u2028"
    assert (failed["event"], failed["sample"], failed["tries"]) == ("sample_failed", 4, 2)
    assert (shard["event"], shard["shard"], shard["count"]) == ("shard_done", 0, 64)
    for line in (done, retried, failed, shard):
        assert datetime.fromisoformat(line["time"]).utcoffset().total_seconds() == 0
        assert line["time"].endswith("Z")
        assert line["pid"] > 0


def test_a_run_that_is_stopped_says_so(tmp_path):
    def stop(path: Path) -> None:
        with EventLog(path):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop(tmp_path / "log")
    (line,) = lines(tmp_path / "log")
    assert (line["event"], line["reason"]) == ("run_stopped", "KeyboardInterrupt")


WRITER = """
import sys
from pathlib import Path
from robustclevr.run.event_log import EventLog
with EventLog(Path(sys.argv[1])) as log:
    for number in range(500):
        log.write("count", number=number, text="x" * 300)
"""


def test_two_processes_share_a_file(tmp_path):
    path = tmp_path / "log"
    command = [sys.executable, "-c", WRITER, str(path)]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    by_pid: dict[int, list[int]] = {}
    for line in lines(path):
        by_pid.setdefault(line["pid"], []).append(line["number"])
    assert sorted(by_pid) == sorted(process.pid for process in processes)
    assert all(numbers == list(range(500)) for numbers in by_pid.values())


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(StoreError, match="nowhere/log: cannot write: No such file"):
        EventLog(tmp_path / "nowhere/log")
    if Path("/dev/full").exists():
        with pytest.raises(StoreError, match="/dev/full: cannot write: No space left"):
            EventLog(Path("/dev/full")).write("x")


def test_two_hear_of_each_event_in_order():
    heard = []
    on_event = both(lambda event: heard.append(("a", event)), lambda e: heard.append(("b", e)))
    event = ShardDone("test", 0, 2)
    on_event(event)
    assert heard == [("a", event), ("b", event)]
