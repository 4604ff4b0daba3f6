"""A split by index, for data sets that fit the disk cache: any order, at the cost of a seek."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from torch.utils.data import Dataset as TorchDataset

from robustclevr.errors import SpecError, suggest
from robustclevr.predictions import targets
from robustclevr.store.dataset import Dataset
from robustclevr.torch.items import Item, to_item


class SplitSamples(TorchDataset[Any]):
    """The images or clips of a split, each by its number; a map-style data set.

    Item ``i`` is variant ``i % V`` of sample ``i // V``, of V variants.

    Parameters
    ----------
    root : Path or str
        The dataset's folder.
    split : str
    variants : collection of str
        Which images of a sample; empty for all. By default ``clean`` alone.
    transform : callable, optional
        Applied to each item.

    Raises
    ------
    StoreError
        If there is no such dataset or split.
    SpecError
        If its samples have no such variant.

    Examples
    --------
    ::

        data = SplitSamples("data", "train")
        loader = DataLoader(data, batch_size=64, shuffle=True, num_workers=8, collate_fn=collate)
    """

    def __init__(
        self,
        root: Path | str,
        split: str,
        *,
        variants: Collection[str] = ("clean",),
        transform: Callable[[Item], Any] | None = None,
    ) -> None:
        self.dataset = Dataset.open(Path(root))
        self.split = split
        self.transform = transform
        self.samples = self.dataset.split(split).samples
        stored = [target.variant for target in targets(self.dataset.sample(split, 0))]
        for name in variants:
            if name not in stored:
                raise SpecError.single(
                    f"split '{split}' has no variant '{name}'", hint=suggest(name, stored)
                )
        self.variants = tuple(name for name in stored if not variants or name in variants)

    def __len__(self) -> int:
        return self.samples * len(self.variants)

    def __getitem__(self, number: int) -> Any:
        if not 0 <= number < len(self):
            # The end of an iteration is told by this, and by nothing else.
            raise IndexError(f"item {number} of {len(self)}")
        index, place = divmod(number, len(self.variants))
        wanted = self.variants[place]
        found = targets(self.dataset.sample(self.split, index))
        item = next(to_item(target) for target in found if target.variant == wanted)
        return item if self.transform is None else self.transform(item)
