"""Everything the README shows runs, and nothing that exists goes unmentioned in the docs."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robustclevr.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
DOCS = {path.name: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def of_clips(words):
    return bool({"vmds", "clips"} & set(words))


def commands(text):
    for block in blocks(text, "bash"):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0] == "robustclevr":
                yield words[1:]


def execute(words, cwd):
    run = subprocess.run(
        [sys.executable, "-m", "robustclevr", *words], cwd=cwd, capture_output=True, text=True
    )
    assert run.returncode == 0, f"{words}: {run.stdout}{run.stderr}"
    return run


def test_thirty_seconds_without_blender(tmp_path):
    (code,) = [block for block in blocks(README, "python") if "SCM" in block]
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    mean, largest = map(float, run.stdout.split())
    assert 0 < mean < largest <= 1


def test_the_dag_of_the_readme_is_valid_and_samples(tmp_path):
    (text,) = [block for block in blocks(README, "yaml") if "# weather.yaml" in block]
    (tmp_path / "weather.yaml").write_text(text)
    mine = [words for words in commands(README) if "weather.yaml" in words]
    assert len(mine) == 2
    for words in mine:
        execute(words, tmp_path)


def test_commands_that_need_no_blender(tmp_path):
    mine = [
        words
        for words in commands(README)
        if words[0] in ("dag", "list") and "weather.yaml" not in words
    ]
    assert mine
    for words in mine:
        execute(words, tmp_path)


def test_the_clips_of_the_readme(tmp_path):
    """The README's own commands, with fewer clips."""
    mine = [words for words in commands(README) if of_clips(words)]
    assert [words[0] for words in mine] == ["generate", "preview", "verify"]
    for words in mine:
        few = ["--set", "splits.val.samples=20"] if words[0] == "generate" else []
        execute([*words, *few], tmp_path)
    (code,) = [block for block in blocks(README, "python") if "000017.npz" in block]
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("(10, 64, 64, 3) (10, 64, 64) (10, ")


@pytest.mark.blender
@pytest.mark.slow
def test_the_dataset_of_the_readme(tmp_path):
    """The README's own commands, with fewer and smaller samples."""
    small = ["--set", "splits.test.samples=2", "--set", "render.samples=2"]
    seen = set()
    for words in commands(README):
        if of_clips(words):
            continue
        name = words[0]
        seen.add(name)
        if name == "generate":
            execute([*words, *small], tmp_path)
        elif name == "preview":
            execute([*words, "--set", "render.samples=2"], tmp_path)
        elif name in ("verify", "status", "index"):
            execute(words, tmp_path)
    assert {"generate", "preview", "verify", "status", "index"} <= seen
    (code,) = [block for block in blocks(README, "python") if "Dataset" in block]
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) == 2


@pytest.mark.blender
def test_the_pictures_of_the_readme(tmp_path):
    for folder in ("photos", "masks"):
        (tmp_path / folder).mkdir()
        pixels = np.arange(48 * 64, dtype=np.uint8).reshape(48, 64) // 128
        Image.fromarray(pixels).save(tmp_path / folder / "1.png")
    (words,) = [words for words in commands(README) if words[0] == "corrupt"]
    execute(words, tmp_path)
    execute(["verify", "corrupted"], tmp_path)


def test_every_command_is_in_the_docs():
    everything = README + "".join(DOCS.values())
    for name, command in cli.commands.items():
        for full in (
            [f"{name} {child}" for child in command.commands]
            if hasattr(command, "commands")
            else [name]
        ):
            assert f"robustclevr {full}" in everything, full


def test_every_recipe_dag_and_dataset_is_in_the_docs():
    everything = README + "".join(DOCS.values())
    for pattern in ("recipes/[!_]*.py", "dags/*.yaml", "robustclevr/catalog/*.yaml"):
        for path in ROOT.glob(pattern):
            assert re.search(rf"`{path.stem}`", everything), path.stem


def test_links_to_files_lead_somewhere():
    for folder, text in ((ROOT, README), *((ROOT / "docs", text) for text in DOCS.values())):
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (folder / target).exists(), target
