"""Labels of moved pixels against the same effect on flat colors at four times the resolution."""

from typing import NamedTuple

import bpy
import numpy as np
import pytest
from scipy import ndimage

from robustclevr.blender import passes, session
from robustclevr.blender.compositor import Compositor
from robustclevr.blender.images import read_exr
from robustclevr.blender.sample import FINER as LABELS_FINER
from robustclevr.blender.scene import build_scene
from robustclevr.imaging import warp_amodal, warp_labels
from robustclevr.recipe import load_recipes
from robustclevr.records import RenderSettings, SceneOptions, Step
from robustclevr.scenes import sample_scene

HEIGHT, WIDTH, FINER = 240, 320, 4
OPTIONS = SceneOptions((4, 4), "clevr", "none", 200, 0.25, 0.4, 2000)
RECIPES = load_recipes()
CASES = [
    ("lens_distortion", {"distort": 0.03, "fit": True}),
    ("lens_distortion", {"distort": 0.1, "fit": True}),
    ("lens_distortion", {"distort": 0.3, "dispersion": 0.3}),
    ("displace", {"scale": 23.25}),
    ("displace", {"scale": 12.5}),  # halfway between pixels
    ("displace", {"scale": 0.4}),
    ("pixelate", {"scale": 0.2}),
]

pytestmark = pytest.mark.blender


class Flat(NamedTuple):
    labels: np.ndarray
    amodal: np.ndarray | None


def flat_render(factor, scratch, *, amodal):
    """Labels of one CLEVR scene at a resolution."""
    height, width = factor * HEIGHT, factor * WIDTH
    record = sample_scene(OPTIONS, height=height, width=width, root_seed=0, split="test", index=4)
    scene = session.reset()
    settings = RenderSettings(height, width, samples=1, denoise=False, seed=1)
    session.configure(scene, settings, threads=2, device="cpu")
    stage = build_scene(scene, record)
    labels, _ = passes.label_and_depth(stage, record.camera, scratch)
    whole = passes.amodal_masks(stage, record.camera, scratch) if amodal else None
    return Flat(labels, whole)


@pytest.fixture(scope="module")
def coarse(tmp_path_factory):
    return flat_render(1, tmp_path_factory.mktemp("coarse"), amodal=True)


@pytest.fixture(scope="module")
def finer(tmp_path_factory):
    """What labels of moved pixels are looked up in."""
    return flat_render(LABELS_FINER, tmp_path_factory.mktemp("finer"), amodal=False).labels


@pytest.fixture(scope="module")
def fine(tmp_path_factory):
    return flat_render(FINER, tmp_path_factory.mktemp("fine"), amodal=False).labels


def write_gray(path, values):
    height, width = values.shape
    image = bpy.data.images.new("flat", width, height, alpha=True, float_buffer=True, is_data=True)
    gray = np.repeat(values[::-1, :, None].astype(np.float32), 4, axis=2)
    gray[..., 3] = 1.0
    image.pixels.foreach_set(gray.ravel())
    image.file_format = "OPEN_EXR"
    image.save(filepath=str(path))
    bpy.data.images.remove(image)
    return path


def step(recipe, parameters):
    clean = RECIPES[recipe].recipe.clean_parameters()
    return Step(recipe, recipe, {**clean, **parameters}, 0.5, 0)


def moved_in_colors(labels, one, scratch):
    """The label that most of each pixel shows, after the effect on a flat picture of each."""
    height, width = labels.shape
    shares = []
    for label in range(1, labels.max() + 1):
        compositor = Compositor(RECIPES, scratch)
        exr = write_gray(scratch / "flat.exr", labels == label)
        moved = read_exr(compositor.apply(exr, [one], height, width))[..., 1]
        compositor.clear()
        shares.append(moved.reshape(HEIGHT, FINER, WIDTH, FINER).mean(axis=(1, 3)))
    background = 1.0 - np.sum(shares, axis=0)
    return np.argmax([background, *shares], axis=0)


def near_boundary(labels):
    """Pixels with another label within one pixel."""
    return ndimage.maximum_filter(labels, 3) != ndimage.minimum_filter(labels, 3)


@pytest.mark.parametrize(("recipe", "parameters"), CASES)
def test_labels_are_those_of_flat_colors_moved_at_four_times_the_size(
    recipe, parameters, coarse, finer, fine, tmp_path
):
    compositor = Compositor(RECIPES, tmp_path)
    source = compositor.source_map([step(recipe, parameters)], HEIGHT, WIDTH)
    fine_source = compositor.source_map(
        [step(recipe, parameters)], HEIGHT, WIDTH, finer=LABELS_FINER
    )
    found = warp_labels(finer, fine_source)
    at_four = dict(parameters)
    if recipe == "pixelate":  # a block counts pixels, and not parts of the image
        at_four["scale"] /= FINER
    expected = moved_in_colors(fine, step(recipe, at_four), tmp_path)
    assert set(np.unique(found)) <= set(np.unique(coarse.labels))
    differs = found != expected
    if recipe == "pixelate":
        # A block shows one pixel: what counts is where that one lies in the image before.
        assert near_boundary(coarse.labels).ravel()[source[differs]].all()
    else:
        assert near_boundary(expected)[differs].all()
    sizes, ious = [], []
    for label in range(1, len(coarse.amodal) + 1):
        ours, theirs = found == label, expected == label
        sizes.append(int(theirs.sum()))
        ious.append((ours & theirs).sum() / max(1, (ours | theirs).sum()))
    required = [0.97 if size > 1000 else 0.9 for size in sizes]
    seen = [size >= 200 for size in sizes]
    assert sum(seen) >= 3
    assert all(i >= r for i, r, s in zip(ious, required, seen, strict=True) if s), (sizes, ious)


@pytest.mark.parametrize(("recipe", "parameters"), CASES)
def test_amodal_masks_move_the_same_way(recipe, parameters, coarse, tmp_path):
    source = Compositor(RECIPES, tmp_path).source_map([step(recipe, parameters)], HEIGHT, WIDTH)
    labels, whole = warp_labels(coarse.labels, source), warp_amodal(coarse.amodal, source)
    for number, mask in enumerate(whole, start=1):
        assert mask[labels == number].all()
        assert not mask[source < 0].any()


def test_the_middles_of_fine_pixels_are_those_of_the_clean_ones(coarse, finer):
    middle = LABELS_FINER // 2
    np.testing.assert_array_equal(finer[middle::LABELS_FINER, middle::LABELS_FINER], coarse.labels)
