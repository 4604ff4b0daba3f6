import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from robustclevr.run import memory
from robustclevr.run.limits import Memory
from robustclevr.run.memory import GIB, MemoryGuard, fair_limit_bytes, kernel_kills

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
    assert 200 << 20 < guard.exceeded_bytes < psutil.virtual_memory().total
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


def test_shares_are_of_what_a_control_group_leaves(monkeypatch):
    monkeypatch.setattr(memory, "usable_memory", lambda: Memory(10 * GIB, GIB, grouped=True))
    assert fair_limit_bytes(0.5) == 4 * GIB
    assert fair_limit_bytes(0.001) == 2 * GIB
