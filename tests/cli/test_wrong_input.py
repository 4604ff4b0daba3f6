"""Every mistake ends with exit code 2, file and line, and what to do; never with a traceback."""

import re
import sys
from pathlib import Path

import click
import pytest

from robustclevr.cli.main import cli

DAG = """\
name: mine
nodes:
  clouds:
    noise:
      h: HalfNormal(0.3)
    set:
      factor: h
  gamma:
    parents: [clouds]
    noise:
      h: HalfNormal(1)
    set:
      gamma: 1 + h
"""

DATASET = """\
family: clevr
dag: tree-uniform
splits:
  test: {samples: 2}
"""

WRONG_DAGS = {
    "unknown recipe": ("  gamma:\n", "  gama:\n", 8, "did you mean 'gamma'"),
    "unknown parameter": ("      gamma: 1 + h\n", "      gama: 1 + h\n", 13, "'gamma'"),
    "formula naming a non-parent": ("gamma: 1 + h", "gamma: 1 + glare.mix", 13, "glare"),
    "a cycle": ("  clouds:\n", "  clouds:\n    parents: [gamma]\n", None, "gamma"),
    "a wrong argument": ("HalfNormal(0.3)", "HalfNormal(scal=0.3)", 5, "scale"),
    "an argument out of range": ("HalfNormal(0.3)", "HalfNormal(-1)", 5, "scale"),
    "an unknown distribution": ("HalfNormal(0.3)", "HalfNorml(1)", 5, "HalfNormal"),
    "a comma inside braces": (
        "    set:\n      factor: h\n",
        "    set: {factor: min(h, 1)}\n",
        6,
        "quote",
    ),
    "an unknown key": ("    parents: [clouds]", "    parent: [clouds]", 9, "parents"),
    "a tab": ("      h: HalfNormal(0.3)", "\th: HalfNormal(0.3)", 5, "tab"),
    "an unknown parent": ("parents: [clouds]", "parents: [cloud]", 9, "clouds"),
    "a duplicate key": ("      factor: h\n", "      factor: h\n      factor: 1\n", 8, "factor"),
}

WRONG_DATASETS = {
    "a negative count": ("samples: 2", "samples: -1", 4, "-1"),
    "an unknown key": ("splits:", "shard_sise: 2\nsplits:", 3, "shard_size"),
    "an unknown split key": ("samples: 2", "sample: 2", 4, "samples"),
    "an unknown DAG": ("tree-uniform", "tree-unifrom", 2, "tree-uniform"),
    "an unknown family": ("family: clevr", "family: clever", 1, "clevr"),
    "a wrong image list": ("splits:", "emit: [glaer]\nsplits:", 3, "glare"),
    "an unknown output": ("splits:", "outputs: [image, msk]\nsplits:", 3, "mask"),
}


def wrong(text, change):
    old, new, line, named = change
    assert text.count(old) == 1
    return text.replace(old, new), line, named


@pytest.mark.parametrize("mistake", WRONG_DAGS)
def test_wrong_dags(robustclevr, tmp_path, mistake):
    text, line, named = wrong(DAG, WRONG_DAGS[mistake])
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    finished = robustclevr("dag", "check", file)
    assert finished.code == 2, finished
    place = f"mine.yaml:{line}" if line else r"mine.yaml:\d+"
    assert re.search(rf"{place}\b", finished.err), finished.err
    assert named in finished.err


@pytest.mark.parametrize("mistake", WRONG_DATASETS)
def test_wrong_datasets(robustclevr, tmp_path, mistake):
    text, line, named = wrong(DATASET, WRONG_DATASETS[mistake])
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    finished = robustclevr("generate", file, "-o", tmp_path / "out")
    assert finished.code == 2, finished
    assert f"mine.yaml:{line}" in finished.err, finished.err
    assert named in finished.err
    assert not (tmp_path / "out").exists()


def test_two_mistakes_in_one_file_are_both_named(robustclevr, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(DAG.replace("factor: h", "fctor: h").replace("HalfNormal(1)", "Halfnormal(1)"))
    finished = robustclevr("dag", "check", file)
    assert finished.code == 2
    assert "mine.yaml:7" in finished.err and "mine.yaml:11" in finished.err


def test_a_mistake_in_the_dag_and_one_in_the_dataset_are_both_named(robustclevr, tmp_path):
    (tmp_path / "bad.yaml").write_text(DAG.replace("gamma: 1 + h", "gamma: 1 + k"))
    file = tmp_path / "mine.yaml"
    file.write_text(DATASET.replace("tree-uniform", "bad.yaml").replace("samples: 2", "samples: 0"))
    finished = robustclevr("generate", file, "-o", tmp_path / "out")
    assert finished.code == 2
    assert "bad.yaml:13" in finished.err and "mine.yaml:4" in finished.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("generate", "nothing.yaml", "-o", "out"), "nothing.yaml"),
        (("generate", "robustclevr-iid-unifrom", "-o", "out"), "robustclevr-iid-uniform"),
        (("generate", "demo", "-o", "out", "--splits", "tset"), "test"),
        (("generate", "demo", "-o", "out", "--set", "splits.test.sample=1"), "samples"),
        (("generate", "demo", "-o", "out", "--set", "nonsense"), "PATH=VALUE"),
        (("generate", "demo", "-o", "out", "--shards", "3/3"), "0/3"),
        (("generate", "demo", "-o", "out", "--workers", "0"), "workers"),
        (("generate", "demo", "-o", "out", "--seed", "-1"), "-1"),
        (("generate", "demo"), "--output"),
        (("generate", "demo", "-o", "out", "--recipes", "no-such-folder"), "no-such-folder"),
        (("dag", "sample", "tree-uniform", "-n", "2", "-o", "draws.txt"), ".csv"),
        (("dag", "check", "nothing.yaml"), "nothing.yaml"),
        (("show", "glaer"), "glare"),
        (("preview", "demo", "-o", "sheet.jpg"), ".png"),
        (("nonsense",), "nonsense"),
    ],
)
def test_wrong_arguments(robustclevr, tmp_path, monkeypatch, arguments, named):
    monkeypatch.chdir(tmp_path)
    finished = robustclevr(*arguments)
    assert finished.code == 2, finished
    assert named in finished.err
    assert not list(tmp_path.iterdir())


def test_a_family_that_is_not_built_yet_says_so(robustclevr, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("family: clevrtex\nsplits:\n  test: {samples: 2}\n")
    finished = robustclevr("generate", file, "-o", tmp_path / "out")
    assert finished.code == 2
    assert finished.err.count("not built yet") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("ood: {gamma.gamma: [1.5, 2.0]}", "2.98"),
        ("tail: {of: joint, below: 0.01}", "same density"),
        ("shift: {gamma.u: DiscreteUniform(100)}", "change"),
        ("do: {gamma.gama: 2}", "gamma"),
        ("given: gamma.gama > 2", "gamma"),
        ("twin_of: tset", "train"),
    ],
)
def test_splits_that_cannot_be_drawn(robustclevr, tmp_path, change, named):
    file = tmp_path / "mine.yaml"
    file.write_text(
        DATASET.replace("{samples: 2}", f"{{samples: 2, {change}}}") + "  train: {samples: 1}\n"
    )
    finished = robustclevr("generate", file, "-o", tmp_path / "out")
    assert finished.code == 2, finished
    assert "mine.yaml:4: splits.test." in finished.err
    assert named in finished.err
    assert not (tmp_path / "out").exists()


def test_a_folder_without_a_dataset(robustclevr, tmp_path):
    for command in ("status", "verify", "index"):
        finished = robustclevr(command, tmp_path)
        assert finished.code == 1
        assert "dataset.json" in finished.err


def test_no_bpy_ends_with_exit_code_3_and_the_line_to_install_it(robustclevr, tmp_path):
    python = tmp_path / "python"
    # -S hides every installed package from the real interpreter.
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    finished = robustclevr("generate", "demo", "-o", tmp_path / "out", "--blender-python", python)
    assert finished.code == 3
    assert "pip install" in finished.err


def test_a_missing_blender_ends_with_exit_code_3(robustclevr, tmp_path):
    finished = robustclevr(
        "generate", "demo", "-o", tmp_path / "out", "--blender", tmp_path / "no-blender"
    )
    assert finished.code == 3
    assert "no-blender" in finished.err


def commands_that_write(group=cli, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands_that_write(command, (*path, name))
        elif any(parameter.name == "output" for parameter in command.params):
            yield (*path, name)


@pytest.mark.parametrize("path", [*commands_that_write()], ids=" ".join)
def test_an_empty_output_is_no_folder(path):
    command = cli
    for name in path:
        command = command.commands[name]
    (output,) = (parameter for parameter in command.params if parameter.name == "output")
    with pytest.raises(click.UsageError, match="an empty text names no file"):
        output.type.convert("", output, None)
    assert output.type.convert("here", output, None) == Path("here")


def test_bounds_of_dag_sample(robustclevr, tmp_path):
    for option, value, bound in (("-n", 10**10, 10**9), ("--start", 2**63, 2**62)):
        finished = robustclevr(
            *("dag", "sample", "tree-uniform", "-n", 1, option, value),
            *("-o", tmp_path / "draws.csv"),
        )
        assert finished.code == 2
        assert f"<={bound}" in finished.err


def test_a_dataset_without_a_family_is_named_with_a_line(robustclevr, tmp_path):
    (tmp_path / "spec.yaml").write_text("splits:\n  test: {samples: 2}\n")
    finished = robustclevr("generate", tmp_path / "spec.yaml", "-o", tmp_path / "out")
    assert finished.code == 2
    assert "spec.yaml:1: family: 'family' is missing" in finished.err
