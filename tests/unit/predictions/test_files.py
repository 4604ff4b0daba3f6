"""Names of files, missing ones, strange ones."""

from dataclasses import replace

import numpy as np
import pytest

from robustclevr.errors import SpecError, StoreError
from robustclevr.imaging import encode_npz, encode_png
from robustclevr.predictions import chunk_samples, chunks, find_splits, open_split, targets

VARIANTS = [
    "clean",
    "gamma",
    "gaussian_blur",
    "defocus",
    "lens_distortion",
    "motion_blur",
    "white_noise",
    "clouds",
    "glare",
]
EMPTY = encode_png(np.zeros((24, 32), np.uint8))


@pytest.fixture
def images(tmp_path):
    """A folder of predictions of all images."""
    folder = tmp_path / "p" / "test"
    folder.mkdir(parents=True)
    for index in range(20):
        for variant in VARIANTS:
            (folder / f"{index:06d}.{variant}.png").write_bytes(EMPTY)
    return folder


def opened(dataset, folder, **options):
    return open_split(folder.parent, dataset, "test", **options)


def test_chunks_are_the_samples_in_order(image_dataset):
    found = chunks(image_dataset, "test")
    keys = [sample.key for chunk in found for sample in chunk_samples(chunk)]
    assert keys == [f"{index:06d}" for index in range(20)]
    assert max(chunk.stop - chunk.start for chunk in found) <= 8


def test_targets_of_images(image_dataset):
    sample = image_dataset.sample("test", 3)
    found = targets(sample)
    assert [target.variant for target in found] == VARIANTS
    assert [target.severity for target in found] == [
        0.0,
        *(sample.record["nodes"][name]["severity"] for name in VARIANTS[1:]),
    ]
    np.testing.assert_array_equal(found[4].labels, sample.labels("lens_distortion"))
    np.testing.assert_array_equal(found[1].pixels, sample.image("gamma"))
    assert found[0].classes == tuple(item["shape"] for item in sample.record["objects"])
    assert (found[0].index, found[0].name) == (3, "test/000003.clean")


def test_targets_of_clips(clip_dataset):
    sample = clip_dataset.sample("val", 1)
    (target,) = targets(sample)
    assert target.is_clip and target.variant == "clean" and target.severity == 0.0
    np.testing.assert_array_equal(target.labels, sample.array("masks"))
    np.testing.assert_array_equal(target.pixels, sample.array("video"))
    assert target.shape == (10, 32, 32)
    assert set(target.classes) <= {"square", "ellipse", "heart"}


def test_whole_folders_are_read(image_dataset, images):
    files = opened(image_dataset, images)
    target = targets(image_dataset.sample("test", 0))[0]
    assert files.read(target).labels.shape == (24, 32)
    assert find_splits(images.parent, image_dataset, ()) == ("test",)


def test_missing_ones_are_counted_and_named(image_dataset, images):
    (images / "000003.glare.png").unlink()
    (images / "000004.clean.png").unlink()
    with pytest.raises(StoreError) as caught:
        opened(image_dataset, images)
    assert str(caught.value) == (
        f"{images}: 2 of 180 predictions are missing: 000003.glare, 000004.clean; write them, "
        "or let them count as empty with --allow-missing"
    )
    files = opened(image_dataset, images, allow_missing=True)
    assert files.read(targets(image_dataset.sample("test", 4))[0]) is None
    opened(image_dataset, images, variants=("gamma",))  # of which none is missing


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("000020.clean.png", "the split has no sample '000020', only 000000 to 000019"),
        ("17.clean.png", "the split has no sample '17', only 000000 to 000019"),
        ("000001.glar.png", "the samples have no variant 'glar'; did you mean 'glare'?"),
        ("000001.clean.jpg", "is no prediction; one for an image is a .png or .npz file"),
        ("gama.coco.json", "the samples have no variant 'gama'; did you mean 'gamma'?"),
    ],
)
def test_strange_names_are_refused(image_dataset, images, name, message):
    (images / name).write_bytes(b"")
    with pytest.raises(StoreError) as caught:
        opened(image_dataset, images)
    assert str(caught.value).startswith(f"{images / name}: {message}")


def test_wrong_shapes_and_doubles_name_the_file(image_dataset, images):
    target = targets(image_dataset.sample("test", 2))[0]
    file = images / "000002.clean.npz"
    file.write_bytes(encode_npz(masks=np.zeros((32, 24), np.uint8)))
    files = opened(image_dataset, images)
    with pytest.raises(
        StoreError, match=r"clean\.png and 000002\.clean\.npz are both there; keep one"
    ):
        files.read(target)
    (images / "000002.clean.png").unlink()
    with pytest.raises(StoreError) as caught:
        files.read(target)
    assert str(caught.value) == (
        f"{file}: masks are of shape (32, 24); labels of shape (24, 32) or soft masks of shape "
        "(K, 24, 32) are due"
    )


def test_splits_and_variants_that_are_not_there(image_dataset, images):
    with pytest.raises(StoreError, match="has no split 'tets'; did you mean 'test'"):
        find_splits(images.parent, image_dataset, ("tets",))
    (images.parent / "tset").mkdir()
    with pytest.raises(StoreError, match="tset: the dataset has no split 'tset'; did you mean"):
        find_splits(images.parent, image_dataset, ())
    with pytest.raises(SpecError, match="there is no such folder or file"):
        find_splits(images / "none", image_dataset, ())
    (images.parent / "empty").mkdir()
    with pytest.raises(SpecError, match="holds no predictions; write"):
        find_splits(images.parent / "empty", image_dataset, ())
    with pytest.raises(SpecError, match="has no variant 'gama'; did you mean 'gamma'"):
        opened(image_dataset, images, variants=("gama",))


def test_clips_are_npz_or_one_json(clip_dataset, tmp_path):
    with pytest.raises(StoreError, match="test: is missing, so there are no predictions"):
        open_split(tmp_path, clip_dataset, "test")
    (tmp_path / "val").mkdir()
    (tmp_path / "val" / "000000.png").write_bytes(b"")
    with pytest.raises(StoreError, match=r"one for a clip is a \.npz file"):
        open_split(tmp_path, clip_dataset, "val")
    file = tmp_path / "test.json"
    file.write_text("[[], []]")
    with pytest.raises(SpecError, match="split 'test' has no variant 'nope'; allowed: clean"):
        open_split(tmp_path, clip_dataset, "test", variants=("nope",))
    with pytest.raises(StoreError, match="2 videos, but split 'test' has 12 clips"):
        open_split(tmp_path, clip_dataset, "test")
    with pytest.raises(
        SpecError, match="one file holds predictions of one split, not of test, val"
    ):
        find_splits(file, clip_dataset, ())
    assert find_splits(file, clip_dataset, ("test",)) == ("test",)
    assert find_splits(tmp_path, clip_dataset, ()) == ("test", "val")


def test_hidden_files_are_passed_over(image_dataset, images):
    (images / ".DS_Store").write_bytes(b"x")
    (images / "._000001.clean.png").write_bytes(b"x")
    (images.parent / ".git").mkdir()
    (images.parent / ".cache.json").write_text("[]")
    assert find_splits(images.parent, image_dataset, ()) == ("test",)
    opened(image_dataset, images)


def test_shapes_that_a_score_does_not_know_are_named(image_dataset):
    target = targets(image_dataset.sample("test", 0))[0]
    target.require_shapes(target.classes, "it")
    cone = replace(target, record={"objects": [{"shape": "cone"}]})
    with pytest.raises(StoreError) as caught:
        cone.require_shapes(["cube", "sphere"], "--metrics classes")
    assert str(caught.value) == (
        "test/000000.clean: holds an object of shape 'cone', which --metrics classes does not "
        "know; did you mean 'cube'? allowed: cube, sphere; choose other --metrics"
    )
