"""Data sets for PyTorch: what an item holds, and that readers share a split without loss."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from robustclevr.errors import SpecError, StoreError
from robustclevr.torch import SplitSamples, SplitStream, collate


def order(stream, epoch=0):
    stream.set_epoch(epoch)
    return [(int(item["index"]), item["variant"]) for item in stream]


def test_an_image_is_what_the_shard_holds(image_dataset):
    data = SplitSamples(image_dataset.layout.root, "test", variants=("clean", "glare"))
    assert len(data) == 40
    item = data[2 * 7 + 1]
    sample = image_dataset.sample("test", 7)
    assert item["variant"] == "glare" and int(item["index"]) == 7
    assert item["image"].shape == (3, 24, 32) and item["image"].dtype == torch.uint8
    assert item["mask"].dtype == torch.int64
    np.testing.assert_array_equal(item["image"].permute(1, 2, 0), sample.image("glare"))
    np.testing.assert_array_equal(item["mask"], sample.labels("glare"))
    assert item["record"] == sample.record
    severity = sample.record["nodes"]["glare"]["severity"]
    assert item["severity"].item() == pytest.approx(severity, rel=1e-6)


def test_a_clip_is_what_the_shard_holds(clip_dataset):
    data = SplitSamples(clip_dataset.layout.root, "test")
    assert len(data) == 12
    item = data[3]
    sample = clip_dataset.sample("test", 3)
    assert item["image"].shape == (10, 3, 32, 32) and item["mask"].shape == (10, 32, 32)
    np.testing.assert_array_equal(item["image"].movedim(1, -1), sample.array("video"))
    np.testing.assert_array_equal(item["mask"], sample.array("masks"))


def test_all_variants_by_an_empty_choice(image_dataset):
    root = image_dataset.layout.root
    stored = image_dataset.sample("test", 0).variants
    assert SplitSamples(root, "test", variants=()).variants == stored
    first = [
        item["variant"] for item in SplitStream(root, "test", variants=()) if item["index"] < 1
    ]
    assert first == list(stored)


def test_a_shuffle_is_a_function_of_seed_and_epoch(image_dataset):
    root = image_dataset.layout.root
    stream = SplitStream(root, "test", shuffle=True, seed=3)
    first, second = order(stream), order(stream, epoch=1)
    assert first == order(SplitStream(root, "test", shuffle=True, seed=3))
    assert first != second
    assert first != order(SplitStream(root, "test", shuffle=True, seed=4))
    everything = [(i, "clean") for i in range(20)]
    assert sorted(first) == sorted(second) == everything
    assert order(SplitStream(root, "test")) == everything


@pytest.mark.parametrize("readers", [1, 2, 3, 5], ids=lambda n: f"{n}-readers")
def test_ranks_share_the_shards(image_dataset, readers):
    parts = [
        order(SplitStream(image_dataset.layout.root, "test", shuffle=True, rank=r, ranks=readers))
        for r in range(readers)
    ]
    together = [pair for part in parts for pair in part]
    assert sorted(together) == [(i, "clean") for i in range(20)]
    # Three shards: of five readers two go without.
    assert sum(bool(part) for part in parts) == min(readers, 3)


def test_worker_processes_share_the_shards(image_dataset):
    data = SplitStream(image_dataset.layout.root, "test", shuffle=True)
    loader = DataLoader(
        data, batch_size=4, num_workers=2, collate_fn=collate, multiprocessing_context="spawn"
    )
    seen = [index for batch in loader for index in batch["index"].tolist()]
    assert sorted(seen) == list(range(20))
    assert seen != sorted(seen)


def test_batches(image_dataset):
    loader = DataLoader(
        SplitSamples(image_dataset.layout.root, "test"), batch_size=8, collate_fn=collate
    )
    sizes = []
    for batch in loader:
        sizes.append(len(batch["record"]))
        assert batch["image"].shape == (sizes[-1], 3, 24, 32)
        assert batch["mask"].shape == (sizes[-1], 24, 32)
        assert batch["severity"].tolist() == [0.0] * sizes[-1]
    assert sizes == [8, 8, 4]


def test_a_transform_sees_each_item(clip_dataset):
    root = clip_dataset.layout.root
    options = {"transform": lambda item: int(item["index"])}
    assert list(SplitStream(root, "val", **options)) == [0, 1, 2]
    assert list(SplitSamples(root, "val", **options)) == [0, 1, 2]


def test_an_item_beyond_the_end(clip_dataset):
    data = SplitSamples(clip_dataset.layout.root, "val")
    assert len(list(data)) == 3
    with pytest.raises(IndexError, match="item 3 of 3"):
        data[3]


def test_names_that_are_not_there(image_dataset, tmp_path):
    root = image_dataset.layout.root
    with pytest.raises(StoreError, match="did you mean 'test'"):
        SplitSamples(root, "tset")
    with pytest.raises(SpecError, match="did you mean 'glare'"):
        SplitSamples(root, "test", variants=["glar"])
    with pytest.raises(SpecError, match="did you mean 'glare'"):
        next(iter(SplitStream(root, "test", variants=["glar"])))
    with pytest.raises(SpecError, match="rank 2 of 2"):
        SplitStream(root, "test", rank=2, ranks=2)
    with pytest.raises(StoreError, match="holds no dataset"):
        SplitStream(tmp_path, "test")
