"""Sprites of the original dSprites file, without unpickling anything.

The archive holds 737,280 pictures (3 GB when unpacked): each shape, scale and orientation at
32x32 places. Only the 720 pictures at one place near the centre are kept, read in one pass.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import IO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from robustclevr.errors import SpecError
from robustclevr.video.rasters import Key, Raster, raster_of
from robustclevr.video.stamps import CANVAS_PX

_MEMBERS = ("imgs.npy", "latents_classes.npy")
_BATCH = 4096  # pictures read at a time: 16 MB
_DOWNLOAD = (
    "give the file dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz of "
    "github.com/google-deepmind/dsprites-dataset, or leave video.dsprites out: the closed forms "
    "need no file"
)


@lru_cache(maxsize=2)
def load_rasters(path: str) -> Mapping[Key, Raster]:
    """Return the file's sprites by their indices of shape, scale and orientation.

    Parameters
    ----------
    path : str
        An NPZ file in dSprites' layout: ``imgs`` uint8 (M, 64, 64) of 0 and 1, and
        ``latents_classes`` int64 (M, 6). Its pickled ``metadata`` is not read.

    Returns
    -------
    mapping of (int, int, int) to Raster

    Raises
    ------
    SpecError
        If it is no such file; says where to get it.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            missing = [name for name in _MEMBERS if name not in archive.namelist()]
            if missing:
                raise _refused(path, f"has no {missing[0].removesuffix('.npy')}")
            with archive.open(_MEMBERS[1]) as member:
                chosen = _central(_read_array(path, member))
            with archive.open(_MEMBERS[0]) as member:
                return {key: raster_of(pixels) for key, pixels in _pictures(path, member, chosen)}
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError) as error:
        raise _refused(path, f"is not a whole NPZ file: {error}") from None


def _refused(path: str, why: str) -> SpecError:
    return SpecError.single(f"{path} {why}", path="video.dsprites", hint=_DOWNLOAD)


def _read_array(path: str, member: IO[bytes]) -> NDArray[np.int64]:
    array = npy.read_array(member, allow_pickle=False)  # type: ignore[no-untyped-call]
    if array.ndim != 2 or array.shape[1] != 6:
        raise _refused(path, f"has latents_classes of shape {array.shape}, not (M, 6)")
    return np.asarray(array, dtype=np.int64)


def _central(classes: NDArray[np.int64]) -> dict[int, Key]:
    """Return, by its number, each picture at the middle one of the file's places."""
    middle = [np.unique(classes[:, axis]) for axis in (4, 5)]
    x, y = (values[(len(values) - 1) // 2] for values in middle)
    rows = np.flatnonzero((classes[:, 4] == x) & (classes[:, 5] == y))
    return {
        int(row): (int(a), int(b), int(c))
        for row, (a, b, c) in zip(rows, classes[rows, 1:4], strict=True)
    }


def _pictures(
    path: str, member: IO[bytes], chosen: Mapping[int, Key]
) -> Iterator[tuple[Key, NDArray[np.float64]]]:
    """Read the array front to back, as the archive is packed, and yield the chosen pictures."""
    version = npy.read_magic(member)  # type: ignore[no-untyped-call]
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_column, dtype = read(member)  # type: ignore[no-untyped-call]
    if shape[1:] != (CANVAS_PX, CANVAS_PX) or by_column or dtype != np.uint8:
        raise _refused(path, f"has imgs of {dtype} {shape}, not of uint8 (M, 64, 64)")
    area = CANVAS_PX * CANVAS_PX
    for start in range(0, shape[0], _BATCH):
        count = min(_BATCH, shape[0] - start)
        batch = np.frombuffer(_read_all(path, member, count * area), np.uint8)
        pictures = batch.reshape(count, CANVAS_PX, CANVAS_PX)
        for row in range(start, start + count):
            if row in chosen:
                yield chosen[row], pictures[row - start].astype(np.float64)


def _read_all(path: str, member: IO[bytes], size: int) -> bytes:
    data = member.read(size)
    if len(data) != size:
        raise _refused(path, "ends within imgs")
    return data
