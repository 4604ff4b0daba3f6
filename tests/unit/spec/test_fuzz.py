"""Whatever stands where in a file: a valid spec or a SpecError, never another exception."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robustclevr.errors import SpecError
from robustclevr.recipe import LoadedRecipe
from robustclevr.spec import load_dag, load_dataset

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

DAG_WORDS = [
    "nodes",
    "order",
    "name",
    "gamma",
    "glare",
    "clouds",
    "fog",
    "parents",
    "noise",
    "set",
    "when",
    "latent",
    "recipe",
    "severity",
    "mix",
    "factor",
    "kind",
    "u",
    "h",
    "a.b",
    "{}",
    "{0}",
    "\x00é",
]
DATASET_WORDS = [
    "family",
    "dag",
    "emit",
    "seed",
    "scene",
    "video",
    "scenario",
    "render",
    "outputs",
    "shard_size",
    "splits",
    "samples",
    "do",
    "shift",
    "given",
    "twin_of",
    "tail",
    "ood",
    "grid",
    "worst_case",
    "of",
    "below",
    "over",
    "objects",
    "test",
    "train",
    "clevr",
    "vmds",
    "clouds.h",
    "glare.mix",
    "glare",
    "tree-uniform",
]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["HalfNormal(1)", "Normal(0", "u > 0.5", "1 + h", "star", "every-node", "image", "", "{x}"]
    ),
)


def documents(words: list[str]) -> st.SearchStrategy:
    keys = st.sampled_from(words)
    leaves = st.one_of(VALUES, keys)
    return st.dictionaries(
        keys,
        st.recursive(
            leaves,
            lambda inner: st.one_of(
                st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4)
            ),
            max_leaves=12,
        ),
        max_size=6,
    )


@SAME_FOLDER
@given(document=documents(DAG_WORDS))
def test_any_mapping_is_a_dag_or_a_spec_error(
    document: dict[str, object], recipes: Mapping[str, LoadedRecipe], tmp_path: Path
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(json.dumps(document))  # JSON is YAML
    with contextlib.suppress(SpecError):
        load_dag(path, recipes)


@SAME_FOLDER
@given(nodes=documents(DAG_WORDS))
def test_any_nodes_are_a_dag_or_a_spec_error(
    nodes: dict[str, object], recipes: Mapping[str, LoadedRecipe], tmp_path: Path
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(json.dumps({"nodes": {"gamma": nodes, "glare": {"parents": ["gamma"]}}}))
    with contextlib.suppress(SpecError):
        load_dag(path, recipes)


@SAME_FOLDER
@given(document=documents(DATASET_WORDS), split=documents(DATASET_WORDS), valid=st.booleans())
def test_any_mapping_is_a_dataset_or_a_spec_error(
    document: dict[str, object],
    split: dict[str, object],
    valid: bool,
    recipes: Mapping[str, LoadedRecipe],
    tmp_path: Path,
) -> None:
    dag = {"nodes": {"glare": {"noise": {"u": "HalfNormal(1)"}, "set": {"mix": "u"}}, "clouds": {}}}
    if valid:
        document |= {"family": "clevr", "splits": {"test": {"samples": 1, "dag": dag, **split}}}
    path = tmp_path / "x.yaml"
    path.write_text(json.dumps(document))
    with contextlib.suppress(SpecError):
        load_dataset(path, recipes)


@SAME_FOLDER
@given(options=st.lists(st.text(alphabet="splits.tedomnax=[]{}1,' "), max_size=3))
def test_any_option_is_an_override_or_a_spec_error(
    options: list[str], recipes: Mapping[str, LoadedRecipe], tmp_path: Path
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("family: clevr\nsplits: {test: {samples: 1}}\n")
    with contextlib.suppress(SpecError):
        load_dataset(path, recipes, overrides=options)
