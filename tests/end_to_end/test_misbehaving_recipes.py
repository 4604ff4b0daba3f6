"""Recipes that hang, leave or eat memory: each ends within its limits, and stops nothing else."""

import json

import pytest

from .conftest import run

RECIPE = """\
import os, sys, time
from robustclevr.recipe import Parameter, Recipe

RECIPE = Recipe("{name}", "misbehaves", "image", "keeps",
    (Parameter("x", clean=0.0, worst=1.0, source="chosen"),))


def misbehave():
    print("about to {name}", flush=True)
    {deed}


def build(context):
    if context.number("x") > 0.5:
        misbehave()
    return context.image


def apply(image, params, seed):
    if params["x"] > 0.5:
        misbehave()
    return image
"""
DEEDS = {
    "sleep": "time.sleep(10_000)",
    "leave": "os._exit(3)",
    "eat": "held = [bytearray(b'x') * (64 << 20) for _ in range(10_000)]",
    "grumble": "print('Error: the texture is not there', file=sys.stderr, flush=True)",
}
# Every third sample has the deed, and the others have not.
DAG = """\
nodes:
  deed:
    recipe: {name}
    noise:
      u: DiscreteUniform(3)
    set:
      x: where(u > 0.5, 1, 0.25)
"""
IMAGES = """\
family: clevr
dag: {dag}
render: {{height: 24, width: 32, samples: 1}}
scene: {{objects: [3, 3]}}
shard_size: 4
splits:
  test: {{samples: 4}}
"""
CLIPS = """\
family: vmds
dag: {dag}
video: {{frames: 2, height: 16, width: 16}}
shard_size: 4
splits:
  test: {{samples: 4}}
"""


@pytest.fixture
def spec(tmp_path):
    """Return the file of a dataset some samples of which misbehave, and its folder of recipes."""

    def spec(name, text):
        recipes = tmp_path / "recipes"
        recipes.mkdir()
        deed = DEEDS[name]
        (recipes / f"{name}.py").write_text(RECIPE.format(name=name, deed=deed))
        (tmp_path / "dag.yaml").write_text(DAG.format(name=name))
        file = tmp_path / "spec.yaml"
        file.write_text(text.format(dag="dag.yaml"))
        return file, recipes

    return spec


def draws(spec, recipes):
    """Return which of four samples have the deed, by the command line itself."""
    table = spec.with_name("draws.csv")
    run(
        *("dag", "sample", spec.with_name("dag.yaml"), "-n", 4, "--split", "test"),
        *("--recipes", recipes, "-o", table),
    )
    header, *rows = [line.split(",") for line in table.read_text().splitlines()]
    column = header.index("deed.x")
    return [index for index, row in enumerate(rows) if float(row[column]) > 0.5]


def failed(log):
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return {line["sample"]: line for line in lines if line["event"] == "sample_failed"}, lines


@pytest.mark.blender
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "limits", "reason"),
    [
        ("sleep", ("--sample-timeout", 8), "did not answer within 8 s"),
        ("leave", (), "ended with exit code 3"),
        ("eat", ("--memory-limit", 1.5), "GiB of memory and may take 1.5"),
        ("grumble", (), "Error: the texture is not there"),
    ],
)
def test_in_blender(spec, tmp_path, name, limits, reason):
    file, recipes = spec(name, IMAGES)
    out, log = tmp_path / "out", tmp_path / "log"
    guilty = draws(file, recipes)
    assert 0 < len(guilty) < 3
    finished = run(
        *("generate", file, "-o", out, "--recipes", recipes, "--workers", 1),
        *(*limits, "--log-file", log),
        code=1,
    )
    failures, lines = failed(log)
    assert sorted(failures) == guilty
    for failure in failures.values():
        assert reason in failure["reason"]
        assert f"about to {name}" in failure["tail"]
        assert failure["tries"] == 2
    if name == "sleep":
        assert "sleep.py" in failures[guilty[0]]["tail"]  # where it hangs
    assert {line["sample"] for line in lines if line["event"] == "sample_done"} == {*range(4)} - {
        *guilty
    }
    assert reason in finished.stderr
    assert f"about to {name}" in finished.stderr
    assert f"--samples test:{guilty[0]}" in finished.stderr
    assert len(list(out.glob(".work/test/*/*.sample"))) == 4 - len(guilty)


@pytest.mark.parametrize(
    ("name", "limits", "reason", "tail"),
    [
        ("sleep", ("--sample-timeout", 2), "was still at", ""),
        ("leave", (), "ended with exit code 3", "about to leave"),
        ("eat", ("--memory-limit", 0.6), "GiB of memory and may take 0.6", "about to eat"),
    ],
)
def test_in_the_worker_itself(spec, tmp_path, name, limits, reason, tail):
    file, recipes = spec(name, CLIPS)
    out, log = tmp_path / "out", tmp_path / "log"
    guilty = draws(file, recipes)
    run(
        *("generate", file, "-o", out, "--recipes", recipes, "--workers", 1),
        *(*limits, "--log-file", log),
        code=1,
    )
    failures, lines = failed(log)
    assert sorted(failures) == guilty
    for failure in failures.values():
        assert reason in failure["reason"]
        assert tail in failure["tail"]
    if name == "sleep":
        assert f"{name}.py:" in failures[guilty[0]]["reason"]
    done = {line["sample"] for line in lines if line["event"] == "sample_done"}
    assert done == {*range(4)} - {*guilty}
