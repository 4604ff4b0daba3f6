"""What happens when the renderer dies or the disk refuses."""

import signal
import subprocess
import time

import psutil
import pytest

from .conftest import command, digests, run

pytestmark = [pytest.mark.blender, pytest.mark.slow]


def heed_interrupts():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def blender_of(process, patience_s=60):
    """Return the Blender process that a run started, once it renders."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        for child in psutil.Process(process.pid).children(recursive=True):
            if "bootstrap.py" in " ".join(child.cmdline()):
                return child
        time.sleep(0.05)
    raise AssertionError("no Blender was started")


def test_a_killed_blender_ends_with_1_and_names_sample_and_reason(reference, small_spec, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        command("generate", small_spec, "-o", out, "--workers", 1),
        stderr=subprocess.PIPE,
        text=True,
    )
    blender_of(process).send_signal(signal.SIGKILL)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 1, stderr
    assert "test/00000" in stderr
    assert "SIGKILL" in stderr
    assert "Traceback" not in stderr
    assert not list(out.rglob("*.tmp"))
    run("generate", small_spec, "-o", out)
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
    deadline = time.monotonic() + 120
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
