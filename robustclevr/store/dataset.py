"""A finished or unfinished dataset as its readers see it.

A folder enters; splits, shards, samples, records and arrays leave. Nothing is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import SpecError, StoreError, suggest
from robustclevr.imaging import decode_npz, decode_png
from robustclevr.store.clip import CLIP, variant_member
from robustclevr.store.dataset_json import SplitEntry, entries, read_dataset_json
from robustclevr.store.layout import Layout, sample_key, shard_count
from robustclevr.store.sample import CLEAN, RECORD, array_member, image_member, mask_member
from robustclevr.store.shard import ShardReader, iter_samples


@dataclass(frozen=True)
class ShardPlace:
    """One shard of a split, whether it is there or not.

    Attributes
    ----------
    split, shard : str, int
    start, count : int
        Index of its first sample, and number of samples.
    tar, receipt : Path
    """

    split: str
    shard: int
    start: int
    count: int
    tar: Path
    receipt: Path


@dataclass(frozen=True)
class Sample:
    """One stored sample.

    Attributes
    ----------
    split, key : str
    members : mapping of str to bytes
        Its files, by member name without the key.
    """

    split: str
    key: str
    members: Mapping[str, bytes]

    @property
    def record(self) -> dict[str, Any]:
        """The JSON record, parsed anew at each access."""
        try:
            record: dict[str, Any] = json.loads(self._member(RECORD))
        except ValueError as error:
            name = f"{self.split}/{self.key}"
            raise StoreError(f"sample {name}: its record is not JSON: {error}") from error
        return record

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the images, or of the versions of a clip, in the order of the plan."""
        plan = self.record["plan"]
        images = plan["variants"] if CLIP in self.members else plan["images"]
        return tuple(image["variant"] for image in images)

    def image(self, variant: str) -> NDArray[np.uint8]:
        """Return an image as sRGB uint8, shape (H, W, 3)."""
        return decode_png(self._member(image_member(variant)))

    def labels(self, variant: str) -> NDArray[np.uint8]:
        """Return an image's label map: uint8, shape (H, W), 0 background, i = object i."""
        return decode_png(self._member(mask_member(variant)))

    def array(self, output: str, variant: str = CLEAN) -> NDArray[Any]:
        """Return ``amodal``, ``depth`` or ``normal`` as stored; for a clip any of its arrays.

        A clip has ``video`` uint8 (T, H, W, 3), ``masks`` uint8 (T, H, W), ``amodal`` bool
        (T, N, H, W) and, where asked for, ``flow`` and ``background``; its other variants have
        ``video`` and ``masks``.
        """
        clip = CLIP in self.members
        name = variant_member(variant) if clip else array_member(output)
        arrays = decode_npz(self._member(name))
        if output not in arrays:
            hint = suggest(output, arrays)
            raise StoreError(f"clip {self.split}/{self.key} has no '{output}'; {hint}")
        return arrays[output]

    def _member(self, name: str) -> bytes:
        if name not in self.members:
            hint = suggest(name, self.members)
            raise StoreError(f"sample {self.split}/{self.key} has no '{name}'; {hint}")
        return self.members[name]


@dataclass(frozen=True)
class Dataset:
    """A dataset's folder.

    Attributes
    ----------
    layout : Layout
    content : mapping
        Of ``dataset.json``.
    splits : mapping of str to SplitEntry
        Sorted by name.
    """

    layout: Layout
    content: Mapping[str, Any]
    splits: Mapping[str, SplitEntry]

    @classmethod
    def open(cls, root: Path) -> Dataset:
        """Open the dataset in a folder.

        Raises
        ------
        StoreError
            If there is none, or its ``dataset.json`` was altered.
        SpecError
            If it is the URL of an object store.
        """
        _refuse_url(root)
        layout = Layout(root)
        content = read_dataset_json(layout)
        if content is None:
            raise StoreError(
                f"{root}: holds no dataset: dataset.json is missing; "
                "name the folder that was given to 'robustclevr generate -o'"
            )
        return cls(layout, content, entries(content))

    def split(self, split: str) -> SplitEntry:
        """Return a split's entry; StoreError with the nearest spelling if there is none."""
        if split not in self.splits:
            hint = suggest(split, self.splits)
            raise StoreError(f"{self.layout.root}: has no split '{split}'; {hint}")
        return self.splits[split]

    def shards(self, split: str) -> tuple[ShardPlace, ...]:
        """Return every shard that a split has when it is whole."""
        entry = self.split(split)
        size = entry.shard_size
        return tuple(
            ShardPlace(
                split=split,
                shard=shard,
                start=shard * size,
                count=min(size, entry.samples - shard * size),
                tar=self.layout.tar(split, shard),
                receipt=self.layout.receipt(split, shard),
            )
            for shard in range(shard_count(entry.samples, size))
        )

    def samples(self, split: str) -> Iterator[Sample]:
        """Yield the samples of a split in order, shard by shard.

        Raises
        ------
        StoreError
            At the first shard that is missing or unreadable.
        """
        for place in self.shards(split):
            for key, members in iter_samples(place.tar):
                yield Sample(split, key, members)

    def records(self, split: str) -> Iterator[dict[str, Any]]:
        """Yield the records of a split in order; no image is read."""
        for place in self.shards(split):
            with ShardReader(place.tar) as reader:
                for key in reader.keys():  # noqa: SIM118 - a reader is no mapping
                    yield reader.record(key)

    def tar_of(self, split: str, index: int) -> Path:
        """Return the shard that holds a sample."""
        return self.layout.tar(split, index // self.split(split).shard_size)

    def sample(self, split: str, index: int) -> Sample:
        """Return one sample; StoreError if it is beyond the split or its shard is missing."""
        entry = self.split(split)
        if not 0 <= index < entry.samples:
            raise StoreError(f"split '{split}' has samples 0 to {entry.samples - 1}, not {index}")
        key = sample_key(index)
        with ShardReader(self.tar_of(split, index)) as reader:
            members = {suffix: reader.read(key, suffix) for suffix in reader.suffixes(key)}
        return Sample(split, key, members)


def _refuse_url(root: Path) -> None:
    """Raise SpecError for a URL, which a Path shows with one slash of two."""
    protocol, colon, _ = str(root).partition(":/")
    if colon and protocol.isalnum() and not root.exists():
        raise SpecError.single(
            f"'{root}' is an object store: only 'robustclevr generate' writes to one",
            file="DIR",
            hint="copy it into a folder first, such as with 'aws s3 sync' or 'gsutil rsync', and "
            "name that",
        )
