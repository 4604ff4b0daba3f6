"""The real Cycles on a driver that is compiled here: collected where there is a compiler."""

import shutil
import subprocess
from pathlib import Path

import pytest

COMPILER = shutil.which("cc") or ""

collect_ignore = [] if COMPILER else ["test_fake_driver.py"]


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """Return the folder of a ``libcuda.so.1`` that lists GPUs and fails at all else."""
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("fake_cuda.c")
    command = [COMPILER, "-shared", "-fPIC", "-o", folder / "libcuda.so.1", source]
    subprocess.run(command, check=True)
    return folder
