"""Pictures and masks of every kind that Pillow writes."""

import io

import numpy as np
import pytest
from PIL import Image

from robustclevr.errors import StoreError
from robustclevr.imaging import linear_to_srgb8, srgb_to_linear
from robustclevr.pictures import decode_mask, decode_picture

RNG = np.random.default_rng(0)
RGB = RNG.integers(0, 256, (5, 7, 3), dtype=np.uint8)


def file_of(image, kind="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def png(array, mode=None):
    return file_of(Image.fromarray(array, mode))


def test_rgb_keeps_its_bytes():
    picture = decode_picture(png(RGB))
    np.testing.assert_array_equal(picture.encoded, RGB)
    assert (picture.mode, picture.encoded.dtype) == ("RGB", np.uint8)


def test_eight_bits_survive_the_way_through_linear_light():
    every = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)
    np.testing.assert_array_equal(linear_to_srgb8(srgb_to_linear(every)), every)


def test_gray_becomes_three_equal_channels():
    picture = decode_picture(png(RGB[..., 0]))
    np.testing.assert_array_equal(picture.encoded, np.repeat(RGB[..., :1], 3, axis=-1))
    assert picture.mode == "L"


def test_sixteen_bits_stay_sixteen_bits_into_linear_light():
    gray = np.array([[0, 257, 32768, 65535]], np.uint16)
    picture = decode_picture(png(gray))
    np.testing.assert_array_equal(picture.encoded[..., 1], gray)
    linear = srgb_to_linear(picture.encoded)[0, :, 0]
    assert linear[[0, 1, 3]] == pytest.approx([0, 1 / 255 / 12.92, 1.0], rel=1e-6)
    # The middle of 16-bit sRGB lies between the 8-bit levels 127 and 128.
    low, high = srgb_to_linear(np.array([127, 128], np.uint8))
    assert low < linear[2] < high


def test_transparent_pixels_lie_over_white_and_opaque_ones_keep_their_bytes():
    rgba = np.dstack([RGB, np.full(RGB.shape[:2], 255, np.uint8)])
    rgba[0, 0] = (10, 20, 30, 0)
    rgba[0, 1] = (100, 0, 255, 51)
    found = decode_picture(png(rgba)).encoded
    assert found[0, 0].tolist() == [255, 255, 255]
    assert found[0, 1].tolist() == [224, 204, 255]
    np.testing.assert_array_equal(found[1:], RGB[1:])


def test_palettes_cmyk_and_jpeg_become_rgb():
    palette = Image.fromarray(RGB).convert("P")
    np.testing.assert_array_equal(
        decode_picture(file_of(palette)).encoded, np.asarray(palette.convert("RGB"))
    )
    cmyk = decode_picture(file_of(Image.fromarray(RGB).convert("CMYK"), "TIFF"))
    assert cmyk.encoded.shape == (5, 7, 3)
    assert decode_picture(file_of(Image.fromarray(RGB), "JPEG")).encoded.shape == (5, 7, 3)


@pytest.mark.parametrize("data", [b"", b"broken", png(RGB)[:60]], ids=["empty", "text", "cut"])
def test_what_is_broken_is_refused(data):
    with pytest.raises(StoreError, match="is no"):
        decode_picture(data)


def test_masks_of_numbers_are_counted_from_one_in_rising_order():
    mask = decode_mask(png(np.array([[0, 7], [200, 7]], np.uint8)))
    assert mask.labels.tolist() == [[0, 1], [2, 1]]
    assert mask.values == (7, 200)


def test_masks_of_sixteen_bits_and_palettes_are_numbers_too():
    assert decode_mask(png(np.array([[0, 1000], [40000, 0]], np.uint16))).values == (1000, 40000)
    palette = Image.fromarray(np.array([[0, 3], [9, 0]], np.uint8))
    palette = palette.convert("P")
    palette.putdata([0, 3, 9, 0])
    assert decode_mask(file_of(palette)).values == (3, 9)


def test_masks_of_colors_name_their_colors():
    colors = np.zeros((2, 2, 3), np.uint8)
    colors[0, 1], colors[1, 0] = (255, 0, 16), (0, 1, 0)
    mask = decode_mask(png(colors))
    assert mask.values == ("#000100", "#ff0010")
    assert mask.labels.tolist() == [[0, 2], [1, 0]]


def test_more_objects_than_labels_are_refused():
    many = np.arange(300, dtype=np.uint16).reshape(15, 20)
    with pytest.raises(StoreError, match="has 299 objects, at most 255"):
        decode_mask(png(many))
