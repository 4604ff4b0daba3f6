import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from robustclevr.run import memory
from robustclevr.run.memory import GIB, MemoryGuard, fair_limit_bytes, kernel_kills, machine_bytes

EATER = """
import os, sys, time
held = []
if sys.argv[1] == "child" and (pid := os.fork()):
    os.waitpid(pid, 0)
while True:
    held.append(bytearray(b"x") * (16 << 20))
    time.sleep(0.02)
"""


@pytest.mark.parametrize("who", ["itself", "child"])
def test_an_eater_is_ended_with_its_children(who, monkeypatch):
    monkeypatch.setattr(memory, "_CHILDREN_PERIOD_S", 0.0)
    process = subprocess.Popen([sys.executable, "-c", EATER, who], start_new_session=True)
    guard = MemoryGuard(process, 200 << 20, lambda: os.killpg(process.pid, signal.SIGKILL))
    try:
        assert process.wait(60) == -signal.SIGKILL
        guard.stop()
    finally:
        process.kill()
    assert 200 << 20 < guard.exceeded_bytes < machine_bytes()
    assert "--memory-limit" in guard.explain(process.returncode)


def test_a_modest_process_is_left_alone():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        guard = MemoryGuard(process, GIB, process.kill)
        adjusted = Path(f"/proc/{process.pid}/oom_score_adj").read_text().strip()
        process.communicate(b"\n")
        guard.stop()
    assert process.returncode == 0
    assert adjusted == "1000"
    assert guard.explain(0) == ""


def test_a_kill_by_the_kernel_is_named_as_probable(monkeypatch, tmp_path):
    vmstat = tmp_path / "vmstat"
    monkeypatch.setattr(memory, "_VMSTAT", vmstat)
    assert kernel_kills() == 0
    vmstat.write_text("nr_free_pages 5\noom_kill 3\n")
    with subprocess.Popen(["true"]) as process:
        guard = MemoryGuard(process, GIB, process.kill)
        process.wait()
        guard.stop()
    assert guard.explain(-signal.SIGKILL) == ""
    vmstat.write_text("nr_free_pages 5\noom_kill 4\n")
    assert "by the kernel" in guard.explain(-signal.SIGKILL)
    assert guard.explain(3) == ""


def test_shares_are_of_what_a_control_group_leaves(monkeypatch, tmp_path):
    group = tmp_path / "slurm" / "job_7"
    group.mkdir(parents=True)
    (group / "memory.max").write_text("max\n")
    (group.parent / "memory.max").write_text(f"{10 * GIB}\n")
    monkeypatch.setattr(memory, "_cgroup_folders", lambda: [group, group.parent])
    total = psutil.virtual_memory().total
    assert machine_bytes() == min(10 * GIB, total)
    assert fair_limit_bytes(0.5) == pytest.approx(0.4 * machine_bytes(), rel=1e-6)
    assert fair_limit_bytes(0.001) == 2 * GIB


def test_our_own_control_groups_are_found():
    for folder in memory._cgroup_folders():
        assert folder.is_relative_to("/sys/fs/cgroup")
    assert 0 < machine_bytes() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") + GIB
