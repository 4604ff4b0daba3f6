"""Where everything stands in a dataset's folder; pure path arithmetic.

A root folder enters, paths leave. Nothing here touches the disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SCENES_JSON_LIMIT = 20_000
"""Largest split that gets a ``scenes.json``: beyond it the file is made by export only."""

PARKED_SUFFIX = ".sample"
LEASE_SUFFIX = ".lease"
TEMP_SUFFIX = ".tmp"


def sample_key(index: int) -> str:
    """Return the key of a sample: its index in at least six digits."""
    return f"{index:06d}"


def shard_name(shard: int) -> str:
    """Return the stem of a shard's files, such as ``shard-00003``."""
    return f"shard-{shard:05d}"


def shard_count(samples: int, shard_size: int) -> int:
    """Return how many shards hold ``samples`` samples; the last may be partial."""
    return -(-samples // shard_size)


@dataclass(frozen=True)
class Layout:
    """The paths below one dataset folder.

    Parameters
    ----------
    root : Path
        The dataset's folder.
    """

    root: Path

    @property
    def dataset_json(self) -> Path:
        """The resolved spec."""
        return self.root / "dataset.json"

    @property
    def index_json(self) -> Path:
        """Digests of the files of whole splits."""
        return self.root / "index.json"

    @property
    def recipes(self) -> Path:
        """Copies of the user's recipe files."""
        return self.root / "recipes"

    @property
    def work(self) -> Path:
        """Everything unfinished; a finished dataset has none of it."""
        return self.root / ".work"

    @property
    def temp(self) -> Path:
        """Files being written; they leave it by renaming."""
        return self.work / "tmp"

    @property
    def leases(self) -> Path:
        """Which process works on which shard."""
        return self.work / "leases"

    def split(self, split: str) -> Path:
        """Folder of a split."""
        return self.root / split

    def tar(self, split: str, shard: int) -> Path:
        """Tar of a shard."""
        return self.split(split) / f"{shard_name(shard)}.tar"

    def receipt(self, split: str, shard: int) -> Path:
        """Receipt of a shard."""
        return self.split(split) / f"{shard_name(shard)}.receipt.json"

    def draws(self, split: str) -> Path:
        """Table of draws of a whole split."""
        return self.split(split) / "draws.parquet"

    def scenes(self, split: str) -> Path:
        """CLEVR-compatible scenes file of a whole split."""
        return self.split(split) / "scenes.json"

    def parked_dir(self, split: str, shard: int) -> Path:
        """Finished samples of an unfinished shard."""
        return self.work / split / shard_name(shard)

    def parked(self, split: str, shard: int, index: int) -> Path:
        """One parked sample."""
        return self.parked_dir(split, shard) / f"{sample_key(index)}{PARKED_SUFFIX}"

    def lease(self, split: str, shard: int) -> Path:
        """Lease of one shard."""
        return self.leases / split / f"{shard_name(shard)}{LEASE_SUFFIX}"
