"""A recipe of one's own: from ``recipe new`` over ``recipe sweep`` to a dataset."""

import json
import tarfile

import numpy as np
import pytest

from .conftest import SMALL, run

pytestmark = [pytest.mark.blender, pytest.mark.slow]

SMALL_SWEEP = ("-n", 1, "--height", 48, "--width", 64, "--samples", 2)
DAG = """\
nodes:
  haze:
    noise:
      u: Uniform(0, 1)
    severity: u
  jpeg:
    parents: [haze]
    set:
      quality: 60 - 50 * haze.severity
"""


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "dag.yaml").write_text(DAG)
    file = tmp_path / "spec.yaml"
    file.write_text(SMALL.format(dag="dag.yaml").replace("samples: 6", "samples: 2"))
    return file


def test_from_recipe_new_to_a_dataset(tmp_path, spec):
    recipes, sweep, out = tmp_path / "mine", tmp_path / "sweep", tmp_path / "out"
    run("recipe", "new", "haze", "-o", recipes)
    refused = run("generate", spec, "-o", out, "--recipes", recipes, code=2)
    assert "recipe 'haze' has no measured curve yet" in refused.stderr
    assert "recipe sweep haze" in refused.stderr

    run("recipe", "sweep", "haze", "--recipes", recipes, "-o", sweep, *SMALL_SWEEP)
    assert sorted(path.name for path in sweep.iterdir()) == ["curve.json", "curve.png", "sheet.png"]
    curve = json.loads((sweep / "curve.json").read_text())
    assert (recipes / "haze.curve.json").read_bytes() == (sweep / "curve.json").read_bytes()
    assert np.all(np.diff(curve["mean"]["ssim"]) < 0)

    run("generate", spec, "-o", out, "--recipes", recipes)
    assert (out / "recipes" / "haze.curve.json").is_file()
    with tarfile.open(out / "test" / "shard-00000.tar") as shard:
        members = {item.name: shard.extractfile(item).read() for item in shard}
    for key in ("000000", "000001"):
        haze, jpeg = (json.loads(members[f"{key}.json"])["nodes"][n] for n in ("haze", "jpeg"))
        assert haze["severity"] == haze["noise"]["u"]
        strength = np.interp(
            haze["severity"], curve["map"]["severity"], curve["map"]["parameters"]["strength"]
        )
        assert haze["parameters"]["strength"] == pytest.approx(strength, abs=1e-5)
        assert jpeg["parameters"]["quality"] == 60 - 50 * haze["severity"]
        assert members[f"{key}.jpeg.png"] != members[f"{key}.haze.png"]
        assert members[f"{key}.jpeg.mask.png"] == members[f"{key}.clean.mask.png"]
    run("verify", out, "--recipes", recipes, "--rerender", 1)


def test_a_recipe_that_leaves_nan_is_named_with_file_line_and_sample(tmp_path, spec):
    recipes = tmp_path / "mine"
    run("recipe", "new", "haze", "-o", recipes)
    file = recipes / "haze.py"
    text = file.read_text().replace(
        'gray = context.number("gray")', 'gray = context.number("gray") * float("nan")'
    )
    file.write_text(text)
    line = 1 + next(n for n, text in enumerate(text.splitlines()) if text.startswith("def build"))
    (tmp_path / "dag.yaml").write_text("nodes:\n  haze:\n    set:\n      strength: 0.5\n")
    failed = run("generate", spec, "-o", tmp_path / "out", "--recipes", recipes, code=1)
    assert f"haze.py:{line}: recipe 'haze' gives NaN" in failed.stderr
    assert "test/000000" in failed.stderr
