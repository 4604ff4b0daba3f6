"""What clips and pictures take from files outside the dataset: digests that stand for those files.

A changed file is a changed dataset. A file of sprites is hashed whole. Of a folder of pictures
the names and sizes are: reading ImageNet would take longer than making the clips. A picture that
was replaced by one of the same name and size goes unnoticed here; one whose crop no longer fits
is an error when its clip is made.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from robustclevr.errors import SpecError
from robustclevr.pictures import PictureSet
from robustclevr.spec import SplitSpec
from robustclevr.video import list_pictures


def source_digests(split: SplitSpec) -> dict[str, str]:
    """Return a digest of each file or folder that a split's clips are made from.

    Parameters
    ----------
    split : SplitSpec

    Returns
    -------
    dict of str to str
        ``dsprites``, ``textures``, ``pictures``; empty where there is none.

    Raises
    ------
    SpecError
        If one cannot be read, or a folder holds no picture.
    """
    digests = {}
    if split.pictures is not None:
        digests["pictures"] = PictureSet(split.pictures).digest()
    if split.video is not None and split.video.dsprites is not None:
        digests["dsprites"] = _file_digest(split.video.dsprites)
    if split.video is not None and split.video.textures is not None:
        digests["textures"] = _listing_digest(split.video.textures)
    return digests


def _file_digest(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror}"
        raise SpecError.single(what, path="video.dsprites") from error


@lru_cache(maxsize=4)  # as the listing itself: a run asks twice for each split
def _listing_digest(folder: str) -> str:
    names = list_pictures(folder)
    digest = hashlib.sha256()
    try:
        for name in names:
            digest.update(f"{name}\0{Path(folder, name).stat().st_size}\n".encode())
    except OSError as error:
        what = f"{error.filename} cannot be read: {error.strerror}"
        raise SpecError.single(what, path="video.textures") from error
    return f"{len(names)} pictures, names and sizes {digest.hexdigest()}"
