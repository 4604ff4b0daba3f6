"""The sRGB table against the curve itself, on every float where it could go wrong."""

import numpy as np
import pytest
from numpy.typing import NDArray

from robustclevr.errors import RenderError
from robustclevr.imaging import linear_to_srgb8, srgb8_to_linear


def reference(linear: NDArray[np.float32]) -> NDArray[np.uint8]:
    x = np.clip(linear.astype(np.float64), 0, 1)
    bent = 1.055 * np.power(np.maximum(x, 1e-9), 1 / 2.4) - 0.055
    return np.floor(np.where(x <= 0.0031308, 12.92 * x, bent) * 255 + 0.5).astype(np.uint8)


def as_pixels(values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.repeat(values.astype(np.float32)[:, np.newaxis], 3, axis=1)


def test_equal_to_the_curve_around_every_step() -> None:
    encoded = (np.arange(1, 256) - 0.5) / 255
    bent = ((encoded + 0.055) / 1.055) ** 2.4
    step = np.where(encoded <= 0.04045, encoded / 12.92, bent).astype(np.float32)
    bits = step.view(np.uint32).astype(np.int64)[:, np.newaxis] + np.arange(-300, 301)
    values = bits.astype(np.uint32).view(np.float32).reshape(-1)
    np.testing.assert_array_equal(linear_to_srgb8(as_pixels(values))[:, 0], reference(values))


def test_equal_to_the_curve_around_every_bin_of_the_table() -> None:
    starts = (np.arange(1, 0x3F81, dtype=np.int64) << 16)[:, np.newaxis]
    values = (starts + np.arange(-2, 3)).astype(np.uint32).view(np.float32).reshape(-1)
    np.testing.assert_array_equal(linear_to_srgb8(as_pixels(values))[:, 0], reference(values))


def test_equal_to_the_curve_on_random_pixels_of_any_brightness() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate(
        [rng.random(200_000), 10.0 ** rng.uniform(-12, 6, 200_000), rng.normal(0, 2, 50_000)]
    ).astype(np.float32)
    np.testing.assert_array_equal(linear_to_srgb8(as_pixels(values))[:, 0], reference(values))


@pytest.mark.parametrize(
    ("linear", "byte"),
    [(0.0, 0), (-0.0, 0), (1.0, 255), (-3.0, 0), (7.5, 255), (np.inf, 255), (-np.inf, 0),
     (0.5, 188), (0.18, 118), (0.0031308, 10), (1e-30, 0), (5e-324, 0)],
)  # fmt: skip
def test_known_values(linear: float, byte: int) -> None:
    pixel = np.full((1, 1, 3), linear, np.float32)
    np.testing.assert_array_equal(linear_to_srgb8(pixel), np.full((1, 1, 3), byte, np.uint8))


def test_channels_and_shape_stay_and_the_input_is_untouched() -> None:
    pixels = np.linspace(-0.5, 1.5, 2 * 5 * 3, dtype=np.float32).reshape(2, 5, 3)
    before = pixels.copy()
    encoded = linear_to_srgb8(pixels)
    assert encoded.shape == (2, 5, 3)
    assert encoded.dtype == np.uint8
    np.testing.assert_array_equal(encoded, reference(pixels))
    np.testing.assert_array_equal(pixels, before)
    np.testing.assert_array_equal(linear_to_srgb8(pixels[:, ::2]), encoded[:, ::2])
    rgba = np.concatenate([pixels, np.ones((2, 5, 1), np.float32)], axis=-1)
    np.testing.assert_array_equal(linear_to_srgb8(rgba[..., :3]), encoded)


def test_nan_is_an_error_with_its_place() -> None:
    pixels = np.zeros((4, 5, 3), np.float32)
    pixels[2, 3, 1] = pixels[2, 3, 2] = pixels[3, 0, 0] = np.nan
    with pytest.raises(
        RenderError, match=r"2 of 20 pixels are not a number, the first at \(2, 3\)"
    ):
        linear_to_srgb8(pixels)


def test_bytes_survive_the_way_there_and_back() -> None:
    ramp = np.arange(256, dtype=np.uint8)
    image = np.stack([ramp, ramp[::-1], ramp], axis=-1)
    linear = srgb8_to_linear(image)
    assert linear.dtype == np.float32
    assert (np.diff(linear[:, 0]) > 0).all()
    assert (linear.min(), linear.max()) == (0, 1)
    np.testing.assert_array_equal(linear_to_srgb8(linear), image)
