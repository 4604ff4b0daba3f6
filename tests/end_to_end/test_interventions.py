"""Splits under interventions, rendered: same scenes, and only what the change reaches differs."""

import io
import json
import tarfile

import numpy as np
import pytest
from PIL import Image

from .conftest import run

pytestmark = [pytest.mark.blender, pytest.mark.slow]

SPEC = """\
family: clevr
dag: chain-halfnormal
render: {height: 48, width: 64, samples: 2}
shard_size: 8
splits:
  test: {samples: 3}
  test-twins: {samples: 3, twin_of: test, do: {gaussian_blur.size: 9}}
  test-nothing: {samples: 3, twin_of: test}
  test-grid: {samples: 2, grid: {gaussian_blur.size: [0, 4, 8, 16]}}
  test-worst:
    samples: 2
    worst_case: {metric: ssim, over: [gaussian_blur.size, gamma.gamma], budget: 8}
  test-tail: {samples: 2, tail: {of: joint, below: 0.01}}
  test-ood: {samples: 2, dag: tree-uniform, ood: {gamma.gamma: [4.0, 5.0]}}
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interventions")
    (folder / "spec.yaml").write_text(SPEC)
    run("generate", folder / "spec.yaml", "-o", folder / "out")
    return folder / "out"


def stored(root, split):
    found = {}
    for path in sorted((root / split).glob("*.tar")):
        with tarfile.open(path) as tar:
            found |= {name: tar.extractfile(name).read() for name in tar.getnames()}
    return found


def record(members, index):
    return json.loads(members[f"{index:06d}.json"])


def test_everything_verifies(dataset):
    assert "FAILED" not in run("verify", dataset).stdout


def test_a_twin_shows_the_same_scene_with_one_change(dataset):
    original, twin = stored(dataset, "test"), stored(dataset, "test-twins")
    for index in range(3):
        key = f"{index:06d}"
        for name in ("clean.png", "clean.mask.png", "clouds.png"):  # clouds stands above the blur
            assert twin[f"{key}.{name}"] == original[f"{key}.{name}"]
        assert twin[f"{key}.gaussian_blur.png"] != original[f"{key}.gaussian_blur.png"]
        nodes = [record(members, index)["nodes"] for members in (original, twin)]
        for name in nodes[0]:
            assert nodes[0][name]["noise"] == nodes[1][name]["noise"]
        assert nodes[1]["gaussian_blur"]["parameters"]["size"] == 9
        assert record(twin, index)["interventions"]["gaussian_blur.size"] == "9"


def test_a_twin_without_a_change_is_the_original(dataset):
    original, twin = stored(dataset, "test"), stored(dataset, "test-nothing")
    images = [name for name in original if name.endswith(".png")]
    assert images
    for name in images:
        assert twin[name] == original[name]


def test_a_grid_renders_each_scene_once(dataset):
    members = stored(dataset, "test-grid")
    (receipt,) = (dataset / "test-grid").glob("*.receipt.json")
    content = json.loads(receipt.read_text())
    assert (content["count"], content["renders"]) == (8, 2)
    for scene in range(2):
        points = [f"{4 * scene + point:06d}" for point in range(4)]
        assert len({members[f"{key}.clean.png"] for key in points}) == 1
        assert len({members[f"{key}.gaussian_blur.png"] for key in points}) == 4


def test_the_worst_case_is_the_least_similar_candidate(dataset):
    members = stored(dataset, "test-worst")
    for index in range(2):
        found = record(members, index)
        choice = found["plan"]["choice"]
        assert len(choice["candidates"]) == len(choice["scores"]) == 8
        assert choice["scores"][choice["chosen"]] == min(choice["scores"])
        for name, value in choice["candidates"][choice["chosen"]].items():
            node, parameter = name.split(".")
            assert found["nodes"][node]["parameters"][parameter] == value
    (receipt,) = (dataset / "test-worst").glob("*.receipt.json")
    # The clean render of a scene serves its candidates and its images.
    assert json.loads(receipt.read_text())["renders"] == 2


def test_out_of_distribution_values_reach_the_pixels(dataset):
    members = stored(dataset, "test-ood")
    for index in range(2):
        gamma = record(members, index)["nodes"]["gamma"]["parameters"]["gamma"]
        assert 4 <= gamma <= 5
        clean, dark = (
            np.asarray(Image.open(io.BytesIO(members[f"{index:06d}.{name}.png"]))).mean()
            for name in ("clean", "gamma")
        )
        assert dark < 0.4 * clean
