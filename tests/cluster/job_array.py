"""The example job array, ``docker/generate.sbatch``, by Slurm on this machine.

Run as root on Debian, like ``slurm.py`` beside it: ``make test-slurm``. Two tasks make a dataset of
clips, which must come out as one process makes it, byte for byte.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from slurm import command, digests, install, require, say, start_slurm

SCRIPT = Path(__file__).resolve().parents[2] / "docker/generate.sbatch"
DATASET = ("vmds", "--splits", "val", "--set", "splits.val.samples=12", "--set", "shard_size=4")
# This node has one core a task, and no GPU.
SHAPE = ("--array=0-1", "--cpus-per-task=1", "--gpus-per-task=0", "--mem=0")


def main():
    if os.geteuid() != 0:
        sys.exit("run it as root: it starts the daemons of Slurm")
    install()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slurm-array-")))
        folder.chmod(0o755)
        start_slurm(folder, stack)
        check(folder)
    say("byte-equal: two tasks of docker/generate.sbatch")


def check(folder):
    """Make the dataset by the array and by one process, and compare."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    submit = ["sbatch", "--wait", *SHAPE, SCRIPT, *DATASET, "-o", folder / "array"]
    run = subprocess.run(submit, cwd=folder, env={**os.environ, "PATH": path})
    logs = "".join(log.read_text() for log in sorted(folder.glob("robustclevr-*.log")))
    require(run.returncode == 0, f"the array ended with {run.returncode}: {logs}")
    subprocess.run(command("generate", *DATASET, "-o", folder / "whole"), check=True)
    require(digests(folder / "array") == digests(folder / "whole"), "the datasets differ")


if __name__ == "__main__":
    main()
