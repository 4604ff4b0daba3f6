"""One flipped bit in any file is found, and the same command repairs exactly what was broken."""

import json
import shutil

import numpy as np
import pytest

from robustclevr.recipe import load_recipes
from robustclevr.run.generate import GenerateOptions, generate
from robustclevr.spec import load_dataset
from robustclevr.verify import verify_dataset

from .conftest import digests, run

FLIPS = 100

SPEC = """\
name: verified
family: vmds
dag: dag.yaml
video: {height: 64, width: 64, frames: 2}
shard_size: 2
splits:
  test: {samples: 3}
  train: {samples: 2}
"""
DAG = """\
nodes:
  tint:
    noise:
      h: HalfNormal(0.3)
    set:
      strength: h
"""
RECIPE = '''\
"""Tint: a recipe of the user's own."""
import numpy as np
from robustclevr.recipe import Parameter, Recipe

RECIPE = Recipe(
    "tint", "less blue", "image", "keeps",
    (Parameter("strength", clean=0.0, worst=1.0, low=0.0, high=1.0, source="chosen"),),
)

def build(context):
    return context.image

def apply(image, params, seed):
    return image * np.array([1.0, 1.0, 1.0 - params["strength"]], np.float32)
'''


def _ignore(event):
    del event


class Made:
    """A dataset of clips with a recipe of the user's, and how it is made and verified."""

    def __init__(self, folder):
        self.recipes = folder / "mine"
        self.recipes.mkdir(parents=True)
        (self.recipes / "tint.py").write_text(RECIPE)
        (self.recipes / "unused.py").write_text(RECIPE.replace('"tint"', '"unused"'))
        (folder / "dag.yaml").write_text(DAG)
        self.loaded = load_recipes((self.recipes,))
        self.spec, self.out = folder / "spec.yaml", folder / "out"
        self.spec.write_text(SPEC)

    def generate(self):
        dataset = load_dataset(self.spec, self.loaded)
        options = GenerateOptions(workers=1)
        summary = generate(dataset, self.loaded, self.out, options, _ignore)
        assert summary.exit_code == 0

    def verify(self, out=None):
        return verify_dataset(out or self.out, self.loaded)

    def files(self):
        return sorted(path for path in self.out.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    made = Made(tmp_path_factory.mktemp("verified"))
    made.generate()
    return made


def flip(path, rng):
    """Flip one random bit of a file; return what undoes it."""
    data = bytearray(path.read_bytes())
    place, bit = rng.integers(len(data)), rng.integers(8)
    data[place] ^= 1 << bit
    before = path.read_bytes()
    path.write_bytes(data)
    return lambda: path.write_bytes(before)


def texts(report):
    return [str(problem) for result in report.results for problem in result.problems]


def test_a_sound_dataset_passes_every_check(made):
    report = made.verify()
    assert texts(report) == []
    assert {result.check for result in report.results} == {
        *("shards", "schema", "labels", "records", "table", "draws", "recomputed", "marginals"),
        *("duplicates", "files"),
    }
    names = {str(path.relative_to(made.out)) for path in made.files()}
    assert {"dataset.json", "index.json", "recipes/tint.py", "test/draws.parquet"} <= names
    assert "recipes/unused.py" not in names


def test_a_random_bit_in_any_file_is_found_a_hundred_times_of_a_hundred(made):
    rng = np.random.default_rng(7)
    files = made.files()
    found = 0
    for number in range(FLIPS):
        path = files[number % len(files)]
        undo = flip(path, rng)
        report = made.verify()
        undo()
        assert not report.passed, path
        assert any(str(path) in text for text in texts(report)), (path, texts(report))
        found += 1
    assert found == FLIPS
    assert made.verify().passed


def state(root):
    """Content, inode and time of last change of every file."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {
        str(path.relative_to(root)): (
            path.read_bytes(),
            path.stat().st_ino,
            path.stat().st_mtime_ns,
        )
        for path in files
    }


@pytest.mark.parametrize(
    "name",
    [
        *("dataset.json", "index.json", "recipes/tint.py", "test/draws.parquet"),
        "test/shard-00001.tar",
    ],
)
def test_the_same_command_repairs_what_was_broken_and_touches_nothing_else(made, name):
    before = state(made.out)
    flip(made.out / name, np.random.default_rng(3))
    made.generate()
    after = state(made.out)
    assert {path: entry[0] for path, entry in after.items()} == {
        path: entry[0] for path, entry in before.items()
    }
    assert {path for path in before if before[path] != after[path]} == {name}
    assert made.verify().passed


def test_a_broken_receipt_takes_its_shard_with_it(made):
    before = state(made.out)
    name = "train/shard-00000.receipt.json"
    flip(made.out / name, np.random.default_rng(3))
    made.generate()
    after = state(made.out)
    touched = {path for path in before if before[path] != after[path]}
    assert touched == {name, "train/shard-00000.tar"}
    assert after["train/shard-00000.tar"][0] == before["train/shard-00000.tar"][0]
    old, new = (json.loads(entry[name][0]) for entry in (before, after))
    assert {key for key in old if old[key] != new[key]} <= {"seconds", "digest"}


@pytest.fixture
def copy(made, tmp_path):
    return shutil.copytree(made.out, tmp_path / "copy")


def test_a_damaged_description_is_not_written_over_what_it_may_have_said(made, copy, tmp_path):
    flip(copy / "dataset.json", np.random.default_rng(0))
    fewer = tmp_path / "fewer.yaml"
    command = ("generate", fewer, "-o", copy, "--recipes", made.recipes)
    shutil.copy(made.spec.parent / "dag.yaml", tmp_path)
    for spec, reason in (
        (SPEC.replace("  train: {samples: 2}\n", ""), "the folder holds split 'train' too"),
        (SPEC.replace("samples: 3", "samples: 2"), "split 'test' has more samples than the 2"),
        (SPEC.replace("frames: 2", "frames: 3"), "split 'test' was made for another spec"),
    ):
        fewer.write_text(spec)
        finished = run(*command, code=1)
        assert "does not match its own digest" in finished.stderr
        assert reason in finished.stderr
        assert "--force" in finished.stderr
    fewer.write_text(SPEC)
    assert "it is written again" in run(*command).stderr
    assert digests(copy, receipts=True) == digests(made.out, receipts=True)


def damages():
    def truncated(root):
        path = root / "test" / "shard-00000.tar"
        path.write_bytes(path.read_bytes()[:-512])
        return path.name

    def removed(root):
        (root / "test" / "shard-00001.tar").unlink()
        return "shard-00001.tar"

    def without_receipt(root):
        (root / "test" / "shard-00001.receipt.json").unlink()
        return "has no receipt"

    def swapped(root):
        one, other = root / "test" / "shard-00000.tar", root / "train" / "shard-00000.tar"
        one_data, other_data = one.read_bytes(), other.read_bytes()
        one.write_bytes(other_data)
        other.write_bytes(one_data)
        return "train/shard-00000.tar"

    def foreign_receipt(root):
        shutil.copy(
            root / "test" / "shard-00000.receipt.json", root / "test" / "shard-00001.receipt.json"
        )
        return "is the receipt of test/0"

    def empty_table(root):
        (root / "train" / "draws.parquet").write_bytes(b"")
        return "draws.parquet"

    def stray(root):
        shutil.copy(root / "test" / "shard-00000.tar", root / "test" / "shard-00009.tar")
        return "shard-00009.tar: does not belong here"

    def without_recipe(root):
        (root / "recipes" / "tint.py").unlink()
        return "tint.py: is missing"

    return {
        function.__name__: function
        for function in (
            *(truncated, removed, without_receipt, swapped, foreign_receipt, empty_table),
            *(stray, without_recipe),
        )
    }


@pytest.mark.parametrize("name", damages())
def test_other_damage_to_files(made, copy, name):
    expected = damages()[name](copy)
    report = made.verify(copy)
    assert not report.passed
    assert any(expected in text for text in texts(report)), texts(report)


def test_a_file_beside_the_splits_is_only_noted(made, copy):
    (copy / "README.md").write_text("mine")
    report = made.verify(copy)
    assert report.passed
    assert any("README.md" in result.note for result in report.results)


def test_json_names_file_sample_values_and_remedy_and_is_the_same_for_any_workers(made, copy):
    path = copy / "test" / "shard-00001.tar"
    flip(path, np.random.default_rng(1))
    command = ("verify", copy, "--recipes", made.recipes, "--json", "--workers")
    one, two = (json.loads(run(*command, workers, code=1).stdout) for workers in (1, 2))
    for document in (one, two):
        for result in document["results"]:
            assert result.pop("seconds") >= 0
    assert one == two
    assert one["passed"] is False
    problems = [p for result in one["results"] for p in result["problems"]]
    assert all(
        p.keys() == {"what", "found", "expected", "file", "sample", "remedy"} for p in problems
    )
    assert any("it makes shard 1 again" in problem["remedy"] for problem in problems)


def test_without_the_users_recipes_the_message_says_where_they_are(made):
    finished = run("verify", made.out, code=1)
    assert "unknown recipe 'tint'" in finished.stdout
    assert "--recipes" in finished.stdout
    assert f"{made.out}/recipes" in finished.stdout
    run("verify", made.out, "--recipes", made.out / "recipes")
