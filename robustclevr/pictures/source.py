"""The pictures of a folder, a tar or a COCO set, in a fixed order, with their masks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from robustclevr.errors import SpecError, StoreError
from robustclevr.pictures.coco import CocoAnnotations
from robustclevr.pictures.decode import Mask, Picture, decode_mask, decode_picture
from robustclevr.pictures.files import Files, open_files
from robustclevr.pictures.matching import (
    PICTURE_SUFFIXES,
    find_pictures,
    match_file_names,
    match_masks,
)

IMAGES, MASKS = "IMAGES", "--masks"
"""What the command line calls them, for messages."""

_COCO = ".json"


@dataclass(frozen=True)
class PictureOptions:
    """Where pictures come from; may be pickled.

    Attributes
    ----------
    images : str
        Folder, tar, or COCO annotation file.
    masks : str or None
        Folder, tar, or COCO annotation file.
    engine : str
        ``blender`` or ``numpy``: what applies the recipes.
    left_out : tuple of str
        Names of pictures that cannot be used.
    """

    images: str
    masks: str | None
    engine: str = "blender"
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One picture.

    Attributes
    ----------
    name : str
        Path below the folder or in the tar, with ``/`` between its parts.
    mask : str or None
        Of its mask; in a COCO file the picture's ``file_name``. None where there is none.
    """

    name: str
    mask: str | None


class PictureSet:
    """All pictures that are there, sorted by name.

    Parameters
    ----------
    options : PictureOptions

    Attributes
    ----------
    entries : tuple of Entry
    has_masks : bool
        True if every picture must have a mask.

    Raises
    ------
    SpecError
        If something is not there, or there is no picture at all.
    StoreError
        If a tar cannot be read.
    """

    def __init__(self, options: PictureOptions) -> None:
        images = Path(options.images)
        masks = None if options.masks is None else Path(options.masks)
        listed = images.suffix == _COCO
        if listed:
            masks = images if masks is None else masks
        self._files = _beside(images) if listed else open_files(images, IMAGES)
        self._sizes = self._files.sizes()
        self._masks = _open_masks(masks)
        self.has_masks = masks is not None
        names = CocoAnnotations(images).names if listed else tuple(self._found(images, masks))
        kept = sorted(set(names) - set(options.left_out))
        if not kept:
            what = f"{images}: there is no picture that can be used"
            hint = f"pictures end in {', '.join(PICTURE_SUFFIXES)}"
            raise SpecError.single(what, file=IMAGES, hint=hint)
        same = masks is not None and masks.resolve() == images.resolve()
        matched = self._matched(kept, same_place=same)
        self.entries = tuple(Entry(name, matched.get(name)) for name in kept)
        self._annotations = masks if masks is not None and masks.suffix == _COCO else None

    def digest(self) -> str:
        """Return what stands for all pictures and masks: their names and sizes."""
        digest = hashlib.sha256()
        if self._annotations is not None:
            digest.update(hashlib.sha256(self._annotations.read_bytes()).digest())
        masks = {} if isinstance(self._masks, CocoAnnotations | None) else self._masks.sizes()
        for entry in self.entries:
            sizes = (self._sizes.get(entry.name), masks.get(entry.mask or ""))
            digest.update(f"{entry.name}\0{entry.mask}\0{sizes}\n".encode())
        return f"{len(self.entries)} pictures, names and sizes {digest.hexdigest()}"

    def read_bytes(self, entry: Entry) -> bytes:
        """Return the file of a picture; StoreError if it cannot be read."""
        if entry.name not in self._sizes:
            raise StoreError(f"{entry.name}: is not there")
        return self._files.read(entry.name)

    def decode(self, entry: Entry, data: bytes) -> tuple[Picture, Mask | None]:
        """Decode a picture and its mask.

        Parameters
        ----------
        entry : Entry
        data : bytes
            Of the picture's file.

        Raises
        ------
        StoreError
            If either cannot be read, sizes differ, or a mask is missing; names the file.
        """
        try:
            picture = decode_picture(data)
        except StoreError as error:
            raise StoreError(f"{entry.name}: {error}") from error
        mask = self._read_mask(entry)
        if mask is not None and mask.labels.shape != picture.encoded.shape[:2]:
            sizes = [
                f"{height} x {width}"
                for height, width in (picture.encoded.shape[:2], mask.labels.shape)
            ]
            raise StoreError(
                f"{entry.name}: is of {sizes[0]} pixels, its mask of {sizes[1]} (height x width)"
            )
        return picture, mask

    def _read_mask(self, entry: Entry) -> Mask | None:
        if self._masks is None:
            return None
        if entry.mask is None:
            raise StoreError(f"{entry.name}: has no mask")
        if isinstance(self._masks, CocoAnnotations):
            return self._masks.mask(entry.mask)
        try:
            return decode_mask(self._masks.read(entry.mask))
        except StoreError as error:
            raise StoreError(f"{entry.name}: its mask {entry.mask} {error}") from error

    def _found(self, images: Path, masks: Path | None) -> list[str]:
        """Return the pictures of a folder or tar, a folder of masks inside it left out."""
        below = ""
        if masks is not None and masks.is_dir():
            inner, outer = masks.resolve(), images.resolve()
            if inner != outer and inner.is_relative_to(outer):
                below = f"{inner.relative_to(outer).as_posix()}/"
        return list(find_pictures(self._sizes, masks_below=below))

    def _matched(self, names: list[str], *, same_place: bool) -> Mapping[str, str]:
        if self._masks is None:
            return {}
        if isinstance(self._masks, CocoAnnotations):
            return match_file_names(names, self._masks.names)
        return match_masks(names, self._masks.sizes(), same_place=same_place)


def _open_masks(masks: Path | None) -> Files | CocoAnnotations | None:
    if masks is None:
        return None
    return CocoAnnotations(masks) if masks.suffix == _COCO else open_files(masks, MASKS)


def _beside(file: Path) -> Files:
    """Return the pictures of a COCO file: where COCO's own archives put them, or beside it."""
    part = file.stem.partition("_")[2]  # instances_val2017.json belongs to val2017/
    above = file.resolve().parent.parent
    folders = [file.parent / "images", above / "images"]
    folders += [file.parent / part, above / part] if part else []
    found = [folder for folder in folders if folder.is_dir()]
    return open_files(found[0] if found else file.parent, IMAGES)
