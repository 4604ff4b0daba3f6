"""Datasets by Ray: on a cluster of two nodes, one of which is lost in the middle; and here."""

import contextlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from robustclevr.run.leases import read_lease
from robustclevr.store.layout import Layout

from .conftest import command, digests, run

pytestmark = [pytest.mark.blender, pytest.mark.slow]

SPEC = """\
family: clevr
dag: tree-uniform
render: {height: 48, width: 64, samples: 4}
shard_size: 6
splits:
  test: {samples: 18}
"""
PATIENCE_S = 600


def heed_interrupts():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def cluster():
    """Return a running cluster: its program, and the process ids of its two raylets."""
    program = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("ray_cluster.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with program:
        address = program.stdout.readline().strip()
        raylets = [int(program.stdout.readline()) for _ in range(2)]
        yield program, address, raylets
        program.stdin.close()


def raylet_of(process_id, raylets):
    """Return the raylet that a process descends from."""
    parents = [parent.pid for parent in psutil.Process(process_id).parents()]
    return next(raylet for raylet in raylets if raylet in parents)


def raylet_in_the_middle_of_a_shard(process, out, raylets):
    """Wait until a node has parked some but not all samples of a shard; return its raylet."""
    layout = Layout(out)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        for shard in range(3):
            lease = read_lease(layout.lease("test", shard))
            parked = list(layout.parked_dir("test", shard).glob("*.sample"))
            if lease is not None and lease.owner is not None and 1 <= len(parked) <= 2:
                with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                    return raylet_of(lease.owner.pid, raylets)
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"no shard was seen half done: {process.communicate()[1]}")


def test_a_node_that_is_lost_costs_nothing(cluster, monkeypatch, tmp_path):
    program, address, raylets = cluster
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC)
    run("generate", spec, "-o", tmp_path / "local", "--workers", 1)

    monkeypatch.setenv("RAY_ADDRESS", address)
    out = tmp_path / "ray"
    process = subprocess.Popen(
        command("generate", spec, "-o", out, "--backend", "ray"), stderr=subprocess.PIPE, text=True
    )
    lost = raylet_in_the_middle_of_a_shard(process, out, raylets)
    program.stdin.write(f"kill {lost}\n")
    program.stdin.flush()
    _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, stderr
    assert "its node was lost" in stderr
    assert "Traceback" not in stderr
    assert digests(out) == digests(tmp_path / "local")
    receipts = "".join(path.read_text() for path in out.glob("test/*.receipt.json"))
    assert "its node was lost" in receipts
    assert not (out / ".work").exists()


def test_without_an_address_a_cluster_is_started_here_and_ctrl_c_ends_it(
    reference, small_spec, monkeypatch, tmp_path
):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    out = tmp_path / "out"
    process = subprocess.Popen(
        command("generate", small_spec, "-o", out, "--backend", "ray"),
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background, SIGINT is ignored, and children inherit that.
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - one system call, no lock
    )
    deadline = time.monotonic() + PATIENCE_S
    while not list(out.glob(".work/test/*/*")) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, stderr
    assert "RAY_ADDRESS is not set: started a local Ray cluster" in stderr
    assert "same command" in stderr.splitlines()[-1]
    assert "Traceback" not in stderr
    _, alive = psutil.wait_procs(family, timeout=60)
    assert not alive
    assert not list(out.glob(".work/leases/*/*"))
    assert not list(out.glob(".work/tmp/*"))
    run("generate", small_spec, "-o", out)
    assert digests(out) == digests(reference)
