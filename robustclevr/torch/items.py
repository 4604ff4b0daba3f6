"""One image or clip of a sample as tensors, and batches of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypedDict

import torch

from robustclevr.errors import SpecError, suggest
from robustclevr.predictions import Target, targets
from robustclevr.store.dataset import Sample
from robustclevr.store.sample import mask_member


class Item(TypedDict):
    """What a data set yields; in a batch of B each tensor has one more axis, the first.

    Attributes
    ----------
    image : Tensor of uint8, shape (3, H, W), of a clip (T, 3, H, W)
        sRGB.
    mask : Tensor of int64, shape (H, W), of a clip (T, H, W)
        0 is background, i object i of the record. Absent where the dataset has no masks.
    severity : Tensor of float32, shape ()
        Of the node whose image it is; 0 for ``clean``, nan for ``joint``.
    index : Tensor of int64, shape ()
        Of the sample in its split.
    variant : str
        ``clean``, ``joint`` or a node.
    record : dict
        The sample's, as in the shard; in a batch a list, as ``variant`` is.
    """

    image: torch.Tensor
    mask: torch.Tensor
    severity: torch.Tensor
    index: torch.Tensor
    variant: str
    record: dict[str, Any]


def sample_items(sample: Sample, variants: Collection[str]) -> list[Item]:
    """Return the items of a sample in the order of the dataset; of all variants if none is named.

    Raises
    ------
    SpecError
        If it lacks one of the variants.
    """
    found = targets(sample)
    for name in variants:
        if name not in {target.variant for target in found}:
            hint = suggest(name, [target.variant for target in found])
            raise SpecError.single(f"sample {sample.key} has no variant '{name}'", hint=hint)
    return [to_item(target) for target in found if not variants or target.variant in variants]


def to_item(target: Target) -> Item:
    """Return an image or a clip as tensors."""
    image = torch.from_numpy(target.pixels.copy()).movedim(-1, -3)
    item: dict[str, Any] = {
        "image": image,
        "severity": torch.tensor(target.severity, dtype=torch.float32),
        "index": torch.tensor(target.index),
        "variant": target.variant,
        "record": dict(target.record),
    }
    if target.is_clip or mask_member(target.variant) in target.sample.members:
        item["mask"] = torch.from_numpy(target.labels.astype("int64"))
    made: Item = item  # type: ignore[assignment]
    return made


def collate(items: Sequence[Item]) -> dict[str, Any]:
    """Return a batch: tensors stacked, names and records as lists.

    Torch's own function refuses records, which have as many objects as a scene has.

    Parameters
    ----------
    items : sequence of Item
        At least one; images of one size.

    Returns
    -------
    dict
        With the keys of :class:`Item`.
    """
    batch: dict[str, Any] = {}
    for key in items[0]:
        values: list[Any] = [dict(item)[key] for item in items]
        tensors = isinstance(values[0], torch.Tensor)
        batch[key] = torch.stack(values) if tensors else values
    return batch
