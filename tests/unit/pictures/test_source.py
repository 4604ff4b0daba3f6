"""Which pictures are found where, in which order, and with which masks."""

import json
import shutil
import tarfile

import numpy as np
import pytest
from PIL import Image

from robustclevr.errors import SpecError, StoreError
from robustclevr.pictures import PictureOptions, PictureSet


def save(path, value=9, size=(4, 6)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full(size, value, np.uint8)).save(path)
    return path


def open_set(images, masks=None, **more):
    return PictureSet(PictureOptions(str(images), masks and str(masks), "numpy", **more))


def pairs(found):
    return [(entry.name, entry.mask) for entry in found.entries]


@pytest.fixture
def folder(tmp_path):
    for name in ("b/2.png", "b/10.PNG", "a.jpg", ".hidden/x.png"):
        save(tmp_path / "in" / name)
    (tmp_path / "in" / "notes.txt").write_text("no picture")
    return tmp_path / "in"


def test_a_folder_is_sorted_by_name_through_all_its_folders(folder):
    found = open_set(folder)
    assert pairs(found) == [("a.jpg", None), ("b/10.PNG", None), ("b/2.png", None)]
    assert not found.has_masks


def test_masks_of_another_folder_have_the_pictures_names(folder, tmp_path):
    save(tmp_path / "masks/a.png", 3)
    save(tmp_path / "masks/b/2_mask.png", 3)
    found = open_set(folder, tmp_path / "masks")
    assert pairs(found) == [("a.jpg", "a.png"), ("b/10.PNG", None), ("b/2.png", "b/2_mask.png")]
    picture, mask = found.decode(found.entries[0], found.read_bytes(found.entries[0]))
    assert picture.encoded.shape == (4, 6, 3)
    assert mask.values == (3,)
    with pytest.raises(StoreError, match=r"b/10\.PNG: has no mask"):
        found.decode(found.entries[1], found.read_bytes(found.entries[1]))


def test_masks_inside_the_folder_are_no_pictures(folder):
    save(folder / "masks/a.png")
    assert "masks/a.png" not in dict(pairs(open_set(folder, folder / "masks")))
    save(folder / "a.mask.png")
    assert dict(pairs(open_set(folder, folder)))["a.jpg"] == "a.mask.png"
    assert dict(pairs(open_set(folder, folder)))["b/2.png"] is None


def test_a_tar_is_read_as_a_folder_is(folder, tmp_path):
    save(folder / "a.mask.png", 5)
    with tarfile.open(tmp_path / "in.tar", "w") as archive:
        archive.add(folder, arcname=".")
    found, same = open_set(tmp_path / "in.tar", tmp_path / "in.tar"), open_set(folder, folder)
    visible = [pair for pair in pairs(found) if not pair[0].startswith(".")]
    assert visible == pairs(same)
    entry = next(entry for entry in found.entries if entry.name == "a.jpg")
    assert found.read_bytes(entry) == (folder / "a.jpg").read_bytes()
    assert found.decode(entry, found.read_bytes(entry))[1].values == (5,)


def coco(file, *names):
    images = [{"id": k, "file_name": name, "height": 4, "width": 6} for k, name in enumerate(names)]
    square = {"id": 8, "image_id": 0, "segmentation": [[1, 1, 4, 1, 4, 3, 1, 3]]}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"images": images, "annotations": [square]}))
    return file


def test_a_coco_file_names_pictures_and_masks(tmp_path):
    save(tmp_path / "val2017/1.png")
    file = coco(tmp_path / "annotations/instances_val2017.json", "1.png", "gone.png")
    found = open_set(file)
    assert pairs(found) == [("1.png", "1.png"), ("gone.png", "gone.png")]
    _, mask = found.decode(found.entries[0], found.read_bytes(found.entries[0]))
    assert mask.values == (8,)
    with pytest.raises(StoreError, match=r"gone\.png: is not there"):
        found.read_bytes(found.entries[1])


def test_a_coco_file_as_masks_of_a_folder(folder, tmp_path):
    found = open_set(folder, coco(tmp_path / "masks.json", "a.jpg", "2.png"))
    assert pairs(found) == [("a.jpg", "a.jpg"), ("b/10.PNG", None), ("b/2.png", "2.png")]


def test_a_mask_of_another_size_is_named(folder, tmp_path):
    save(tmp_path / "masks/a.png", size=(4, 5))
    found = open_set(folder, tmp_path / "masks")
    with pytest.raises(StoreError, match=r"a\.jpg: is of 4 x 6 pixels, its mask of 4 x 5"):
        found.decode(found.entries[0], found.read_bytes(found.entries[0]))


def test_the_digest_follows_names_and_sizes_wherever_they_are(folder, tmp_path):
    digest = open_set(folder).digest()
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert open_set(tmp_path / "elsewhere").digest() == digest
    assert open_set(folder, left_out=("a.jpg",)).digest() != digest
    save(folder / "c.png", size=(50, 50))
    assert open_set(folder).digest() != digest


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(SpecError, match="neither a folder nor a"):
        open_set(tmp_path / "gone")
    with pytest.raises(SpecError, match="there is no picture that can be used"):
        open_set(tmp_path)
    (tmp_path / "x.tar").write_bytes(b"broken" * 200)
    with pytest.raises(StoreError, match="cannot be read as a tar"):
        open_set(tmp_path / "x.tar")
