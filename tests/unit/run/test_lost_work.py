"""What a run that is killed has to make again: at most one sample a worker."""

import pickle
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

CLI = """
import pickle, sys
from pathlib import Path
from robustclevr.recipe import load_recipes
from robustclevr.run.generate import generate
spec, options, out = pickle.load(open(sys.argv[1], "rb"))
sys.exit(generate(spec, load_recipes(), Path(out), options, lambda event: None).exit_code)
"""
SHARD = 64


def kill_all(process: subprocess.Popen) -> None:
    """Kill a run with all of its workers at once, as a machine that is lost does."""
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    for member in family:
        member.suspend()
    for member in family:
        member.kill()
    process.wait()
    psutil.wait_procs(family, timeout=60)


@pytest.mark.slow
def test_at_most_one_sample_a_worker_is_begun_again(
    make_spec, make_split, options, tmp_path, monkeypatch
):
    workers, kills = 2, 3
    count = tmp_path / "count"
    count.touch()
    monkeypatch.setenv("STAND_IN", f"slow:0.005,count:{count}")
    spec = make_spec(make_split(samples=SHARD * workers, shard_size=SHARD, dag=None))
    job = tmp_path / "job.pickle"
    job.write_bytes(pickle.dumps((spec, replace(options, workers=workers), tmp_path / "d")))
    command = [sys.executable, "-c", CLI, str(job)]
    moments = np.random.default_rng(1)
    for _ in range(kills):
        wanted = len(count.read_text().split()) + int(moments.integers(5, SHARD // 3))
        process = subprocess.Popen(command)
        while len(count.read_text().split()) < wanted:
            assert process.poll() is None
            time.sleep(0.002)
        time.sleep(moments.uniform(0, 0.05))
        kill_all(process)
    subprocess.run(command, check=True)
    begun = count.read_text().split()
    assert len(set(begun)) == SHARD * workers
    assert len(begun) <= SHARD * workers + kills * workers
    assert not (tmp_path / "d" / ".work").exists()
    assert len(list(Path(tmp_path / "d/test").glob("*.tar"))) == workers
