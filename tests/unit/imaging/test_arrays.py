"""NPZ files: exact, and the same bytes whenever they are made."""

import io
import time
import zipfile

import numpy as np
import pytest

from robustclevr.errors import StoreError
from robustclevr.imaging import decode_npz, encode_npz

RNG = np.random.default_rng(0)
ARRAYS = {
    "depth": RNG.random((5, 7)).astype(np.float32),
    "amodal": RNG.random((2, 5, 7)) < 0.5,
    "scalar": np.array(3.5),
    "empty": np.zeros((0, 3), np.int16),
    "transposed": np.arange(12).reshape(3, 4).T,
}


def test_round_trip_through_ours_and_numpys_reader() -> None:
    data = encode_npz(**ARRAYS)
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        by_numpy = dict(archive)
    for found in (decode_npz(data), by_numpy):
        assert found.keys() == ARRAYS.keys()
        for name, array in ARRAYS.items():
            assert found[name].dtype == array.dtype
            assert found[name].shape == array.shape
            np.testing.assert_array_equal(found[name], array)


def test_bytes_do_not_depend_on_clock_order_or_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode_npz(**ARRAYS)
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    backwards = {name: ARRAYS[name] for name in reversed(ARRAYS)}
    backwards["depth"] = np.asfortranarray(backwards["depth"])
    assert encode_npz(**backwards) == data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_it_compresses() -> None:
    assert len(encode_npz(amodal=np.zeros((10, 240, 320), np.bool_))) < 5000


def test_python_objects_are_refused() -> None:
    with pytest.raises(ValueError, match="Object arrays"):
        encode_npz(a=np.array([{}], dtype=object))


def test_broken_files_are_refused() -> None:
    whole = encode_npz(**ARRAYS)
    spoiled = bytearray(whole)
    spoiled[100] ^= 0xFF
    pickled = io.BytesIO()
    np.savez(pickled, a=np.array([{}], dtype=object))
    single = io.BytesIO()
    np.save(single, np.zeros(3))
    for data in (b"", b"none", whole[:200], bytes(spoiled), pickled.getvalue(), single.getvalue()):
        with pytest.raises(StoreError, match="not a readable NPZ"):
            decode_npz(data)


def _zipped(npy: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("masks.npy", npy)
    return buffer.getvalue()


def _npy(header: bytes) -> bytes:
    header += b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def _flagged(data: bytes, local: int, central: int, value: int) -> bytes:
    """Overwrite one byte of both headers of the only member."""
    changed = bytearray(data)
    changed[local] = changed[data.index(b"PK\x01\x02") + central] = value
    return bytes(changed)


WHOLE = _zipped(_npy(b"{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}") + b"\x07")
SPOILED = {
    "no array": (_zipped(b"text"), "its member 'masks' is no array of numpy"),
    "shape": (
        _zipped(_npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (9000000000000000,)}")),
        "an array is larger, by its header, than the memory",
    ),
    "header": (_zipped(_npy(b"{'descr': '<f8', (")), ""),
    "no header": (_zipped(_npy(b"[")), ""),
    "compression": (_flagged(WHOLE, 8, 10, 97), "compression"),
    "password": (_flagged(WHOLE, 6, 8, 1), "password"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_whatever_is_wrong_with_a_member_is_one_error(name: str) -> None:
    data, message = SPOILED[name]
    assert decode_npz(WHOLE)["masks"].tolist() == [7]
    with pytest.raises(StoreError, match=rf"not a readable NPZ file: .*{message}"):
        decode_npz(data)


def test_only_what_is_asked_for_is_read() -> None:
    data = encode_npz(**ARRAYS)
    name = next(iter(ARRAYS))
    assert list(decode_npz(data, (name, "other"))) == [name]
