"""What happens when the renderer dies or the disk refuses."""

import contextlib
import json
import shlex
import signal
import subprocess
import time

import psutil
import pytest

from .conftest import command, digests, run

pytestmark = [pytest.mark.blender, pytest.mark.slow]


def heed_interrupts():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def blender_of(process, patience_s=300):
    """Return the Blender process that a run started, once it renders."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):  # a short-lived child, gone by now
                if "bootstrap.py" in " ".join(child.cmdline()):
                    return child
        time.sleep(0.05)
    raise AssertionError("no Blender was started")


def test_the_sample_of_a_killed_blender_is_tried_again(reference, small_spec, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        command("generate", small_spec, "-o", out, "--workers", 1),
        stderr=subprocess.PIPE,
        text=True,
    )
    blender_of(process).send_signal(signal.SIGKILL)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    assert "tried again: test/00000" in stderr
    assert "SIGKILL" in stderr
    assert "Traceback" not in stderr
    receipts = [json.loads(path.read_text()) for path in out.rglob("*.receipt.json")]
    (retry,) = [retry for receipt in receipts for retry in receipt["retries"]]
    assert retry["attempt"] == 1
    assert "Blender was ended by SIGKILL" in retry["reason"]
    assert digests(out) == digests(reference)


def test_without_retries_a_killed_blender_costs_its_sample(reference, small_spec, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        command("generate", small_spec, "-o", out, "--workers", 1, "--retries", 0),
        stderr=subprocess.PIPE,
        text=True,
    )
    blender_of(process).send_signal(signal.SIGKILL)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 1, stderr
    assert "error: 1 sample could not be made:" in stderr
    assert "SIGKILL" in stderr
    *_, last = stderr.splitlines()
    assert last.startswith("  robustclevr generate ")
    assert not list(out.rglob("*.tmp"))
    run(*shlex.split(last)[1:])
    assert digests(out) == digests(reference)


def test_ctrl_c_keeps_finished_samples_and_says_how_to_go_on(reference, small_spec, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        command("generate", small_spec, "-o", out, "--workers", 1),
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background, SIGINT is ignored, and children inherit that.
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - one system call, no lock
    )
    blender_of(process)
    deadline = time.monotonic() + 300
    while not list(out.glob(".work/test/*/*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 1, stderr
    assert "same command" in stderr.splitlines()[-1]
    finished = run("generate", small_spec, "-o", out)
    assert "are there already" in finished.stderr
    assert digests(out) == digests(reference)


def test_a_recipe_that_raises_is_named_with_file_and_line(small_spec, tmp_path):
    recipes = tmp_path / "mine"
    recipes.mkdir()
    (recipes / "broken.py").write_text(
        "from robustclevr.recipe import Parameter, Recipe\n"
        'RECIPE = Recipe("broken", "raises", "image", "keeps",\n'
        '    (Parameter("x", clean=0.0, worst=1.0, source="chosen"),))\n'
        "def build(context):\n"
        '    raise ValueError("no such luck")\n'
    )
    (tmp_path / "dag.yaml").write_text("nodes:\n  broken:\n    set:\n      x: 0.5\n")
    spec = tmp_path / "spec.yaml"
    spec.write_text(small_spec.read_text().replace("tree-uniform", "dag.yaml"))
    finished = run(
        *("generate", spec, "-o", tmp_path / "out", "--recipes", recipes),
        *("--set", "splits.test.samples=1"),
        code=1,
    )
    assert "broken.py:5" in finished.stderr
    assert "no such luck" in finished.stderr
    assert "test/000000" in finished.stderr


def test_an_impossible_scene_says_what_to_relax(small_spec, tmp_path):
    finished = run(
        *("generate", small_spec, "-o", tmp_path / "out", "--set", "scene.margin=3"),
        *("--set", "scene.tries=5", "--set", "splits.test.samples=1"),
        code=1,
    )
    assert "test/000000" in finished.stderr
    assert "margin" in finished.stderr
