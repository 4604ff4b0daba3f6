"""The schemas accept every shipped file, refuse common mistakes, and are the files in docs/."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from robustclevr.recipe import load_recipes
from robustclevr.spec import dag_text, dataset_text, list_dags, list_datasets, read_document
from robustclevr.spec.dag_schema import DagFile, NodeFile
from robustclevr.spec.dataset_schema import DatasetFile, SplitFile
from robustclevr.spec.json_schema import dag_schema, dataset_schema
from robustclevr.spec.library import catalog_dir, shipped_dags_dir

ROOT = Path(__file__).resolve().parents[3]
RECIPES = load_recipes()
SCHEMAS = {"dag": dag_schema(RECIPES), "dataset": dataset_schema()}
VALIDATORS = {kind: jsonschema.Draft202012Validator(schema) for kind, schema in SCHEMAS.items()}

SHIPPED = [("dag", dag_text(name)) for name in list_dags()]
SHIPPED += [("dataset", dataset_text(name)) for name in list_datasets()]


def errors(kind: str, text: str) -> list[str]:
    return [error.message for error in VALIDATORS[kind].iter_errors(read_document(text).data)]


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_schema_is_a_schema(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind])


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_file_in_docs_is_what_the_command_prints(kind: str) -> None:
    stored = json.loads((ROOT / "docs" / "schema" / f"{kind}.schema.json").read_text())
    assert stored == SCHEMAS[kind], (
        f"run: robustclevr schema {kind} > docs/schema/{kind}.schema.json"
    )


@pytest.mark.parametrize(("kind", "text"), SHIPPED)
def test_every_shipped_file_is_valid(kind: str, text: str) -> None:
    assert errors(kind, text) == []


@pytest.mark.parametrize(
    ("folder", "kind"), [(shipped_dags_dir(), "dag"), (catalog_dir(), "dataset")]
)
def test_every_shipped_file_names_its_schema(folder: Path, kind: str) -> None:
    for path in folder.glob("*.yaml"):
        first = path.read_text().splitlines()[0]
        start = "# yaml-language-server: $schema="
        assert first.startswith(start)
        named = (path.parent / first.removeprefix(start)).resolve()
        assert named == ROOT / "docs" / "schema" / f"{kind}.schema.json"


DAG = """\
name: mine
summary: One line.
order: [clouds, soft]
nodes:
  clouds:
    noise:
      h: HalfNormal(scale=0.3)
    set:
      factor: h
  weather:
    latent: true
    set:
      anything: 1
  soft:
    recipe: gaussian_blur
    parents: [clouds, weather]
    when: clouds.factor > 0.1
    set:
      size: 1e1
  lens_distortion:
    set: {fit: true, distort: clouds.factor}
  glare:
    set: {kind: streaks}
  gamma:
    recipe: defocus
    set: {z: 1}
"""
DATASET = """\
family: clevr
dag: mine.yaml
emit: [clean, joint]
scene: {objects: [3, 10], palette: cogent-a}
splits:
  train: {samples: 10, dag: null, emit: [clean]}
  test:
    samples: 10
    do: {gamma.gamma: 2}
    given: gamma.gamma > 1
    outputs: [image, depth]
"""

WRONG = [
    ("dag", "name: mine", "nme: mine"),
    ("dag", "nodes:", "node:"),
    ("dag", "  clouds:\n    noise", "  cloud:\n    noise"),
    ("dag", "HalfNormal(scale", "HalfNorml(scale"),
    ("dag", "h: HalfNormal(scale=0.3)", "h: 0.3"),
    ("dag", "      factor: h", "      factr: h"),
    ("dag", "    noise:", "    nois:"),
    ("dag", "latent: true", "latent: perhaps"),
    ("dag", "recipe: gaussian_blur", "recipe: gaussian_blurr"),
    ("dag", "size: 1e1", "z: 1e1"),
    ("dag", "size: 1e1", "size: [1]"),
    ("dag", "parents: [clouds, weather]", "parents: clouds"),
    ("dag", "parents: [clouds, weather]", "parents: [clouds, clouds]"),
    ("dag", "kind: streaks", "kind: ghosts"),
    ("dag", "set: {z: 1}", "set: {gamma: 1}"),
    ("dag", "  weather:", "  root:"),
    ("dag", "  weather:", "  Weather:"),
    ("dataset", "family: clevr", "family: clever"),
    ("dataset", "dag: mine.yaml", "dag: tree-unifrom"),
    ("dataset", "emit: [clean, joint]", "emit: every-nod"),
    ("dataset", "palette: cogent-a", "palette: cogent-c"),
    ("dataset", "objects: [3, 10]", "objects: [3]"),
    ("dataset", "  test:\n    samples: 10", "  test:\n    sample: 10"),
    ("dataset", "samples: 10, dag", "samples: -1, dag"),
    ("dataset", "outputs: [image, depth]", "outputs: [image, deep]"),
    ("dataset", "given: gamma.gamma > 1", "given: [1]"),
    ("dataset", "splits:", "split:"),
]


@pytest.mark.parametrize(("kind", "text"), [("dag", DAG), ("dataset", DATASET)])
def test_valid_spellings_are_accepted(kind: str, text: str) -> None:
    assert errors(kind, text) == []


@pytest.mark.parametrize(("kind", "right", "mistake"), WRONG)
def test_common_mistakes_are_refused(kind: str, right: str, mistake: str) -> None:
    text = {"dag": DAG, "dataset": DATASET}[kind]
    assert text.count(right) == 1
    assert errors(kind, text.replace(right, mistake))


def test_every_key_of_the_models_is_described_by_a_schema() -> None:
    dag, dataset = SCHEMAS["dag"], SCHEMAS["dataset"]
    assert dag["properties"].keys() == DagFile.model_fields.keys()
    assert dag["$defs"]["NodeFile"]["properties"].keys() == NodeFile.model_fields.keys()
    assert dataset["properties"].keys() == DatasetFile.model_fields.keys()
    assert dataset["$defs"]["SplitFile"]["properties"].keys() == SplitFile.model_fields.keys()


def test_parameters_carry_units_and_ends() -> None:
    blur = SCHEMAS["dag"]["$defs"]["recipe.gaussian_blur"]["properties"]["set"]["properties"]
    assert "[px]; clean 0.0, worst 11.0" in blur["size"]["description"]


def test_recipes_of_the_user_are_known_if_given() -> None:
    text = DAG.replace("  clouds:", "  smoke:").replace("[clouds, ", "[smoke, ")
    assert errors("dag", text)
    known: Any = dag_schema({**RECIPES, "smoke": RECIPES["clouds"]})
    found = jsonschema.Draft202012Validator(known).iter_errors(read_document(text).data)
    assert list(found) == []
