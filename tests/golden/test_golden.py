"""Pixels and labels against the stored ones: a change of either must be meant.

``make golden`` makes them anew; a change of pixels raises ``robustclevr.DATASET_VERSION``.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from robustclevr.imaging import decode_png
from robustclevr.recipe import load_recipes
from robustclevr.records import Plan, from_json
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.store.sample import develop

HERE = Path(__file__).parent
PLAN = HERE / "4.5" / "plan.json"
NAMES = [image["variant"] for image in json.loads(PLAN.read_text())["images"]]
MEAN_LEVELS, CORRELATION = 0.5, 0.999  # chosen: far below what a step of severity 0.05 changes

pytestmark = pytest.mark.blender


@pytest.fixture(scope="module")
def rendered():
    files = tuple((str(item.path), item.shipped) for item in load_recipes().values())
    with BlenderProcess(RendererSetup(files, threads=1, device="cpu")) as process:
        version = ".".join(process.versions["blender"].split(".")[:2])
        plan = from_json(Plan, json.loads(PLAN.read_text()))
        render = process.render(plan)
    variants = {
        image.variant: develop(image, render.labels, planned, load_recipes())
        for image, planned in zip(render.images, plan.images, strict=True)
    }
    return HERE / version, variants


@pytest.mark.parametrize("name", NAMES)
def test_pixels_are_the_stored_ones(rendered, name):
    folder, variants = rendered
    stored = decode_png((folder / f"{name}.png").read_bytes()).astype(float)
    made = variants[name].image.astype(float)
    assert np.abs(made - stored).mean() <= MEAN_LEVELS
    assert np.corrcoef(made.ravel(), stored.ravel())[0, 1] >= CORRELATION


def test_labels_are_the_stored_ones(rendered):
    folder, variants = rendered
    stored = sorted(folder.glob("*.mask.png"))
    assert stored
    for path in stored:
        name = path.name.split(".")[0]
        assert np.array_equal(variants[name].labels, decode_png(path.read_bytes())), name


def test_there_is_a_golden_image_of_every_recipe():
    assert set(NAMES) == {"clean", *load_recipes()}


def test_golden_images_tell_recipes_apart(rendered):
    folder, variants = rendered
    for name in NAMES:
        for other in NAMES:
            stored = decode_png((folder / f"{other}.png").read_bytes()).astype(float)
            difference = np.abs(variants[name].image.astype(float) - stored).mean()
            assert (difference <= MEAN_LEVELS) == (name == other), (name, other)
