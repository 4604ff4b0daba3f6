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
