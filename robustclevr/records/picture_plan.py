"""All that it takes to corrupt one existing picture, as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from robustclevr.records.draw import Draw
from robustclevr.records.plan import ImagePlan

PICTURE_PLAN_VERSION = 1


@dataclass(frozen=True)
class SourcePicture:
    """Where a picture comes from.

    Attributes
    ----------
    name : str
        Path below the folder or in the tar that was given.
    sha256 : str
        Of its file.
    height, width : int
        [px]
    mode : str
        Pillow's word for what the file holds, such as ``RGB``, ``L`` or ``I;16``.
    bits : int
        A channel: 8 or 16.
    mask : str or None
        Name of its mask.
    """

    name: str
    sha256: str
    height: int
    width: int
    mode: str
    bits: int
    mask: str | None


@dataclass(frozen=True)
class PicturePlan:
    """One sample of the family ``pictures``.

    Attributes
    ----------
    version : int
        :data:`PICTURE_PLAN_VERSION` when it was made.
    split, index, root_seed : str, int, int
        The sample's name.
    draw : Draw
    picture : SourcePicture
    engine : str
        ``blender``: recipes run in the compositor; ``numpy``: by their twins.
    images : tuple of ImagePlan
        In the order of the DAG; all of render 0, which stands for the picture itself.
    """

    version: int
    split: str
    index: int
    root_seed: int
    draw: Draw
    picture: SourcePicture
    engine: str
    images: tuple[ImagePlan, ...]
