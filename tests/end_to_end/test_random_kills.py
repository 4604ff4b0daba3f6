"""Random processes of runs are killed at random moments; what is made in the end is the same.

``ROBUSTCLEVR_KILLS`` says how often, for both kinds of datasets together; ``make test-faults``
kills 200 times.
"""

import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
import pytest

from .conftest import command, digests, run

KILLS = int(os.environ.get("ROBUSTCLEVR_KILLS", "12"))
IMAGES = """\
family: clevr
dag: tree-uniform
render: {height: 24, width: 32, samples: 1}
scene: {objects: [3, 3]}
shard_size: 3
splits:
  test: {samples: 6}
"""
CLIPS = """\
family: vmds
video: {frames: 10, height: 48, width: 48}
shard_size: 32
splits:
  train: {samples: 160}
  test: {samples: 70}
"""
PATIENCE_S = 120.0  # for processes that must end by themselves


@dataclass
class Victim:
    """A dataset in the making, and who was killed on the way."""

    spec: Path
    out: Path
    log: Path
    rng: np.random.Generator
    longest_s: float
    killed: dict[str, int] = field(default_factory=dict)

    @property
    def kills(self) -> int:
        return sum(self.killed.values())

    def run_and_kill(self, kills_left: int) -> bool:
        """Start a run, kill processes of it until it ends; return whether it ended with 0."""
        process = subprocess.Popen(
            command(
                *("generate", self.spec, "-o", self.out, "--workers", 2, "--log-file", self.log)
            ),
            stderr=subprocess.PIPE,
            text=True,
        )
        family: list[psutil.Process] = []
        while kills_left > 0 and self._wait(process):
            members = [psutil.Process(process.pid), *psutil.Process(process.pid).children(True)]
            family += members
            victim = members[self.rng.integers(len(members))]
            kind = kind_of(victim, process.pid)
            victim.kill()
            self.killed[kind] = self.killed.get(kind, 0) + 1
            kills_left -= 1
        _, stderr = process.communicate(timeout=600)
        _, alive = psutil.wait_procs(family, timeout=PATIENCE_S)
        assert alive == []
        assert "Traceback" not in stderr
        assert process.returncode in (0, 1, -9), stderr
        return process.returncode == 0

    def _wait(self, process: subprocess.Popen) -> bool:
        """Wait for a random moment, sooner than later; return whether the run is still there."""
        try:
            process.wait(self.longest_s * self.rng.uniform() ** 2)
        except subprocess.TimeoutExpired:
            return True
        return False


def kind_of(process: psutil.Process, parent: int) -> str:
    if process.pid == parent:
        return "parent"
    try:
        return "blender" if "bootstrap.py" in " ".join(process.cmdline()) else "worker"
    except psutil.Error:
        return "worker"


@pytest.mark.slow
@pytest.mark.timeout(0)  # grows with the number of kills
@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("clips", CLIPS, 0.75),
        pytest.param("images", IMAGES, 0.25, marks=pytest.mark.blender),
    ],
)
def test_whoever_is_killed_whenever_the_dataset_comes_out_the_same(tmp_path, name, text, part):
    spec = tmp_path / "spec.yaml"
    spec.write_text(text)
    began_s = time.monotonic()
    run("generate", spec, "-o", tmp_path / "undisturbed", "--workers", 2)
    longest_s = time.monotonic() - began_s
    expected = digests(tmp_path / "undisturbed")
    rng = np.random.default_rng(len(name))
    wanted, victims = max(1, round(KILLS * part)), []
    while (made := sum(victim.kills for victim in victims)) < wanted:
        folder = tmp_path / f"{name}-{len(victims)}"
        victim = Victim(spec, folder, folder.with_suffix(".log"), rng, longest_s)
        victims.append(victim)
        # A dataset that is complete cannot be disturbed: the next one is begun.
        while made + victim.kills < wanted and not victim.run_and_kill(
            wanted - made - victim.kills
        ):
            pass
    for victim in victims:
        run("generate", spec, "-o", victim.out, "--workers", 2)
        run("verify", victim.out)
        assert digests(victim.out) == expected
        assert not (victim.out / ".work").exists()
        assert not list(victim.out.rglob("*.tmp"))
    killed = {
        kind: sum(victim.killed.get(kind, 0) for victim in victims)
        for kind in ("parent", "worker", "blender")
    }
    assert sum(killed.values()) == wanted
    print(f"{wanted} kills over {len(victims)} datasets of {name}: {killed}")  # noqa: T201 - -s
