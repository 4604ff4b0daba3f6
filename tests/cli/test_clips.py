"""Commands on clips: previews of both kinds, and what is refused."""

import numpy as np
import pytest
from PIL import Image

SPEC = "family: vmds\nvideo: {frames: 4}\nsplits: {test: {samples: 5}}\n"


@pytest.fixture
def spec(tmp_path):
    file = tmp_path / "clips.yaml"
    file.write_text(SPEC)
    return file


def test_a_sheet_of_frames(robustclevr, spec, tmp_path):
    out = tmp_path / "sheet.png"
    done = robustclevr("preview", spec, "-o", out, "-n", 2)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"{out}: 2 clips of 4 frames\n"
    with Image.open(out) as sheet:
        assert sheet.height > 2 * 128
        assert sheet.width > 4 * 128


def test_an_animation_of_a_spec_is_that_of_its_dataset(robustclevr, spec, tmp_path):
    assert robustclevr("generate", spec, "-o", tmp_path / "d", "--workers", 1).code == 0
    for source, name in ((spec, "spec.gif"), (tmp_path / "d", "data.gif")):
        assert robustclevr("preview", source, "-o", tmp_path / name, "-n", 3).code == 0
    assert (tmp_path / "spec.gif").read_bytes() == (tmp_path / "data.gif").read_bytes()
    with Image.open(tmp_path / "spec.gif") as picture:
        assert picture.n_frames == 4
        assert np.asarray(picture.convert("RGB")).shape == (260, 260, 3)


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        ("vmds", "x.jpg", "is not a PNG or GIF file; end the name in .png or .gif"),
        ("clevr", "x.gif", "is not a PNG file; end the name in .png"),
    ],
)
def test_other_files_are_refused(robustclevr, tmp_path, source, name, message):
    refused = robustclevr("preview", source, "-o", tmp_path / name)
    assert refused.code == 2
    assert message in refused.err


def test_a_dry_run_counts_clips(robustclevr, spec, tmp_path):
    done = robustclevr("generate", spec, "-o", tmp_path / "d", "--dry-run")
    assert done.code == 0
    assert "test: 5 samples, 0 renders" in done.out
    assert done.err == "measuring a sample of each kind of split; nothing is written\n"
    assert not (tmp_path / "d").exists()


def test_a_recipe_that_needs_blender_is_named(robustclevr, tmp_path):
    file = tmp_path / "clips.yaml"
    dag = "{nodes: {gamma: {set: {gamma: 2}}, fog: {set: {density: 0.1}}}}"
    file.write_text(f"family: vmds\ndag: {dag}\nsplits:\n  test: {{samples: 5}}\n")
    refused = robustclevr("generate", file, "-o", tmp_path / "d")
    assert refused.code == 2
    where = f"{file}:4: splits.test.dag: "
    assert f"{where}node 'fog' applies 'fog', which has no numpy twin and needs" in refused.err
    assert "on clips work bright_contrast, " in refused.err
    assert "node 'gamma'" not in refused.err
    assert not (tmp_path / "d").exists()
