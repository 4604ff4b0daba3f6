"""Existing pictures by the installed command line: with the real Blender, and without any."""

import io
import json
import tarfile

import numpy as np
import pytest
from PIL import Image

from robustclevr.imaging import warp_labels
from robustclevr.recipe import load_recipes
from robustclevr.store.dataset import Dataset

from .conftest import digests, run

DAG = """\
nodes:
  displace:
    noise: {u: "Uniform(0, 1)"}
    set: {scale: 20 * u}
  gamma:
    parents: [displace]
    noise: {h: HalfNormal(1)}
    set: {gamma: 1 + h}
  jpeg:
    parents: [gamma]
    set: {quality: 20}
"""
TWINS = 'nodes:\n  gaussian_blur:\n    noise: {u: "Uniform(0, 1)"}\n    set: {size: 8 * u}\n'
RNG = np.random.default_rng(0)


def picture(height, width):
    smooth = np.add.outer(np.arange(height), np.arange(width))[..., None] * [1, 2, 3]
    return ((smooth + RNG.integers(0, 40, (height, width, 3))) % 256).astype(np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pictures of several sizes and kinds, each with a mask of two objects."""
    root = tmp_path_factory.mktemp("pictures")
    (root / "in").mkdir()
    (root / "masks").mkdir()
    for name, size in (("c.png", (48, 64)), ("a.jpg", (40, 56)), ("b.png", (33, 47))):
        pixels = picture(*size)
        Image.fromarray(pixels[..., 0] if name == "b.png" else pixels).save(root / "in" / name)
        mask = np.zeros(size, np.uint8)
        mask[5:20, 8:30], mask[15:30, 20:40] = 4, 9
        Image.fromarray(mask).save(root / "masks" / f"{name[0]}.png")
    (root / "dag.yaml").write_text(DAG)
    (root / "twins.yaml").write_text(TWINS)
    return root


@pytest.fixture(scope="module")
def corrupted(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("corrupted") / "out"
    arguments = ("--dag", folder / "dag.yaml", "--masks", folder / "masks", "--seed", 3)
    run("corrupt", folder / "in", *arguments, "-o", out, "--set", "shard_size=2")
    return out


@pytest.mark.blender
def test_samples_are_the_pictures_in_the_order_of_their_names(corrupted, folder):
    samples = list(Dataset.open(corrupted).samples("pictures"))
    names = [sample.record["picture"]["name"] for sample in samples]
    assert names == ["a.jpg", "b.png", "c.png"]
    assert [sample.record["picture"]["mode"] for sample in samples] == ["RGB", "L", "RGB"]
    assert samples[0].variants == ("clean", "displace", "gamma", "jpeg")
    with Image.open(folder / "in/c.png") as given:
        np.testing.assert_array_equal(samples[2].image("clean"), np.asarray(given))
    for sample in samples:
        size = sample.record["picture"]["height"], sample.record["picture"]["width"]
        assert {sample.image(variant).shape for variant in sample.variants} == {(*size, 3)}
        assert not np.array_equal(sample.image("gamma"), sample.image("displace"))


@pytest.mark.blender
def test_masks_and_boxes_move_with_the_pixels(corrupted):
    sample = Dataset.open(corrupted).sample("pictures", 2)
    record = sample.record
    assert [item["value"] for item in record["objects"]] == [4, 9]
    shift = record["nodes"]["displace"]["parameters"]["scale"] * 48 / 240
    assert shift > 1
    clean, moved = sample.labels("clean"), sample.labels("displace")
    rows, columns = np.mgrid[0:48, 0:64]
    top, left = np.floor(rows + 0.5 + shift), np.floor(columns + 0.5 - shift)
    source = np.where((top < 48) & (left >= 0), top * 64 + left, -1).astype(np.int32)
    np.testing.assert_array_equal(moved, warp_labels(clean, source))
    np.testing.assert_array_equal(sample.labels("gamma"), moved)
    for number, item in enumerate(record["objects"], start=1):
        for variant, shown in {"clean": item, **item["variants"]}.items():
            inside = sample.labels(variant) == number
            assert shown["visible_pixels"] == inside.sum()
            x0, y0, x1, y1 = shown["box"]
            assert inside[y0:y1, x0:x1].sum() == inside.sum()


@pytest.mark.blender
def test_it_is_a_dataset_to_verify_status_and_index(corrupted):
    assert "verified" in run("verify", corrupted, "--rerender", 2).stdout
    assert "3 of 3 samples" in run("status", corrupted).stdout
    before = digests(corrupted, receipts=True)
    run("index", corrupted)
    assert digests(corrupted, receipts=True) == before
    receipt = json.loads((corrupted / "pictures/shard-00000.receipt.json").read_text())
    assert receipt["renders"] == 0
    assert "blender" in receipt["versions"]


@pytest.mark.blender
def test_a_tar_gives_the_same_pixels_and_draws(corrupted, folder, tmp_path):
    for name in ("in", "masks"):
        with tarfile.open(tmp_path / f"{name}.tar", "w") as archive:
            archive.add(folder / name, arcname="")
    out = tmp_path / "out"
    arguments = ("--masks", tmp_path / "masks.tar", "--seed", 3, "--set", "shard_size=2")
    run("corrupt", tmp_path / "in.tar", "--dag", folder / "dag.yaml", *arguments, "-o", out)
    same = digests(corrupted)
    assert digests(out)["pictures/shard-00000.tar"] == same["pictures/shard-00000.tar"]
    assert digests(out)["pictures/draws.parquet"] == same["pictures/draws.parquet"]


@pytest.mark.blender
def test_a_stopped_run_goes_on_and_ends_the_same(corrupted, folder, tmp_path):
    out = tmp_path / "out"
    arguments = ("--dag", folder / "dag.yaml", "--masks", folder / "masks", "--seed", 3)
    command = ("corrupt", folder / "in", *arguments, "-o", out, "--set", "shard_size=2")
    run(*command)
    (out / "pictures/shard-00001.tar").unlink()
    run(*command)
    assert digests(out) == digests(corrupted)
    assert "nothing to do" in run(*command).stderr


def test_numpy_does_it_without_blender_and_leaves_the_broken_out_by_name(folder, tmp_path):
    given = tmp_path / "in"
    given.mkdir()
    for path in (folder / "in").iterdir():
        (given / path.name).write_bytes(path.read_bytes())
    (given / "aa.png").write_bytes((given / "c.png").read_bytes()[:90])
    arguments = ("--dag", folder / "twins.yaml", "--engine", "numpy", "-o", tmp_path / "out")
    first = run("corrupt", given, *arguments, code=1)
    assert "left out: 1 picture" in first.stderr
    assert "aa.png: is no" in first.stderr
    names = [
        record["picture"]["name"] for record in Dataset.open(tmp_path / "out").records("pictures")
    ]
    assert names == ["a.jpg", "b.png", "c.png"]
    assert "verified" in run("verify", tmp_path / "out", "--rerender", 3).stdout
    receipt = json.loads((tmp_path / "out/pictures/shard-00000.receipt.json").read_text())
    assert "blender" not in receipt["versions"]


def test_sixteen_bits_and_alpha_are_stored_as_eight_bits_of_three_channels(folder, tmp_path):
    given = tmp_path / "in"
    given.mkdir()
    Image.fromarray(np.full((20, 20), 32896, np.uint16)).save(given / "a.png")
    Image.fromarray(np.full((20, 20, 4), (9, 9, 9, 0), np.uint8)).save(given / "b.png")
    arguments = ("--dag", folder / "twins.yaml", "--engine", "numpy", "-o", tmp_path / "out")
    run("corrupt", given, *arguments)
    first, second = Dataset.open(tmp_path / "out").samples("pictures")
    assert first.image("clean")[0, 0].tolist() == [128, 128, 128]
    assert (first.record["picture"]["bits"], second.record["picture"]["mode"]) == (16, "RGBA")
    assert second.image("clean")[0, 0].tolist() == [255, 255, 255]


def test_a_grid_shows_every_picture_at_every_value(folder, tmp_path):
    grid = "splits.pictures.grid={gaussian_blur.size: [0, 6]}"
    arguments = ("--dag", folder / "twins.yaml", "--engine", "numpy", "--set", grid)
    run("corrupt", folder / "in", *arguments, "-o", tmp_path / "out")
    samples = list(Dataset.open(tmp_path / "out").samples("pictures"))
    names = [sample.record["picture"]["name"] for sample in samples]
    assert names == ["a.jpg", "a.jpg", "b.png", "b.png", "c.png", "c.png"]
    np.testing.assert_array_equal(samples[0].image("gaussian_blur"), samples[0].image("clean"))
    assert not np.array_equal(samples[1].image("gaussian_blur"), samples[1].image("clean"))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--dag", "nodag"], 2, "there is no DAG called 'nodag'"),
        (["--dag", "scene.yaml"], 2, "'fog_volume', which needs a scene: a picture has none"),
        (["--dag", "depth.yaml"], 2, "'fog', which needs the pass 'depth'"),
        (["--dag", "own.yaml", "--engine", "numpy"], 3, "only Blender can apply 'own'"),
        (["--dag", "dag.yaml", "--set", "render.height=3"], 2, "'render' has no meaning"),
        (["--dag", "dag.yaml", "--masks", "gone"], 2, "neither a folder nor a .tar"),
    ],
)
def test_what_cannot_be_is_said(folder, tmp_path, arguments, code, message):
    (folder / "scene.yaml").write_text("nodes:\n  fog_volume:\n    set: {density: 0.1}\n")
    (folder / "depth.yaml").write_text("nodes:\n  fog:\n    set: {density: 0.1}\n")
    (folder / "own.yaml").write_text("nodes:\n  own:\n    set: {gamma: 2}\n")
    shipped, _ = load_recipes()["gamma"].path.read_text().split("\ndef apply(")
    (tmp_path / "own.py").write_text(shipped.replace('id="gamma"', 'id="own"'))
    files = [folder / text if text.endswith(".yaml") else text for text in arguments]
    own = ("--recipes", tmp_path)
    finished = run("corrupt", folder / "in", *files, *own, "-o", tmp_path / "out", code=code)
    assert message in finished.stderr
    assert not (tmp_path / "out").exists()


def test_members_hold_no_metadata(folder, tmp_path):
    arguments = ("--dag", folder / "twins.yaml", "--engine", "numpy", "-o", tmp_path / "out")
    run("corrupt", folder / "in", *arguments)
    with tarfile.open(tmp_path / "out/pictures/shard-00000.tar") as archive:
        data = archive.extractfile("000000.clean.png").read()
    with Image.open(io.BytesIO(data)) as image:
        assert (image.mode, image.info) == ("RGB", {})
