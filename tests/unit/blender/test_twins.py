"""Numpy twins of recipes against their compositor nodes, on five pictures; noise by its moments."""

import bpy
import numpy as np
import pytest
from scipy import ndimage

from robustclevr.blender.compositor import Compositor
from robustclevr.recipe import load_recipes, parameters_at
from robustclevr.records import Step

HEIGHT, WIDTH = 48, 64
RECIPES = {name: loaded for name, loaded in load_recipes().items() if loaded.apply is not None}
CASES = [
    ("gamma", {"gamma": 0.4}, 1e-6),
    ("gamma", {"gamma": 2.3}, 1e-5),
    ("bright_contrast", {"bright": -20.0, "contrast": -60.0}, 1e-6),
    ("bright_contrast", {"bright": 10.0, "contrast": 50.0}, 1e-6),
    ("gaussian_blur", {"size": 1.0}, 1e-5),
    ("gaussian_blur", {"size": 11.0}, 1e-5),
    ("gaussian_blur", {"size": 27.5}, 1e-5),
    ("displace", {"scale": 40.0}, 1e-6),
    ("displace", {"scale": 37.3}, 1e-5),
    ("pixelate", {"scale": 0.2}, 0.0),
    ("pixelate", {"scale": 0.37}, 0.0),
    ("pixelate", {"scale": 0.5}, 0.0),
    ("defocus", {"z": 4.0}, 1e-5),
    ("defocus", {"z": 5.0}, 1e-5),
    ("defocus", {"z": 12.3}, 1e-5),
    ("defocus", {"z": 40.0}, 1e-5),
    ("motion_blur", {"distance": 0.1, "angle": 2.2}, 1e-4),
    ("motion_blur", {"distance": 0.1, "angle": -40.0}, 1e-4),
    ("motion_blur", {"spin": -0.1}, 1e-4),
    ("motion_blur", {"zoom": 0.1, "center_x": 0.3, "center_y": 0.8, "iterations": 3}, 1e-4),
    ("motion_blur", {"distance": 0.4, "angle": 0.3, "spin": 0.2, "zoom": 0.1}, 1e-4),
    ("defocus", {"z": 2.0}, 1e-5),  # below one pixel at this height
    ("vignette", {"loss": 0.6}, 1e-5),
    ("chromatic_aberration", {"shift": 3.0}, 2e-4),
    ("chromatic_aberration", {"shift": 40.0}, 2e-4),
    ("lens_distortion", {"distort": 0.1, "fit": True}, 1e-4),
    ("lens_distortion", {"distort": 0.3, "dispersion": 0.2}, 1e-4),
    ("lens_distortion", {"dispersion": 0.5, "fit": True}, 1e-4),
    ("glare", {"mix": 1.0}, 1e-5),
    ("glare", {"mix": -0.3, "iterations": 5}, 1e-5),
    ("glare", {"mix": 0.4, "kind": "streaks"}, 1e-4),
    ("glare", {"mix": 1.0, "kind": "streaks", "streaks": 5, "angle_offset": 0.7}, 1e-4),
    ("glare", {"mix": 1.0, "kind": "streaks", "streaks": 3, "angle_offset": -7.0}, 1e-4),
    ("glare", {"mix": -0.5, "kind": "streaks", "streaks": 16, "iterations": 5}, 1e-4),
]
"""Recipe, what differs from its clean parameters, and the largest difference in linear light; the
mean may be 1 / 255 at most, and is far below."""

pytestmark = pytest.mark.blender


def pictures():
    rng = np.random.default_rng(0)
    grain = rng.random((HEIGHT, WIDTH, 3))
    yield ndimage.gaussian_filter(grain, (2, 2, 0)) * 3 - 0.8  # negative values too
    yield grain * 4  # highlights
    yield np.zeros((HEIGHT, WIDTH, 3))
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    yield ((rows // 6 + columns // 6) % 2)[..., np.newaxis] * np.array([1.0, 0.4, 0.1])
    yield np.stack([columns / WIDTH, rows / HEIGHT, 1 - columns / WIDTH], axis=-1)


def highlights():
    """Five pictures on which something is brighter than white."""
    rng = np.random.default_rng(1)
    lamps = np.where(rng.random((HEIGHT, WIDTH, 1)) < 0.01, rng.uniform(0, 30, 3), 0.2)
    one = np.zeros((HEIGHT, WIDTH, 3))
    one[9, 20] = (8.0, 2.0, 0.5)
    yield one
    yield lamps
    for pixels, gain in zip(pictures(), (4.0, 0.5, 0.0, 3.0, 0.0), strict=True):
        if gain:
            yield pixels * gain


def write_exr(path, pixels):
    image = bpy.data.images.new("test", WIDTH, HEIGHT, alpha=True, float_buffer=True, is_data=True)
    rgba = np.concatenate([pixels, np.ones((HEIGHT, WIDTH, 1))], axis=-1)
    image.pixels.foreach_set(np.ascontiguousarray(rgba[::-1], np.float32).ravel())
    image.file_format = "OPEN_EXR"
    image.save(filepath=str(path))
    bpy.data.images.remove(image)
    return path


def both(name, changes, pixels, folder, seed=7):
    """The image by Blender's nodes and by the twin."""
    loaded = RECIPES[name]
    step = Step(name, name, {**loaded.recipe.clean_parameters(), **changes}, 0.5, seed)
    compositor = Compositor(RECIPES, folder)
    exr = write_exr(folder / "in.exr", pixels)
    made = compositor.read_pixels(compositor.apply(exr, [step], HEIGHT, WIDTH))[..., :3]
    compositor.clear()
    image = np.ascontiguousarray(pixels, np.float32)
    before = image.copy()
    twin = loaded.apply(image, parameters_at(HEIGHT, step.parameters, loaded), seed)
    np.testing.assert_array_equal(image, before)
    assert (twin.shape, twin.dtype) == (image.shape, np.float32)
    return made, twin


@pytest.mark.parametrize(("name", "changes", "most"), CASES)
def test_a_twin_does_what_the_nodes_do(tmp_path, name, changes, most):
    for pixels in pictures():
        made, twin = both(name, changes, pixels, tmp_path)
        assert np.abs(made - twin).max() <= most


@pytest.mark.parametrize("kind", ["simple_star", "streaks"])
def test_the_glare_of_highlights(tmp_path, kind):
    for pixels in highlights():
        assert pixels.max() > 1
        made, twin = both("glare", {"mix": 1.0, "kind": kind}, pixels, tmp_path)
        assert made.max() > 0
        assert np.abs(made - twin).mean() <= 1 / 255 / 10


def test_grain_has_the_same_distribution(tmp_path):
    made, twin = both("white_noise", {"factor": 0.27}, np.zeros((HEIGHT, WIDTH, 3)), tmp_path)
    for grain in (made, twin):
        assert np.ptp(grain, axis=-1).max() == 0  # gray
        assert grain.max() == pytest.approx(0.27)
        assert (grain == 0).mean() == pytest.approx(37 / 64, abs=0.03)
        assert grain.mean() == pytest.approx(0.27 / 8, abs=0.003)
        assert grain.std() == pytest.approx(0.27 * np.sqrt((3.5 / 9) ** 3 - 1 / 64), abs=0.004)
    assert not np.array_equal(made, twin)


def test_underexposed_light_has_the_same_mean_and_noise(tmp_path):
    levels = np.array([0.02, 0.3, 1.5])
    flat = np.broadcast_to(levels, (HEIGHT, WIDTH, 3))
    changes = {"stops": 4.0, "gain": 0.5, "photons": 500.0, "read_noise": 3.0}
    light, gain = 2.0**-4, 4.0
    variance = levels / 500 * (light - light**2) + (3 / 500) ** 2 * (1 - light**2)
    for image in both("underexposure", changes, flat, tmp_path):
        assert image.mean(axis=(0, 1)) == pytest.approx(gain * light * levels, abs=0.004)
        assert image.std(axis=(0, 1)) == pytest.approx(gain * np.sqrt(variance), rel=0.05)
        between = np.corrcoef(image.reshape(-1, 3).T)[np.triu_indices(3, 1)]
        assert np.abs(between).max() < 0.06


def test_clouds_have_the_same_size_and_contrast(tmp_path):
    black = np.zeros((HEIGHT, WIDTH, 3))
    found = []
    for clouds in zip(
        *(both("clouds", {"factor": 1.0}, black, tmp_path, seed=k * 70_001 + 3) for k in range(24)),
        strict=True,
    ):
        gray = np.stack(clouds)[..., 0]
        assert np.ptp(np.stack(clouds), axis=-1).max() == 0
        assert gray.min() >= 0
        assert gray.max() <= 1
        centered = gray - gray.mean()
        unit = WIDTH // 8
        lags = [
            (centered[..., k:] * centered[..., :-k]).mean() for k in (unit // 2, unit, 3 * unit)
        ]
        found.append([gray.mean(), gray.std(), *(lag / gray.var() for lag in lags)])
    made, twin = found
    assert twin[:2] == pytest.approx(made[:2], abs=0.012)
    assert twin[:2] == pytest.approx([0.497, 0.103], abs=0.012)
    assert twin[2:] == pytest.approx(made[2:], abs=0.12)


def test_every_twin_is_compared_here():
    assert {name for name, _, _ in CASES} | {"white_noise", "clouds", "underexposure"} == set(
        RECIPES
    )
