"""The files of a sweep, from numbers made by hand."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from robustclevr.recipe import load_recipes
from robustclevr.records import Variant
from robustclevr.records.curve import Curve
from robustclevr.report.sweep import curve_document, curve_json, curve_plot, outlined, sweep_sheet
from robustclevr.run.sweep import SEVERITIES, Similarities, Sweep, SweepOptions
from robustclevr.spec import RenderOptions

HEIGHT, WIDTH = 12, 16
VERSIONS = {"blender": "4.5.0", "numpy": "1.26.4", "python": "3.11.9"}


def similarities(scenes, at):
    level = np.array(at) * np.linspace(0.5, 1.0, len(scenes))[:, None]
    with np.errstate(divide="ignore"):
        return Similarities(tuple(scenes), tuple(at), 1 - 0.5 * level, 20 - 10 * np.log10(level))


def variants(shift):
    labels = np.zeros((HEIGHT, WIDTH), np.uint8)
    labels[4:8, 5 + shift : 9 + shift] = 1
    return [
        Variant(str(k), np.full((HEIGHT, WIDTH, 3), 20 * k, np.uint8), np.roll(labels, k, axis=1))
        for k in range(6)
    ]


@pytest.fixture
def sweep():
    def make(recipe="lens_distortion"):
        return Sweep(
            recipe=load_recipes()[recipe].recipe,
            curve=Curve((0.0, 0.4, 1.0), (0.0, 0.5, 1.0)),
            fitted=similarities(["sweep-fit/000000"], (0.0, 0.5, 1.0)),
            tested=similarities(["sweep-test/000000", "sweep-test/000001"], SEVERITIES),
            hundredth=0.00375,
            pictures={"sweep-test/000000": variants(0), "sweep-test/000001": variants(1)},
            ms_per_image=12.345,
            options=SweepOptions(2, RenderOptions(HEIGHT, WIDTH, 4, denoise=False), 7),
            versions=VERSIONS,
        )

    return make


def test_the_document_says_what_was_measured_on_what(sweep):
    document = json.loads(curve_json(sweep()))
    assert document["recipe"] == "lens_distortion"
    assert document["image"] == {"height": HEIGHT, "width": WIDTH, "samples": 4}
    assert document["root_seed"] == 7
    assert document["scenes"]["fitted"] == ["sweep-fit/000000"]
    assert document["scenes"]["tested"] == ["sweep-test/000000", "sweep-test/000001"]
    assert VERSIONS.items() <= document["versions"].items()
    assert {"robustclevr", "scikit-image"} <= document["versions"].keys()
    assert document["ms_per_image"] == 12.3


def test_the_document_holds_the_map_and_the_parameters_at_its_knots(sweep):
    assert curve_document(sweep())["map"] == {
        "severity": (0.0, 0.4, 1.0),
        "fraction": (0.0, 0.5, 1.0),
        "parameters": {"distort": [0.0, 0.05, 0.1], "dispersion": [0.0, 0.25, 0.5]},
    }


def test_the_document_holds_means_and_scenes(sweep):
    document = json.loads(curve_json(sweep()))
    assert document["severity"] == list(SEVERITIES)
    assert document["mean"]["ssim"][-1] == pytest.approx(1 - 0.5 * 0.75)
    assert document["mean"]["psnr"][0] is None
    assert [row[-1] for row in document["per_scene"]["ssim"]] == [0.75, 0.5]
    assert [row[-1] for row in document["per_scene"]["psnr"]] == pytest.approx([23.01, 20.0])
    assert document["hundredth"] == {"severity": 0.01, "ssim": 0.99625}
    assert document["fitted"]["fraction"] == [0.0, 0.5, 1.0]


def test_a_sheet_has_a_row_a_scene_and_one_with_labels_where_pixels_move(sweep):
    moved, still = sweep_sheet(sweep()), sweep_sheet(sweep("gamma"))
    assert moved.shape[0] - still.shape[0] == pytest.approx(2 * HEIGHT, abs=20)
    assert (moved == (255, 236, 60)).all(axis=-1).any()
    assert not (still == (255, 236, 60)).all(axis=-1).any()


def test_outlines_lie_where_labels_change():
    variant = variants(0)[1]
    marked = np.argwhere((outlined(variant) == (255, 236, 60)).all(axis=-1))
    assert marked.min(axis=0).tolist() == [4, 6]
    assert marked.max(axis=0).tolist() == [8, 10]
    assert variant.image.max() == 20


def test_the_plot_is_a_picture_and_always_the_same(sweep):
    data = curve_plot(sweep())
    with Image.open(io.BytesIO(data)) as picture:
        assert picture.format == "PNG"
        assert np.asarray(picture.convert("L")).std() > 10
    assert curve_plot(sweep()) == data
