"""Displace, pixelate and bright/contrast against numpy, and against Blender's own node."""

import bpy
import numpy as np
import pytest

from robustclevr.blender import compat
from robustclevr.blender.compositor import Compositor, read_exr
from robustclevr.recipe import load_recipes
from robustclevr.records import Step

HEIGHT, WIDTH = 72, 96
PX = HEIGHT / 240
RECIPES = load_recipes()

pytestmark = pytest.mark.blender


def step(recipe, **parameters):
    clean = RECIPES[recipe].recipe.clean_parameters()
    return Step(recipe, recipe, {**clean, **parameters}, 0.5, 0)


@pytest.fixture(scope="module")
def pixels():
    rng = np.random.default_rng(0)
    image = rng.random((HEIGHT, WIDTH, 4), np.float32) * 3
    image[..., 3] = 1.0
    return image


@pytest.fixture
def compositor(tmp_path):
    (tmp_path / "scratch").mkdir()
    return Compositor(RECIPES, tmp_path / "scratch")


@pytest.fixture
def exr(pixels, tmp_path):
    image = bpy.data.images.new("test", WIDTH, HEIGHT, alpha=True, float_buffer=True, is_data=True)
    image.pixels.foreach_set(np.ascontiguousarray(pixels[::-1]).ravel())
    image.file_format = "OPEN_EXR"
    image.save(filepath=str(tmp_path / "in.exr"))
    bpy.data.images.remove(image)
    return tmp_path / "in.exr"


@pytest.fixture
def run(compositor, exr):
    return lambda one: compositor.read_pixels(compositor.apply(exr, [one], HEIGHT, WIDTH))


def shifted(image, px):
    """Move an image (H, W, C) by whole pixels to the right and up, black coming in."""
    result = np.zeros_like(image)
    result[: HEIGHT - px, px:] = image[px:, : WIDTH - px]
    return result


def blenders_displace(exr, px, path):
    """Apply Blender's Displace node as ndrenkow/robustclevr does: scales set, vector left alone."""
    scene = bpy.data.scenes.new("displace")
    scene.render.resolution_x, scene.render.resolution_y = WIDTH, HEIGHT
    scene.render.resolution_percentage = 100
    scene.render.filepath = str(path)
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    scene.render.dither_intensity = 0.0
    tree, output = compat.new_compositor(scene)
    source = tree.nodes.new("CompositorNodeImage")
    source.image = bpy.data.images.load(str(exr))
    source.image.colorspace_settings.name = "Non-Color"
    node = tree.nodes.new("CompositorNodeDisplace")
    node.inputs[2].default_value = node.inputs[3].default_value = px
    tree.links.new(source.outputs["Image"], node.inputs["Image"])
    tree.links.new(node.outputs["Image"], output)
    bpy.ops.render.render(write_still=True, scene=scene.name)
    bpy.data.scenes.remove(scene)
    return read_exr(path)


def test_displace_by_whole_pixels_is_a_shift(run, pixels):
    found = run(step("displace", scale=7 / PX))[..., :3]
    np.testing.assert_allclose(found, shifted(pixels, 7)[..., :3], atol=1e-4)


def test_displace_by_whole_pixels_is_blenders_node(run, exr, tmp_path):
    theirs = blenders_displace(exr, 7.0, tmp_path / "theirs.exr")
    np.testing.assert_allclose(
        run(step("displace", scale=7 / PX))[..., :3], theirs[..., :3], atol=1e-4
    )


def test_displace_by_a_part_of_a_pixel_blends_four(run, pixels):
    near, far = shifted(pixels, 2), shifted(pixels, 3)
    right, up = np.zeros_like(pixels), np.zeros_like(pixels)
    right[: HEIGHT - 2, 3:] = pixels[2:, : WIDTH - 3]
    up[: HEIGHT - 3, 2:] = pixels[3:, : WIDTH - 2]
    t = 0.3
    expected = (1 - t) * ((1 - t) * near + t * right) + t * ((1 - t) * up + t * far)
    found = run(step("displace", scale=2.3 / PX))
    np.testing.assert_allclose(found[..., :3], expected[..., :3], atol=1e-4)


@pytest.mark.parametrize("px", [0.4, 5.0, 12.75])
def test_labels_move_with_displace(compositor, px):
    source = compositor.source_map([step("displace", scale=px / PX)], HEIGHT, WIDTH)
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    # The middle of the pixel that is seen; a pixel more than half outside shows none.
    row, column = np.floor(rows + 0.5 + px), np.floor(columns + 0.5 - px)
    inside = slice(0, HEIGHT - int(px) - 2), slice(int(px) + 2, None)
    np.testing.assert_array_equal(source[inside], (row * WIDTH + column).astype(int)[inside])
    if px >= 1:
        assert (source[HEIGHT - int(px) :] == -1).all()
        assert (source[:, : int(px)] == -1).all()


@pytest.mark.parametrize("scale", [0.9, 0.5, 0.2, 0.13])
def test_pixelate_shows_the_middle_of_each_block(run, pixels, scale):
    found = run(step("pixelate", scale=scale))
    from_below = pixels[::-1]

    def middles(count):
        middle = (np.floor((np.arange(count) + 0.5) * scale) + 0.5) / scale
        return np.minimum(middle + 1e-3, count - 0.5)

    rows, columns = middles(HEIGHT), middles(WIDTH)
    expected = from_below[np.ix_(np.floor(rows).astype(int), np.floor(columns).astype(int))][::-1]
    np.testing.assert_array_equal(found, expected)


def test_bright_contrast_is_the_formula_of_its_file(run, pixels):
    found = run(step("bright_contrast", bright=-18.0, contrast=-85.0))[..., :3]
    expected = 0.15 * (pixels[..., :3] - 0.18) + 0.425
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    gray = run(step("bright_contrast", bright=-20.0, contrast=-100.0))[..., :3]
    np.testing.assert_allclose(gray, 0.5, rtol=1e-6)
