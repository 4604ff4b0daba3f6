"""What a dataset holds, read with nothing of this project but the command line."""

import gc
import io
import json
import tarfile

import numpy as np
import pyarrow.parquet as pq
import pytest
import webdataset
from PIL import Image

from .conftest import SMALL, run

pytestmark = [pytest.mark.blender, pytest.mark.slow]

EIGHT = (
    "gamma",
    "gaussian_blur",
    "defocus",
    "lens_distortion",
    "motion_blur",
    "white_noise",
    "clouds",
    "glare",
)

INACTIVE = """\
name: sometimes
nodes:
  clouds:
    noise:
      u: DiscreteUniform(2)
    when: u > 0.1
    set:
      factor: 0.2
  gamma:
    parents: [clouds]
    set:
      gamma: where(clouds.active, 1.5, 2)
  glare:
    set:
      mix: 0.2
"""


def members(root, split="test"):
    found = {}
    for path in sorted((root / split).glob("*.tar")):
        with tarfile.open(path) as tar:
            for member in tar.getmembers():
                assert (member.mtime, member.uid, member.gid, member.mode) == (0, 0, 0, 0o644)
                found[member.name] = tar.extractfile(member).read()
    return found


def pixels(data):
    return np.asarray(Image.open(io.BytesIO(data)))


def test_files_and_members(reference):
    files = sorted(str(path.relative_to(reference)) for path in reference.rglob("*.*"))
    shards = [f"test/shard-{number:05d}" for number in range(3)]
    expected = [f"{shard}{end}" for shard in shards for end in (".receipt.json", ".tar")]
    rest = ["dataset.json", "index.json", "test/draws.parquet", "test/scenes.json"]
    assert files == sorted(expected + rest)
    names = set(members(reference))
    for index in range(6):
        key = f"{index:06d}"
        mine = {name.removeprefix(f"{key}.") for name in names if name.startswith(key)}
        images = {f"{variant}.png" for variant in ("clean", *EIGHT)}
        masks = {f"{variant}.mask.png" for variant in ("clean", *EIGHT)}
        assert mine == images | masks | {"json"}


def test_masks_boxes_and_fractions_agree_with_the_record(reference):
    stored = members(reference)
    for index in range(6):
        record = json.loads(stored[f"{index:06d}.json"])
        objects = record["objects"]
        required = record["plan"]["scene"]["min_visible_pixels"]
        for variant in ("clean", *EIGHT):
            mask = pixels(stored[f"{index:06d}.{variant}.mask.png"])
            assert mask.dtype == np.uint8
            assert mask.shape == (48, 64)
            assert mask.max() <= len(objects)
            for number, described in enumerate(objects, start=1):
                entry = described if variant == "clean" else described["variants"][variant]
                rows, columns = np.nonzero(mask == number)
                assert entry["visible_pixels"] == len(rows)
                if variant == "clean":
                    assert len(rows) >= required
                    assert 0 < entry["visible_fraction"] <= 1
                if len(rows):
                    corners = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
                    assert tuple(entry["box"]) == corners


def test_objects_stand_where_their_labels_are(reference):
    stored = members(reference)
    unoccluded = 0
    for index in range(6):
        record = json.loads(stored[f"{index:06d}.json"])
        mask = pixels(stored[f"{index:06d}.clean.mask.png"])
        for number, described in enumerate(record["objects"], start=1):
            if described["visible_fraction"] < 1:
                continue
            rows, columns = np.nonzero(mask == number)
            column, row, _ = described["pixel_coords"]
            unoccluded += 1
            # The centroid of a convex solid's image is near the image of its centre.
            assert abs(columns.mean() + 0.5 - column) < 3
            assert abs(rows.mean() + 0.5 - row) < 3
    assert unoccluded > 10


def test_only_recipes_that_warp_move_labels(reference):
    stored = members(reference)
    for index in range(6):
        clean = stored[f"{index:06d}.clean.mask.png"]
        for variant in EIGHT:
            same = stored[f"{index:06d}.{variant}.mask.png"] == clean
            assert same == (variant != "lens_distortion")


def test_every_corruption_changes_the_picture(reference):
    stored = members(reference)
    for index in range(6):
        nodes = json.loads(stored[f"{index:06d}.json"])["nodes"]
        clean = stored[f"{index:06d}.clean.png"]
        for variant in EIGHT:
            changed = stored[f"{index:06d}.{variant}.png"] != clean
            # Glare needs something brighter than white, which not every scene has; and at this
            # height the blur of defocus is less than a pixel, which Blender leaves out.
            assert changed == (nodes[variant]["severity"] > 0) or variant in ("glare", "defocus")


def test_the_table_of_draws_is_the_records(reference):
    table = pq.read_table(reference / "test" / "draws.parquet")
    stored = members(reference)
    assert table.column("index").to_pylist() == list(range(6))
    for index, row in enumerate(table.to_pylist()):
        nodes = json.loads(stored[f"{index:06d}.json"])["nodes"]
        for name, node in nodes.items():
            assert row[f"{name}.severity"] == node["severity"]
            assert row[f"{name}.log_density"] == node["log_density"]
            for parameter, value in node["parameters"].items():
                assert row[f"{name}.{parameter}"] == value
            for noise, value in node["noise"].items():
                assert row[f"{name}.noise.{noise}"] == value
        total = sum(node["log_density"] for node in nodes.values())
        assert row["log_density"] == pytest.approx(total, rel=1e-12)


def test_draws_are_those_of_dag_sample(reference, tmp_path):
    run("dag", "sample", "tree-uniform", "-n", 6, "--noise", "-o", tmp_path / "draws.parquet")
    alone = pq.read_table(tmp_path / "draws.parquet")
    with_images = pq.read_table(reference / "test" / "draws.parquet")
    for name in alone.column_names:
        assert alone.column(name).to_pylist() == with_images.column(name).to_pylist(), name


def test_scenes_json_is_clevrs(reference):
    content = json.loads((reference / "test" / "scenes.json").read_text())
    assert set(content) == {"info", "scenes"}
    assert content["info"]["license"] == "CC-BY-4.0"
    for index, scene in enumerate(content["scenes"]):
        assert scene["image_index"] == index
        assert set(scene["relationships"]) == {"left", "right", "front", "behind"}
        for described in scene["objects"]:
            names = {"shape", "size", "material", "color", "3d_coords", "rotation", "pixel_coords"}
            assert names <= set(described)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_webdataset_reads_the_shards(reference):
    shards = str(reference / "test" / "shard-{00000..00002}.tar")
    samples = list(webdataset.WebDataset(shards, shardshuffle=False).decode("rgb8"))
    assert [sample["__key__"] for sample in samples] == [f"{index:06d}" for index in range(6)]
    assert samples[3]["glare.png"].shape == (48, 64, 3)
    gc.collect()  # it leaves shards open, which counts as an error here


def test_verify_and_status_agree(reference):
    finished = run("verify", reference, "--rerender", 2)
    assert finished.stdout.endswith("verified\n")
    assert "FAILED" not in finished.stdout
    assert "3 of 3 shards" in run("status", reference).stdout


def test_emit_leaves_and_joint_with_a_node_that_is_sometimes_inactive(tmp_path):
    (tmp_path / "sometimes.yaml").write_text(INACTIVE)
    spec = tmp_path / "spec.yaml"
    spec.write_text(SMALL.format(dag="sometimes.yaml") + "emit: [clean, leaves, joint]\n")
    run("generate", spec, "-o", tmp_path / "out")
    stored = members(tmp_path / "out")
    names = {name.split(".", 1)[1] for name in stored}
    assert {name for name in names if "mask" not in name} == {
        *("json", "clean.png", "gamma.png", "glare.png", "joint.png")
    }
    activity = set()
    for index in range(6):
        node = json.loads(stored[f"{index:06d}.json"])["nodes"]["clouds"]
        activity.add(node["active"])
        if not node["active"]:
            assert (node["severity"], node["parameters"], node["log_density"]) == (
                *(0, {"factor": 0}),
                pytest.approx(np.log(0.5)),  # of the noise that `when` reads
            )
    assert activity == {True, False}


def test_an_inactive_node_has_its_parents_image(tmp_path):
    (tmp_path / "sometimes.yaml").write_text(INACTIVE)
    spec = tmp_path / "spec.yaml"
    spec.write_text(SMALL.format(dag="sometimes.yaml"))
    run("generate", spec, "-o", tmp_path / "out")
    stored = members(tmp_path / "out")
    for index in range(6):
        active = json.loads(stored[f"{index:06d}.json"])["nodes"]["clouds"]["active"]
        same = stored[f"{index:06d}.clouds.png"] == stored[f"{index:06d}.clean.png"]
        assert same == (not active)


def test_amodal_depth_and_normal(tmp_path, small_spec):
    out = tmp_path / "out"
    outputs = "outputs=[image, mask, amodal, depth, normal]"
    run("generate", small_spec, "-o", out, "--set", outputs, "--set", "splits.test.samples=2")
    stored = members(out)
    for index in range(2):
        record = json.loads(stored[f"{index:06d}.json"])
        mask = pixels(stored[f"{index:06d}.clean.mask.png"])
        arrays = {
            name: np.load(io.BytesIO(stored[f"{index:06d}.{name}.npz"]))[name]
            for name in ("amodal", "depth", "normal")
        }
        count = len(record["objects"])
        assert arrays["amodal"].shape == (count, 48, 64)
        assert arrays["amodal"].dtype == bool
        for number in range(1, count + 1):
            assert np.all(arrays["amodal"][number - 1][mask == number])
        assert arrays["depth"].dtype == arrays["normal"].dtype == np.float32
        assert np.allclose(np.linalg.norm(arrays["normal"], axis=2), 1, atol=1e-4)
        # The nearest point of a sphere lies about a radius before its centre.
        camera = np.array(record["plan"]["scene"]["camera"]["position"])
        for number, described in enumerate(record["plan"]["scene"]["objects"], start=1):
            seen = arrays["depth"][mask == number]
            centre = np.linalg.norm(np.array(described["position"]) - camera)
            assert centre - 1.7 * described["radius"] < seen.min() < centre + described["radius"]
