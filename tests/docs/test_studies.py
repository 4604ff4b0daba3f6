"""The studies of the docs run, at the size of a toy."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

STUDIES = Path(__file__).resolve().parents[2] / "docs" / "studies"


def test_the_robustness_study(tmp_path):
    small = ["--train", "4", "--test", "3", "--steps", "2", "--batch", "2", "--device", "cpu"]
    run = subprocess.run(
        [sys.executable, STUDIES / "robustness_study.py", "-o", tmp_path, *small],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    scores = json.loads((tmp_path / "scores" / "scores.json").read_text())
    assert scores["images"] == 3 * 8
    nodes = list(scores["by_severity"])
    assert len(nodes) == 7 and set(scores["compare"]["by_severity"]) == set(nodes)
    for variant in ("clean", *nodes):
        assert f"\n{variant} " in run.stdout
    for name in ("severity_fg_ari.svg", "severity_miou.svg", "scores.svg"):
        assert (tmp_path / "scores" / name).stat().st_size > 1000


@pytest.mark.parametrize("family", ["vmds", "clevr"])
@pytest.mark.parametrize("full", [False, True], ids=["small", "full"])
def test_the_datasets_of_the_study_are_valid(tmp_path, family, full):
    from robustclevr.recipe import load_recipes
    from robustclevr.spec import load_dataset

    names = runpy.run_path(str(STUDIES / "robustness_study.py"))
    text = names["SPECS"][family].format(
        train=10, test=5, dag="chain-halfnormal", render=names["RENDER"][full]
    )
    (tmp_path / "study.yaml").write_text(text)
    spec = load_dataset(str(tmp_path / "study.yaml"), load_recipes())
    train, test = sorted(spec.splits, key=lambda split: split.name, reverse=True)
    assert train.dag is None and test.dag is not None
