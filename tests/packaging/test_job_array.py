"""The job array for Slurm, task by task; what Slurm itself does with jobs is not part of this."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["--set", "splits.val.samples=12", "--set", "shard_size=4", "--splits", "val"]


@pytest.fixture
def srun(tmp_path):
    """A folder with an `srun` that runs what follows its options, as on a node of one task."""
    program = tmp_path / "bin" / "srun"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"\n')
    program.chmod(0o755)
    return program.parent


def contents(folder):
    """Bytes by name; of receipts, which tell seconds, the name alone."""
    return {
        path.relative_to(folder): b"" if path.name.endswith(".receipt.json") else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
def test_the_tasks_of_an_array_make_the_whole_dataset(srun, tmp_path):
    path = f"{srun}:{Path(sys.executable).parent}:/usr/bin:/bin"
    for task in ("3", "4"):
        array = {"SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_COUNT": "2"}
        run = subprocess.run(
            ["bash", ROOT / "docker/generate.sbatch", "vmds", "-o", tmp_path / "array", *SMALL],
            env={"PATH": path, "HOME": str(tmp_path), "SLURM_ARRAY_TASK_ID": task} | array,
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        if task == "3":
            assert len(list((tmp_path / "array/val").glob("*.tar"))) in (1, 2)
    whole = [sys.executable, "-m", "robustclevr", "generate", "vmds", "-o", tmp_path / "whole"]
    subprocess.run([*whole, *SMALL], check=True, capture_output=True)
    assert contents(tmp_path / "array") == contents(tmp_path / "whole")
