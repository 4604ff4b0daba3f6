"""Which files are pictures, and which mask belongs to which; by their names alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

PICTURE_SUFFIXES = (
    ".bmp",
    ".gif",
    ".jpeg",
    ".jpg",
    ".pgm",
    ".png",
    ".ppm",
    ".tif",
    ".tiff",
    ".webp",
)

MASK_ENDINGS = (".mask", "_mask", "_flat")
"""What the stem of a mask may add to that of its picture; ``_flat`` is CLEVRTex's."""


def find_pictures(names: Iterable[str], *, masks_below: str = "") -> Iterator[str]:
    """Yield the names of pictures; masks, by their ending or their folder, are none.

    Parameters
    ----------
    names : iterable of str
        Paths with ``/`` between their parts.
    masks_below : str
        Folder of masks among them, with a ``/`` at its end; empty for none.

    Examples
    --------
    >>> list(find_pictures(["a.PNG", "a.mask.png", "m/a.png", "a.txt"], masks_below="m/"))
    ['a.PNG']
    """
    for name in names:
        path = PurePosixPath(name)
        is_mask = path.stem.endswith(MASK_ENDINGS) or (masks_below and name.startswith(masks_below))
        if path.suffix.lower() in PICTURE_SUFFIXES and not is_mask:
            yield name


def match_masks(
    pictures: Iterable[str], masks: Iterable[str], *, same_place: bool
) -> dict[str, str]:
    """Return the mask of each picture that has one.

    A mask has its picture's name but for the suffix, and may add one of :data:`MASK_ENDINGS`.

    Parameters
    ----------
    pictures, masks : iterable of str
        Names below their roots.
    same_place : bool
        The roots are one: a picture is not its own mask, so an ending is needed.

    Examples
    --------
    >>> match_masks(["a/1.jpg"], ["a/1.png"], same_place=False)
    {'a/1.jpg': 'a/1.png'}
    >>> match_masks(["1.png", "2.png"], ["1.png", "1_mask.png", "2.png"], same_place=True)
    {'1.png': '1_mask.png'}
    """
    usable = (name for name in masks if PurePosixPath(name).suffix.lower() in PICTURE_SUFFIXES)
    by_stem = {_stem(name): name for name in sorted(usable, reverse=True)}
    endings = MASK_ENDINGS if same_place else (*MASK_ENDINGS, "")
    return {
        name: found[0]
        for name in pictures
        if (found := [by_stem[s] for e in endings if (s := f"{_stem(name)}{e}") in by_stem])
    }


def match_file_names(pictures: Iterable[str], known: Iterable[str]) -> Mapping[str, str]:
    """Return the ``file_name`` of each picture in a COCO file: equal, or its last part is.

    Examples
    --------
    >>> match_file_names(["val/1.jpg", "2.jpg", "3.jpg"], ["1.jpg", "2.jpg"])
    {'val/1.jpg': '1.jpg', '2.jpg': '2.jpg'}
    """
    known = tuple(known)
    exact, by_last = set(known), {PurePosixPath(name).name: name for name in known}
    both = {
        name: name if name in exact else by_last.get(PurePosixPath(name).name) for name in pictures
    }
    return {name: found for name, found in both.items() if found is not None}


def _stem(name: str) -> str:
    return name.removesuffix(PurePosixPath(name).suffix)
