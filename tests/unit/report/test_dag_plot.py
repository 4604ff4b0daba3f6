"""Pictures of DAGs: the formats, their texts, and equal bytes for equal input."""

import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from robustclevr.recipe import load_recipes
from robustclevr.report.dag_boxes import Changes
from robustclevr.report.dag_plot import plot_dag
from robustclevr.spec import load_dag

RECIPES = load_recipes()
RED = (192, 32, 42)


@pytest.fixture(scope="module")
def chain():
    return load_dag("chain-uniform", RECIPES)


def svg_texts(data):
    root = ET.fromstring(data)  # noqa: S314 - our own file
    return {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}


def pixels(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def test_svg_holds_its_texts_as_text(chain):
    texts = svg_texts(plot_dag(chain, Changes(), ".svg"))
    assert {"chain-uniform", "lens_distortion", "h ~ HalfNormal(0.3)"} <= texts
    assert "distort = where(gamma.gamma > 1.2, 0.05 * u, 0)" in texts


def test_png_is_a_picture_of_text_on_white(chain):
    image = pixels(plot_dag(chain, Changes(), ".png"))
    assert image.shape[0] > 1000
    assert (image == 255).all(axis=2).mean() > 0.8
    assert (image.max(axis=2) < 60).mean() > 0.005
    assert not (np.abs(image - RED).max(axis=2) < 3).any()


def test_changes_are_red(chain):
    image = pixels(plot_dag(chain, Changes({"gamma.gamma": 1.5}), ".png"))
    assert (np.abs(image - RED).max(axis=2) < 3).sum() > 500


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_equal_input_gives_equal_bytes(chain, suffix):
    assert plot_dag(chain, Changes(), suffix) == plot_dag(chain, Changes(), suffix)
