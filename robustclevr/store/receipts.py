"""Receipts: the proof that a shard is complete, written after it and renamed into place.

A receipt carries a digest of the rest of itself. A shard is done only
if its receipt, its checksum and its split's fingerprint agree.
"""

from __future__ import annotations

import enum
import hashlib
from pathlib import Path
from typing import Any

from robustclevr.errors import StoreError
from robustclevr.records import Receipt, from_json, to_json
from robustclevr.store.atomic import write_atomic
from robustclevr.store.jsonbytes import sealed_json, unseal_json
from robustclevr.store.layout import Layout

_HASH_CHUNK_BYTES = 1 << 20


class Check(enum.Enum):
    """How thoroughly a shard's tar is compared with its receipt."""

    SIZE = "size"
    SHA256 = "sha256"


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file; StoreError if it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_HASH_CHUNK_BYTES):
                digest.update(chunk)
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
    return digest.hexdigest()


def write_receipt(receipt: Receipt, layout: Layout) -> None:
    """Put a shard's receipt in place; StoreError if it cannot be written."""
    content: dict[str, Any] = to_json(receipt)
    write_atomic(layout.receipt(receipt.split, receipt.shard), sealed_json(content), layout)


def read_receipt(split: str, shard: int, layout: Layout) -> Receipt | None:
    """Return a shard's receipt, or None where there is none.

    Raises
    ------
    StoreError
        If it was altered, or is of another shard.
    """
    path = layout.receipt(split, shard)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
    content = unseal_json(data, path)
    try:
        receipt = from_json(Receipt, content)
    except (KeyError, TypeError) as error:
        raise StoreError(f"{path}: is no receipt of this version: {error}") from error
    if (receipt.split, receipt.shard) != (split, shard):
        raise StoreError(f"{path}: is the receipt of {receipt.split}/{receipt.shard}")
    return receipt


def verified_receipt(
    split: str, shard: int, layout: Layout, *, fingerprint: str, check: Check
) -> Receipt | None:
    """Return the receipt of a shard that is what it says.

    Parameters
    ----------
    split, shard : str, int
    layout : Layout
    fingerprint : str
        Of the split's spec.
    check : Check
        ``SIZE`` reads no tar; ``SHA256`` reads all of it.

    Returns
    -------
    Receipt or None
        None where neither receipt nor tar is there.

    Raises
    ------
    StoreError
        If something is there that does not agree: says which file, and in what.
    """
    tar = layout.tar(split, shard)
    receipt = read_receipt(split, shard, layout)
    if receipt is None:
        if tar.exists():
            raise StoreError(f"{tar}: has no receipt: the run that wrote it was stopped")
        return None
    if receipt.fingerprint != fingerprint:
        raise StoreError(
            f"{layout.receipt(split, shard)}: was made for another spec: "
            f"fingerprint {receipt.fingerprint[:12]}…, expected {fingerprint[:12]}…"
        )
    size = tar.stat().st_size if tar.is_file() else None
    if size is None:
        raise StoreError(f"{tar}: is missing, though its receipt is there")
    if size != receipt.size_bytes:
        raise StoreError(f"{tar}: has {size} bytes, its receipt says {receipt.size_bytes}")
    if check is Check.SHA256 and file_sha256(tar) != receipt.sha256:
        raise StoreError(f"{tar}: its sha256 is not the one in its receipt")
    return receipt
