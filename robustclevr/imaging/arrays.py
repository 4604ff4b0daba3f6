"""NPZ files whose bytes depend on nothing but the arrays.

``numpy.savez_compressed`` dates its members by the clock; here date, owner and order are fixed.
"""

from __future__ import annotations

import io
import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import StoreError

_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip archive can say
_UNIX = 3
_MODE = 0o644 << 16
_COMPRESS_LEVEL = 6  # zlib's default

_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, OSError, EOFError),
    *(ValueError, TypeError, OverflowError, KeyError),
    # numpy parses the header of an array as Python; zipfile knows neither every compression nor
    # passwords, and says both by subclasses of RuntimeError.
    *(tokenize.TokenError, SyntaxError, RuntimeError),
)
"""All that numpy and zipfile raise on bytes that are no whole NPZ file (numpy 1.26)."""


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


def decode_npz(data: bytes, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of an NPZ file by name; nothing in it is ever executed.

    Parameters
    ----------
    data : bytes
    names : collection of str, optional
        Which to read where they are there; the others stay compressed. None for all.

    Raises
    ------
    StoreError
        If ``data`` is not a whole NPZ file.
    """
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise StoreError(f"not a readable NPZ file: {len(data)} bytes that are no zip archive")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {
                name: archive[name] for name in archive.files if names is None or name in names
            }
    except MemoryError:
        raise StoreError(
            "not a readable NPZ file: an array is larger, by its header, than the memory"
        ) from None
    except _BROKEN as error:
        raise StoreError(f"not a readable NPZ file: {error}") from None
    for name, array in arrays.items():
        # numpy hands out the bytes of a member that does not begin as its arrays do.
        if not isinstance(array, np.ndarray):
            raise StoreError(f"not a readable NPZ file: its member '{name}' is no array of numpy")
    return arrays


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
