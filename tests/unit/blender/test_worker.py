from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import robustclevr
from robustclevr.plan import plan_images
from robustclevr.recipe import load_recipes
from robustclevr.records import ImagePlan, Step

pytestmark = pytest.mark.blender

BOOTSTRAP = Path(robustclevr.__file__).parent / "blender" / "bootstrap.py"

RAISES = '''
"""Bad: raises when it is built."""

from robustclevr.recipe import Parameter, Recipe

RECIPE = Recipe(
    "bad", "Raises", "image", "keeps", (Parameter("x", clean=0.0, worst=1.0, source="test"),)
)


def build(context):
    return context.image / 0
'''


def half_way(*stages):
    """The clean image, and one of each recipe of some stages: renders and images of a Plan."""
    recipes = load_recipes()
    variants = {"clean": ()}
    for name, loaded in recipes.items():
        if loaded.recipe.stage not in stages:
            continue
        values = loaded.recipe.clean_parameters()
        for entry in loaded.recipe.parameters:
            if entry.role == "severity":
                values[entry.name] = entry.clean + 0.5 * (entry.worst - entry.clean)
        variants[name] = (Step(name, name, values, 0.5, 11),)
    renders, images = plan_images(variants, recipes)
    return {"renders": renders, "images": images}


def test_setup_render_and_quit(start_worker, clevr_scene, make_plan, tmp_path):
    worker = start_worker()
    ready = worker.set_up()
    assert ready["type"] == "ready"
    assert ready["device"] == "cpu"
    assert ready["versions"]["numpy"] == np.__version__
    assert ready["versions"]["blender"].count(".") == 2
    assert ready["rss_bytes"] > 50e6
    reply = worker.render(make_plan(clevr_scene()), tmp_path)
    assert reply["type"] == "rendered", reply
    clean = {"variant": "clean", "pixels": "0.npy", "source": None, "labels": None}
    assert reply["images"] == [clean]
    assert worker.end() == 0


def test_failures_are_answered_and_the_process_stays_usable(
    start_worker, clevr_scene, make_plan, tmp_path
):
    recipe = tmp_path / "bad.py"
    recipe.write_text(RAISES, encoding="utf-8")
    worker = start_worker()
    early = worker.render(make_plan(clevr_scene()), tmp_path)
    assert (early["type"], early["kind"]) == ("failed", "RenderError")
    assert "before setup" in early["message"]
    unknown = worker.ask(type="dance")
    assert (unknown["kind"], unknown["message"]) == ("RenderError", "unknown request 'dance'")
    worker.set_up(recipe)
    images = (ImagePlan("bad", 0, (Step("bad", "bad", {"x": 1.0}, 1.0, 0),)),)
    failed = worker.render(make_plan(clevr_scene(), images=images), tmp_path)
    assert (failed["type"], failed["kind"]) == ("failed", "RecipeError")
    assert f"{recipe}:12: TypeError" in failed["message"]
    assert "Traceback" in failed["traceback"]
    hidden = dataclasses.replace(clevr_scene(), min_visible_pixels=10**6)
    assert worker.render(make_plan(hidden), tmp_path)["kind"] == "RenderError"
    assert worker.render(make_plan(clevr_scene()), tmp_path)["type"] == "rendered"


def test_a_new_process_with_other_threads_gives_the_same_bits(
    start_worker, clevr_scene, make_plan, tmp_path
):
    made = half_way("image", "scene")
    plan = make_plan(clevr_scene(2), samples=4, outputs=("image", "mask", "depth"), **made)
    results = []
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        folder.mkdir()
        worker = start_worker()
        worker.set_up(threads=threads)
        if threads == 2:
            worker.render(make_plan(clevr_scene(5), seed=8), folder)
        reply = worker.render(plan, folder)
        assert reply["type"] == "rendered", reply
        files = [image[key] for image in reply["images"] for key in ("pixels", "source")]
        files = [name for name in (*files, reply["labels"], reply["depth"]) if name]
        results.append({name: (folder / name).read_bytes() for name in files})
    warped = sum(image["source"] is not None for image in reply["images"])
    assert warped >= 1
    assert len(results[0]) == len(plan.images) + warped + 2  # labels and depth
    assert results[0] == results[1]


def test_worker_runs_from_its_own_folder(start_worker, tmp_path):
    """The package comes from where the bootstrap lies, whatever else is installed."""
    copy = tmp_path / "anywhere" / "robustclevr"
    shutil.copytree(BOOTSTRAP.parents[1], copy, ignore=shutil.ignore_patterns("__pycache__"))
    worker = start_worker(bootstrap=copy / "blender" / "bootstrap.py")
    assert worker.set_up()["type"] == "ready"
    assert str(copy / "blender" / "worker.py") in worker.ask(type="dance")["traceback"]


def test_missing_blender_is_a_setup_error_with_the_line_to_install_it(start_worker):
    worker = start_worker(sys.executable, "-S")  # no site-packages: neither bpy nor numpy
    reply = worker.set_up()
    assert (reply["type"], reply["kind"]) == ("failed", "SetupError")
    assert sys.executable in reply["message"]
    assert 'pip install "robustclevr[blender]"' in reply["message"]
    assert worker.end() == 0


def test_worker_dies_with_its_parent():
    """Killed with SIGKILL, a parent cannot say goodbye; nobody holds the pipe's other end."""
    script = textwrap.dedent(
        f"""
        import os, subprocess, sys, time
        a, _kept = os.pipe()
        _also, d = os.pipe()
        child = subprocess.Popen(
            [sys.executable, {str(BOOTSTRAP)!r},
             "--in-fd", str(a), "--out-fd", str(d)], pass_fds=(a, d, _kept))
        print(child.pid, flush=True)
        time.sleep(60)
        """
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    with parent:
        child = int(parent.stdout.readline())
        time.sleep(1.0)
        os.kill(child, 0)
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while _alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(child)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.slow
def test_memory_stays_flat_over_two_hundred_scenes(start_worker, clevr_scene, make_plan, tmp_path):
    made = half_way("image")
    worker = start_worker()
    worker.set_up()
    resident = []
    for index in range(200):
        scene = clevr_scene(index, height=64, width=64)
        plan = make_plan(scene, size=(64, 64), samples=1, **made)
        resident.append(worker.render(plan, tmp_path)["rss_bytes"])
    assert resident[199] <= resident[19] + 50e6
