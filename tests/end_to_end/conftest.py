"""The installed command line in processes of its own, with the real Blender."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

SMALL = """\
family: clevr
dag: {dag}
render: {{height: 48, width: 64, samples: 2}}
shard_size: 2
splits:
  test: {{samples: 6}}
"""
"""A real dataset, small in everything but kind."""


def command(*arguments):
    return [sys.executable, "-m", "robustclevr", *map(str, arguments)]


def run(*arguments, code=0):
    finished = subprocess.run(command(*arguments), capture_output=True, text=True, timeout=600)
    assert finished.returncode == code, finished.stdout + finished.stderr
    assert "Traceback" not in finished.stderr
    return finished


def digests(root: Path, *, receipts=False):
    """sha256 of every file; receipts hold timings, so they differ from run to run."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and (receipts or not path.name.endswith(".receipt.json"))
    }


@pytest.fixture(scope="session")
def small_spec(tmp_path_factory):
    file = tmp_path_factory.mktemp("spec") / "small.yaml"
    file.write_text(SMALL.format(dag="tree-uniform"))
    return file


@pytest.fixture(scope="session")
def reference(small_spec, tmp_path_factory):
    """The small dataset, made by one worker in one go."""
    out = tmp_path_factory.mktemp("reference") / "out"
    run("generate", small_spec, "-o", out, "--workers", 1)
    return out


@pytest.fixture
def few_threads(monkeypatch):
    """Environment for processes that are started side by side."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return os.environ
