"""The Slurm back end with the real submitit, on commands that stand in for Slurm's."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robustclevr.errors import SetupError, SpecError
from robustclevr.run import slurm_jobs
from robustclevr.run.backends import load_backend
from robustclevr.run.generate import GenerateOptions, generate
from robustclevr.run.job import Notice, RunStarted, SampleDone, SampleRetried
from robustclevr.spec import load_dataset

CLIPS = """
family: vmds
video: {frames: 2, height: 16, width: 16, sprites: [1, 2]}
shard_size: 2
splits:
  test: {samples: 7}
"""
FAKE = Path(__file__).with_name("fake_slurm.py")


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Return the folder of a stand-in for Slurm, whose commands are first on PATH."""
    folder, commands = tmp_path / "cluster", tmp_path / "bin"
    folder.mkdir()
    commands.mkdir()
    for name in ("sbatch", "srun", "squeue", "scancel", "sinfo"):
        script = commands / name
        script.write_text(f"#!{sys.executable}\n" + FAKE.read_text())
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SLURM", str(folder))
    monkeypatch.setattr(slurm_jobs, "_POLL_S", 0.05)
    monkeypatch.setattr(slurm_jobs, "_STATES_EVERY_S", 0.2)
    monkeypatch.setattr(slurm_jobs, "_GRACE_S", 0.5)
    return folder


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "clips.yaml").write_text(CLIPS)
    return load_dataset(str(tmp_path / "clips.yaml"), {})


@pytest.fixture
def make(cluster, spec, tmp_path):  # noqa: ARG001 - the commands must be there
    """Make the dataset; return the summary and the events."""

    def run(*settings, on_event=lambda _: None, **options):
        events = []

        def hear(event):
            events.append(event)
            on_event(event)

        chosen = GenerateOptions(backend="slurm", backend_settings=settings, **options)
        return generate(spec, {}, tmp_path / "slurm", chosen, hear), events

    return run


def files(root):
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.name.endswith(".receipt.json")
    }


def script_of(cluster, job=1):
    return (cluster / str(job) / "script").read_text()


def test_the_dataset_is_that_of_the_local_back_end(make, cluster, spec, tmp_path):
    summary, events = make("partition=fast", "time=2:00:00", workers=2)
    assert summary.exit_code == 0
    options = GenerateOptions(workers=1)
    assert generate(spec, {}, tmp_path / "local", options, lambda _: None).exit_code == 0
    assert files(tmp_path / "slurm") == files(tmp_path / "local")
    assert sum(isinstance(event, SampleDone) for event in events) == 7
    (started,) = [event for event in events if isinstance(event, RunStarted)]
    assert started.workers == 2
    script = script_of(cluster)
    for line in (
        "--array=0-1%2",
        "--cpus-per-task=1",
        "--partition=fast",
        "--time=120",
        "--requeue",
    ):
        assert f"#SBATCH {line}\n" in script
    assert "#SBATCH --signal=USR2@60" in script
    assert "gres" not in script


def test_a_task_that_dies_is_submitted_again_and_said_so(make, cluster, tmp_path):
    killed = []

    def kill_first(event):
        if isinstance(event, Notice) and not killed:
            pid = cluster / "1/0/pid"
            deadline = time.monotonic() + 60
            while not pid.exists() and time.monotonic() < deadline:
                time.sleep(0.005)
            os.kill(int(pid.read_text()), signal.SIGKILL)
            killed.append(pid)

    summary, events = make(workers=1, on_event=kill_first)
    assert summary.exit_code == 0
    (retried,) = [event for event in events if isinstance(event, SampleRetried)]
    assert "task 0 of Slurm job 1 ended as FAILED" in retried.retry.reason
    receipts = [json.loads(path.read_text()) for path in (tmp_path / "slurm/test").glob("*.json")]
    reasons = [retry["reason"] for receipt in receipts for retry in receipt.get("retries", ())]
    assert len(reasons) == 1
    assert not (tmp_path / "slurm/.work").exists()


def test_a_task_that_a_person_cancels_leaves_its_shards(make, spec, tmp_path):
    def cancel(event):
        if isinstance(event, Notice) and "tasks: 2" in event.text:
            subprocess.run(["scancel", "1_1"], check=True)

    summary, events = make(workers=2, on_event=cancel)
    assert (summary.exit_code, summary.unfinished_shards, summary.failures) == (1, 2, ())
    texts = [event.text for event in events if isinstance(event, Notice)]
    assert any("task 1 of Slurm job 1 was cancelled" in text for text in texts)
    (logs,) = (tmp_path / "slurm/.work/slurm").iterdir()
    assert any(str(logs) in text for text in texts)
    # What goes on, by whatever back end, clears them away, since their run is over.
    gone = logs.with_name(f"elsewhere~1~1~{logs.name[-3:]}")
    logs.rename(gone)
    os.utime(gone, (0, 0))
    local = GenerateOptions(workers=1)
    assert generate(spec, {}, tmp_path / "slurm", local, lambda _: None).exit_code == 0
    assert not (tmp_path / "slurm/.work").exists()


def test_an_interrupt_cancels_the_jobs(make, cluster, tmp_path):
    def interrupt(event):
        if isinstance(event, Notice) and "tasks:" in event.text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(workers=2, on_event=interrupt)
    assert "scancel 1" in (cluster / "calls").read_text()
    assert not (tmp_path / "slurm/.work/slurm").exists()


def test_what_sbatch_refuses_is_an_error_of_the_environment(make):
    with pytest.raises(SetupError, match="invalid partition specified: closed"):
        make("partition=closed", workers=2)


def test_without_slurm_the_error_says_what_else_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"sbatch, which is not on this machine.*--shards i/n"):
        load_backend("slurm")


@pytest.mark.usefixtures("cluster")
def test_without_submitit_the_error_names_the_install_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(SetupError, match=r"pip install 'robustclevr\[slurm\]'"):
        load_backend("slurm")


def test_settings_are_checked_before_anything_runs(cluster):
    with pytest.raises(SpecError) as caught:
        load_backend("slurm", ["partition", "array=1-3", "cpus-per-task=none", "time=soon"])
    assert len(caught.value.problems) == 4
    assert not (cluster / "calls").exists()
