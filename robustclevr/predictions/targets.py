"""What there is to predict in a stored sample: its images, or its clips, with their true labels.

A sample enters; one target for each of its variants leaves, which reads pixels and labels when
asked. Everything behind it is the same for images and clips.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import StoreError, suggest
from robustclevr.imaging import decode_npz, decode_png
from robustclevr.store.dataset import Sample
from robustclevr.store.sample import CLEAN, array_member, image_member, mask_member

_CLIP = "npz"
"""Member of a clip without corruption; that of a node is ``<node>.npz``."""


@dataclass(frozen=True)
class Target:
    """One image or clip of a sample.

    Attributes
    ----------
    sample : Sample
    record : mapping
        Of the sample, parsed once.
    variant : str
        ``clean``, ``joint`` or a node.
    is_clip : bool
    """

    sample: Sample
    record: Mapping[str, Any]
    variant: str
    is_clip: bool

    @property
    def index(self) -> int:
        """The sample's index in its split."""
        return int(self.sample.key)

    @property
    def name(self) -> str:
        """Split, key and variant, for messages."""
        return f"{self.sample.split}/{self.sample.key}.{self.variant}"

    @property
    def pixels(self) -> NDArray[np.uint8]:
        """The image, shape (H, W, 3), or the clip, shape (T, H, W, 3)."""
        if self.is_clip:
            video: NDArray[np.uint8] = self._array("video")
            return video
        return self.sample.image(self.variant)

    @cached_property
    def labels(self) -> NDArray[np.uint8]:
        """True labels, shape (H, W) or (T, H, W): 0 background, i = object i.

        Raises
        ------
        StoreError
            If the dataset was made without masks.
        """
        if self.is_clip:
            masks: NDArray[np.uint8] = self._array("masks")
            return masks
        if mask_member(self.variant) not in self.sample.members:
            raise StoreError(
                f"{self.name}: was made without masks, so nothing can be scored on it; "
                "add 'mask' to its outputs"
            )
        return decode_png(self.sample.members[mask_member(self.variant)])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the labels."""
        return self.labels.shape

    @property
    def severity(self) -> float:
        """Severity of the node: 0 for ``clean``, nan for ``joint``, which is of all nodes."""
        if self.variant == CLEAN:
            return 0.0
        node = self.record.get("nodes", {}).get(self.variant)
        return math.nan if node is None else float(np.mean(node["severity"]))

    @property
    def classes(self) -> tuple[str, ...]:
        """Shape of each object: element i - 1 is that of label i."""
        for key in ("objects", "sprites"):
            if key in self.record:
                return tuple(item["shape"] for item in self.record[key])
        return ()

    def require_shapes(self, known: Collection[str], purpose: str) -> None:
        """Refuse a sample with objects of shapes that a score does not know.

        Parameters
        ----------
        known : collection of str
        purpose : str
            What asks, such as ``"--metrics classes"``.

        Raises
        ------
        StoreError
            Names sample and shape.
        """
        for shape in self.classes:
            if shape not in known:
                raise StoreError(
                    f"{self.name}: holds an object of shape '{shape}', which {purpose} does not "
                    f"know; {suggest(shape, known)}; choose other --metrics"
                )

    def _array(self, name: str) -> Any:
        """Read one array of the clip; the others stay compressed."""
        member = _CLIP if self.variant == CLEAN else array_member(self.variant)
        data = self.sample.members[member]
        try:
            found = decode_npz(data, (name,))
            if name not in found:
                raise StoreError(f"has no '{name}', only {', '.join(decode_npz(data))}")
        except StoreError as error:
            raise StoreError(f"{self.name}: {error}") from error
        return found[name]


def targets(sample: Sample) -> tuple[Target, ...]:
    """Return all images or clips of a sample, the clean one first."""
    record = sample.record
    if _CLIP in sample.members:
        suffix = f".{_CLIP}"
        nodes = sorted(
            name.removesuffix(suffix) for name in sample.members if name.endswith(suffix)
        )
        order = list(record.get("nodes", {}))
        nodes.sort(key=lambda node: order.index(node) if node in order else len(order))
        return tuple(Target(sample, record, variant, is_clip=True) for variant in (CLEAN, *nodes))
    variants = [image["variant"] for image in record["plan"]["images"]]
    stored = [name for name in variants if _is_stored(sample, name)]
    return tuple(Target(sample, record, variant, is_clip=False) for variant in stored)


def _is_stored(sample: Sample, variant: str) -> bool:
    return bool({image_member(variant), mask_member(variant)} & set(sample.members))
