"""NPZ files whose bytes depend on nothing but the arrays.

``numpy.savez_compressed`` dates its members by the clock; here date, owner and order are fixed.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import StoreError

_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip archive can say
_UNIX = 3
_MODE = 0o644 << 16
_COMPRESS_LEVEL = 6  # zlib's default


def encode_npz(**arrays: NDArray[Any]) -> bytes:
    """Return arrays as a compressed NPZ file.

    Parameters
    ----------
    **arrays : ndarray
        By name; no object arrays.

    Returns
    -------
    bytes
        ``numpy.load`` reads it. Equal for equal arrays, whatever the order they are given in.

    Raises
    ------
    ValueError
        If an array holds Python objects.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(arrays):
            archive.writestr(_member(name), _npy(arrays[name]), compresslevel=_COMPRESS_LEVEL)
    return buffer.getvalue()


def decode_npz(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of an NPZ file by name; nothing in it is ever executed.

    Raises
    ------
    StoreError
        If ``data`` is not a whole NPZ file.
    """
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise StoreError(f"not a readable NPZ file: {len(data)} bytes that are no zip archive")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (zipfile.BadZipFile, zlib.error, ValueError, OSError, EOFError) as error:
        raise StoreError(f"not a readable NPZ file: {error}") from None


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(f"{name}.npy", date_time=_DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.create_system = _UNIX
    member.external_attr = _MODE
    return member


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array, order="C"), allow_pickle=False)
    return buffer.getvalue()
