from dataclasses import replace
from pathlib import Path

import pytest

from robustclevr.errors import StoreError
from robustclevr.records import Receipt
from robustclevr.store.layout import Layout
from robustclevr.store.receipts import Check, read_receipt, verified_receipt, write_receipt
from robustclevr.store.shard import write_shard

PRINT = "a" * 64


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path)
    sha256, size = write_shard(layout.tar("test", 0), [("000000", {"json": b"{}"})], layout)
    receipt = Receipt(
        split="test",
        shard=0,
        start=0,
        count=1,
        sha256=sha256,
        size_bytes=size,
        fingerprint=PRINT,
        dataset_version=1,
        versions={"blender": "4.5.15"},
        device="cpu",
        denoise=False,
        seconds={"total": 1.25},
        renders=1,
    )
    write_receipt(receipt, layout)
    return layout


def verified(layout: Layout, check: Check = Check.SHA256, fingerprint: str = PRINT):
    return verified_receipt("test", 0, layout, fingerprint=fingerprint, check=check)


def test_agreeing_shard(layout: Layout) -> None:
    receipt = verified(layout)
    assert receipt == read_receipt("test", 0, layout)
    assert receipt.seconds == {"total": 1.25}


def test_nothing_there(layout: Layout) -> None:
    assert verified_receipt("test", 1, layout, fingerprint=PRINT, check=Check.SHA256) is None


def test_one_flipped_bit_of_the_tar(layout: Layout) -> None:
    tar = layout.tar("test", 0)
    data = bytearray(tar.read_bytes())
    data[700] ^= 1
    tar.write_bytes(data)
    assert verified(layout, Check.SIZE) is not None
    with pytest.raises(StoreError, match="sha256 is not the one in its receipt"):
        verified(layout)


def test_cut_missing_and_unreceipted_tar(layout: Layout) -> None:
    tar = layout.tar("test", 0)
    data = tar.read_bytes()
    tar.write_bytes(data[:-1])
    with pytest.raises(StoreError, match=f"has {len(data) - 1} bytes"):
        verified(layout, Check.SIZE)
    tar.unlink()
    with pytest.raises(StoreError, match="is missing"):
        verified(layout, Check.SIZE)
    tar.write_bytes(data)
    layout.receipt("test", 0).unlink()
    with pytest.raises(StoreError, match="has no receipt"):
        verified(layout, Check.SIZE)


def test_other_fingerprint(layout: Layout) -> None:
    with pytest.raises(StoreError, match="another spec"):
        verified(layout, fingerprint="b" * 64)


@pytest.mark.parametrize(
    ("before", "after"), [(b'"count":1', b'"count":2'), (b"cpu", b"gpu"), (b"}\n", b"")]
)
def test_an_altered_receipt(layout: Layout, before: bytes, after: bytes) -> None:
    path = layout.receipt("test", 0)
    path.write_bytes(path.read_bytes().replace(before, after))
    with pytest.raises(StoreError, match=r"shard-00000\.receipt\.json"):
        read_receipt("test", 0, layout)


def test_a_receipt_in_the_wrong_place(layout: Layout) -> None:
    receipt = read_receipt("test", 0, layout)
    write_receipt(replace(receipt, shard=1), layout)
    layout.receipt("test", 1).replace(layout.receipt("test", 0))
    with pytest.raises(StoreError, match="is the receipt of test/1"):
        read_receipt("test", 0, layout)
