"""Datasets of clips by the installed command line, in processes that have neither bpy nor torch."""

import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tarfile
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from .conftest import command, digests, run

SPEC = """\
family: vmds
video: {frames: 5}
shard_size: 4
splits:
  plain: {samples: 10}
  turning:
    samples: 6
    scenario: {rotation: {step_deg: [10, 20]}}
    outputs: [image, flow, background]
"""
SLOW = "family: vmds\nshard_size: 20\nsplits: {test: {samples: 700}}\n"


@pytest.fixture(scope="session")
def clip_spec(tmp_path_factory):
    file = tmp_path_factory.mktemp("clips") / "clips.yaml"
    file.write_text(SPEC)
    return file


@pytest.fixture(scope="session")
def clips(clip_spec, tmp_path_factory):
    """The small dataset of clips, made by one worker in one go."""
    out = tmp_path_factory.mktemp("clips-reference") / "out"
    run("generate", clip_spec, "-o", out, "--workers", 1)
    return out


@pytest.fixture
def without_heavy_packages(tmp_path, monkeypatch):
    """Stand in for packages that clips must not touch; importing one leaves a file behind."""
    folder = tmp_path / "forbidden"
    folder.mkdir()
    for name in ("bpy", "torch", "pyro"):
        touched = folder / f"{name}.touched"
        (folder / f"{name}.py").write_text(
            f"open({str(touched)!r}, 'w').close()\nraise ImportError('not here')\n"
        )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder)]))
    return folder


def members(root, split):
    """Every member of a split's tars, by name, read with the standard library alone."""
    found = {}
    for path in sorted((root / split).glob("*.tar")):
        with tarfile.open(path) as tar:
            found |= {entry.name: tar.extractfile(entry).read() for entry in tar}
    return found


def test_neither_blender_nor_torch_is_touched(clips, clip_spec, tmp_path, without_heavy_packages):
    out = tmp_path / "out"
    run("generate", clip_spec, "-o", out, "--workers", 2)
    run("verify", out, "--rerender", 2)
    run("preview", clip_spec, "-o", tmp_path / "sheet.png", "-n", 2)
    assert list(without_heavy_packages.glob("*.touched")) == []
    assert digests(out) == digests(clips)


def test_three_parts_in_three_folders_copied_together(clips, clip_spec, tmp_path):
    for part in range(3):
        run("generate", clip_spec, "-o", tmp_path / f"part{part}", "--shards", f"{part}/3")
    for part in range(3):
        shutil.copytree(tmp_path / f"part{part}", tmp_path / "out", dirs_exist_ok=True)
    run("index", tmp_path / "out")
    assert digests(tmp_path / "out") == digests(clips)


def test_a_longer_run_begins_with_the_shorter_one(clips, clip_spec, tmp_path):
    out = tmp_path / "out"
    run("generate", clip_spec, "-o", out, "--set", "splits.plain.samples=6")
    assert "turning" in run("status", out).stdout
    run("generate", clip_spec, "-o", out)
    assert digests(out) == digests(clips)
    assert "nothing to do" in run("generate", clip_spec, "-o", out).stderr


def test_another_option_is_refused_and_named(clips, clip_spec):
    refused = run("generate", clip_spec, "-o", clips, "--set", "video.sigma_px=20", code=2)
    assert "splits.plain.video.sigma_px" in refused.stderr
    assert "55" in refused.stderr


@pytest.mark.slow
def test_killed_and_run_again(tmp_path):
    file = tmp_path / "slow.yaml"
    file.write_text(SLOW)
    run("generate", file, "-o", tmp_path / "whole", "--workers", 1)
    moments = random.Random(5)  # noqa: S311 - the same moments in every run of this test
    out = tmp_path / "out"
    for _ in range(3):
        process = subprocess.Popen(
            command("generate", file, "-o", out, "--workers", 2),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(moments.uniform(1.0, 3.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
    run("generate", file, "-o", out, "--workers", 2)
    assert digests(out) == digests(tmp_path / "whole")
    assert not (out / ".work").exists()


def test_what_a_clip_holds_is_read_with_numpy_alone(clips):
    files = members(clips, "plain")
    assert sorted(files) == sorted(f"{i:06d}.{kind}" for i in range(10) for kind in ("json", "npz"))
    counts = []
    for i in range(10):
        record = json.loads(files[f"{i:06d}.json"])
        assert (record["index"], record["split"], record["seed"]) == (i, "plain", 0)
        arrays = np.load(io.BytesIO(files[f"{i:06d}.npz"]), allow_pickle=False)
        assert sorted(arrays.files) == ["amodal", "masks", "video"]
        sprites = record["sprites"]
        counts.append(len(sprites))
        assert_shapes(arrays, frames=5, sprites=len(sprites))
        for number, sprite in enumerate(sprites, start=1):
            for key in ("scale", "orientation", "color", "position", "order", "visibility"):
                assert len(sprite[key]) == 5, key
            assert sprite["shape"] in ("square", "ellipse", "heart")
            whole = arrays["amodal"][:, number - 1].sum(axis=(1, 2))
            seen = (arrays["masks"] == number).sum(axis=(1, 2))
            np.testing.assert_allclose(sprite["visibility"], seen / whole)
        outside = ~arrays["amodal"].any(axis=1)
        assert (arrays["masks"][outside] == 0).all()
    assert sorted(counts[:8]) == [1, 1, 2, 2, 3, 3, 4, 4]


def assert_shapes(arrays, *, frames, sprites):
    size = (frames, 64, 64)
    assert (arrays["video"].shape, arrays["video"].dtype) == ((*size, 3), np.uint8)
    assert (arrays["masks"].shape, arrays["masks"].dtype) == (size, np.uint8)
    assert arrays["masks"].max() <= sprites
    assert (arrays["amodal"].shape, arrays["amodal"].dtype) == ((frames, sprites, 64, 64), bool)


def test_further_outputs_and_the_scenario_are_there(clips):
    files = members(clips, "turning")
    record = json.loads(files["000000.json"])
    arrays = np.load(io.BytesIO(files["000000.npz"]), allow_pickle=False)
    assert sorted(arrays.files) == ["amodal", "background", "flow", "masks", "video"]
    assert (arrays["flow"].shape, arrays["flow"].dtype) == ((4, 64, 64, 2), np.float16)
    visible = arrays["masks"] > 0
    unsoft = (arrays["video"] == arrays["background"]).all(axis=-1)
    assert not visible[unsoft].all()
    assert "rotation" in record["scenario"]
    for sprite in record["sprites"]:
        steps = np.degrees(np.diff(sprite["orientation"]))
        assert 10 <= abs(steps[0]) <= 20
        np.testing.assert_allclose(steps, steps[0], atol=1e-3)


def test_the_tables_of_a_split(clips):
    names = sorted(path.name for path in (clips / "plain").iterdir())
    assert "draws.parquet" in names
    assert "scenes.json" not in names
    index = json.loads((clips / "index.json").read_text())
    assert sorted(index["splits"]) == ["plain", "turning"]


def test_verify_finds_a_clip_that_was_tampered_with(clips, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(clips, out)
    tar = out / "plain" / "shard-00001.tar"
    data = bytearray(tar.read_bytes())
    data[700] ^= 1
    tar.write_bytes(bytes(data))
    failed = run("verify", out, code=1)
    assert "shard-00001.tar" in failed.stdout


def test_a_folder_of_pictures_named_beside_the_file(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    spec, pictures = tmp_path / "spec" / "tex.yaml", tmp_path / "spec" / "pictures"
    pictures.mkdir(parents=True)
    for name in ("a", "b"):
        pixels = rng.integers(0, 256, (120, 140, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(pictures / f"{name}.png")
    (pictures / "broken.png").write_bytes(b"no picture")
    spec.write_text(
        "family: texvmds\nvideo: {frames: 3, textures: pictures}\nsplits: {test: {samples: 8}}\n"
    )
    monkeypatch.chdir(tmp_path)
    run("generate", "spec/tex.yaml", "-o", "one", "--workers", 2)
    monkeypatch.chdir(spec.parent)
    run("generate", "tex.yaml", "-o", tmp_path / "two", "--workers", 1)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    run("verify", tmp_path / "one", "--rerender", 2)
    records = [
        json.loads(data)
        for name, data in members(tmp_path / "one", "test").items()
        if name.endswith("json")
    ]
    assert any("broken.png" in left_out for record in records for left_out in record["left_out"])
    assert str(tmp_path) not in json.dumps(records)
    (pictures / "c.png").write_bytes((pictures / "a.png").read_bytes())
    refused = run("generate", "tex.yaml", "-o", tmp_path / "two", code=2)
    assert "splits.test.source_digests.textures" in refused.stderr


def test_what_cannot_be_drawn_says_why(tmp_path):
    file = tmp_path / "tight.yaml"
    file.write_text(
        "family: vmds\nvideo: {margin_px: 31.9, tries: 64}\nsplits: {test: {samples: 2}}\n"
    )
    failed = run("generate", file, "-o", tmp_path / "out", "--workers", 1, code=1)
    assert "test/000000" in failed.stderr
    assert "tries" in failed.stderr or "margin" in failed.stderr


CORRUPTED = """\
family: vmds
video: {frames: 4}
shard_size: 4
dag: {nodes: {pixelate: {noise: {u: "Uniform(0.3, 1)"}, set: {scale: u}},
  gamma: {parents: [pixelate], noise: {h: HalfNormal(1)}, set: {gamma: 1 + h}},
  white_noise: {noise: {v: "Uniform(0.1, 0.3)"}, set: {factor: v}}}}
splits:
  test: {samples: 6}
  twins: {samples: 6, twin_of: test, do: {gamma.gamma: 1}}
"""


def test_a_causal_model_corrupts_clips(tmp_path, without_heavy_packages):
    file, out = tmp_path / "corrupted.yaml", tmp_path / "out"
    file.write_text(CORRUPTED)
    run("generate", file, "-o", out, "--workers", 1)
    run("generate", file, "-o", tmp_path / "again", "--workers", 2)
    assert digests(out) == digests(tmp_path / "again")
    assert re.search(r"ok +draws +test +6 +0", run("verify", out, "--rerender", 3).stdout)
    assert list(without_heavy_packages.glob("*.touched")) == []
    files, twins = members(out, "test"), members(out, "twins")
    names = ["gamma.npz", "json", "npz", "pixelate.npz", "white_noise.npz"]
    assert sorted(files) == sorted(f"{i:06d}.{name}" for i in range(6) for name in names)
    for i in range(6):
        clean, gamma, pixelate, noise = (
            np.load(io.BytesIO(files[f"{i:06d}.{name}npz"]))
            for name in ("", "gamma.", "pixelate.", "white_noise.")
        )
        assert (gamma["video"] <= pixelate["video"]).all()
        np.testing.assert_array_equal(gamma["masks"], pixelate["masks"])
        np.testing.assert_array_equal(noise["masks"], clean["masks"])
        assert not np.array_equal(noise["video"], clean["video"])
        for kind in ("npz", "pixelate.npz", "white_noise.npz"):
            assert twins[f"{i:06d}.{kind}"] == files[f"{i:06d}.{kind}"]
        assert twins[f"{i:06d}.gamma.npz"] == files[f"{i:06d}.pixelate.npz"]
        record = json.loads(twins[f"{i:06d}.json"])
        assert record["nodes"]["gamma"]["severity"] == 0
        assert record["interventions"]["twin_of"] == "test"


FLICKER = """\
family: vmds
video: {frames: 4}
shard_size: 4
dag: {nodes: {lens_distortion: {noise: {u: "Uniform(0.1, 0.4)"}, set: {distort: u}},
  white_noise: {noise: {v: "Uniform(0.1, 0.3)"}, set: {factor: v}}}}
per: frame
splits:
  test: {samples: 6}
  steady: {samples: 3, per: clip}
  twins: {samples: 6, twin_of: test, do: {white_noise.factor: 0.2}}
"""


def test_each_frame_may_have_a_draw_of_its_own(tmp_path, without_heavy_packages):
    file, out = tmp_path / "flicker.yaml", tmp_path / "out"
    file.write_text(FLICKER)
    run("generate", file, "-o", out, "--workers", 1)
    run("generate", file, "-o", tmp_path / "again", "--workers", 2)
    assert digests(out) == digests(tmp_path / "again")
    assert re.search(r"ok +draws +test +6 +0", run("verify", out, "--rerender", 3).stdout)
    assert list(without_heavy_packages.glob("*.touched")) == []
    table = pq.read_table(out / "test" / "draws.parquet")
    files, twins, steady = (members(out, name) for name in ("test", "twins", "steady"))
    for i in range(6):
        record = json.loads(files[f"{i:06d}.json"])
        draws = record["plan"]["frame_draws"]
        distort, factors = (
            [draw["nodes"][node]["parameters"][name] for draw in draws]
            for node, name in (("lens_distortion", "distort"), ("white_noise", "factor"))
        )
        assert (len(set(distort)), len(set(factors))) == (4, 4)
        assert record["nodes"] == draws[0]["nodes"]
        assert table.column("white_noise.factor")[i].as_py() == factors[0]
        assert_moved_along(files, i, distort)
        name = f"{i:06d}.lens_distortion.npz"
        assert twins[name] == files[name]
    held = json.loads(twins["000000.json"])["plan"]["frame_draws"]
    assert {draw["nodes"]["white_noise"]["parameters"]["factor"] for draw in held} == {0.2}
    assert json.loads(steady["000000.json"])["plan"]["frame_draws"] == []


def assert_moved_along(files, i, distort):
    """The more a frame is distorted, the smaller is what is seen of its sprites."""
    clean, moved = (
        np.load(io.BytesIO(files[f"{i:06d}.{name}npz"]))["masks"] > 0
        for name in ("", "lens_distortion.")
    )
    shares = moved.sum(axis=(1, 2)) / clean.sum(axis=(1, 2))
    assert not (moved == clean).all(axis=(1, 2)).any()
    assert shares[np.argmax(distort)] != shares[np.argmin(distort)]
