"""PNG files: exact, equal for equal pixels, and nothing in them but pixels."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from robustclevr.errors import StoreError
from robustclevr.imaging import decode_png, encode_png

SIDES = st.integers(1, 20)
IMAGES = st.one_of(
    st.tuples(SIDES, SIDES).flatmap(lambda shape: arrays(np.uint8, shape)),
    st.tuples(SIDES, SIDES, st.just(3)).flatmap(lambda shape: arrays(np.uint8, shape)),
)


def chunks(data: bytes) -> list[bytes]:
    names, at = [], 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        names.append(data[at + 4 : at + 8])
        at += 12 + length
    return names


@given(IMAGES)
def test_round_trip(image: np.ndarray) -> None:
    decoded = decode_png(encode_png(image))
    assert decoded.dtype == np.uint8
    np.testing.assert_array_equal(decoded, image)


def test_bytes_follow_from_pixels_alone() -> None:
    image = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    assert encode_png(image) == encode_png(image.copy())
    wider = np.zeros((40, 61, 3), np.uint8)
    wider[:, 1:] = image
    assert encode_png(wider[:, 1:]) == encode_png(image)


@pytest.mark.parametrize("shape", [(30, 40, 3), (30, 40)])
def test_no_metadata(shape: tuple[int, ...]) -> None:
    assert set(chunks(encode_png(np.ones(shape, np.uint8)))) == {b"IHDR", b"IDAT", b"IEND"}


@pytest.mark.parametrize(
    "image",
    [np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4, 3), np.float32), np.zeros(4, np.uint8)],
)
def test_other_arrays_are_refused(image: np.ndarray) -> None:
    with pytest.raises(StoreError, match=r"uint8 \(H, W, 3\) or \(H, W\) is due"):
        encode_png(image)


def test_broken_files_are_refused() -> None:
    whole = encode_png(np.random.default_rng(0).integers(0, 256, (50, 50, 3), dtype=np.uint8))
    for data in (b"", b"no picture", whole[: len(whole) // 2]):
        with pytest.raises(StoreError, match="not a readable PNG"):
            decode_png(data)


def test_other_modes_are_refused() -> None:
    buffer = io.BytesIO()
    Image.new("RGBA", (3, 3)).save(buffer, format="PNG")
    with pytest.raises(StoreError, match="color mode RGBA"):
        decode_png(buffer.getvalue())


def test_no_address_in_memory_is_named() -> None:
    with pytest.raises(StoreError, match=r"^not a readable PNG: 0 bytes that are no PNG picture$"):
        decode_png(b"")
