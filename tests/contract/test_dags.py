"""Every shipped DAG loads, names its source, and the paper's have the authors' numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from robustclevr.recipe import LoadedRecipe, load_recipes
from robustclevr.records import canonical_json
from robustclevr.spec import (
    DagSpec,
    dag_from_document,
    list_dags,
    load_dag,
    parse_distribution,
    parse_formula,
)

TURN = "6.283185307179586"
TREE = "gamma gaussian_blur defocus lens_distortion motion_blur white_noise clouds glare"
CHAIN = "clouds gaussian_blur gamma lens_distortion motion_blur defocus white_noise"
IDS = {
    "tree-uniform": TREE,
    "tree-halfnormal": TREE,
    "chain-uniform": CHAIN,
    "chain-halfnormal": CHAIN,
}


@pytest.fixture(scope="module")
def recipes() -> Mapping[str, LoadedRecipe]:
    return load_recipes()


@pytest.mark.parametrize("name", list_dags())
def test_a_shipped_dag_loads_and_says_where_it_is_from(
    name: str, recipes: Mapping[str, LoadedRecipe]
) -> None:
    dag = load_dag(name, recipes)
    assert dag.name == name
    assert dag.summary.endswith(".")
    assert "\n" not in dag.summary
    assert len(dag.summary) <= 100
    assert dag.source
    stored = json.loads(canonical_json(dag.document))
    assert dag_from_document(stored, recipes, file="stored").document == dag.document


@pytest.mark.parametrize("name", list_dags())
def test_a_shipped_dag_is_documented(name: str) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "dag-files.md"
    assert f"`{name}`" in page.read_text()


@pytest.mark.parametrize("name", IDS)
def test_the_papers_dags_apply_its_corruptions_in_its_order(
    name: str, recipes: Mapping[str, LoadedRecipe]
) -> None:
    dag = load_dag(name, recipes)
    assert [node.id for node in dag.nodes] == IDS[name].split()
    assert all(node.recipe is not None and node.recipe.id == node.id for node in dag.nodes)
    if name.startswith("tree"):
        assert all(not node.parents for node in dag.nodes)
    else:
        before = [(), *((node.id,) for node in dag.nodes)]
        assert [node.parents for node in dag.nodes] == before[:-1]


def noise(dag: DagSpec, path: str):
    node, _, name = path.partition(".")
    return next(item.distribution for item in dag.node(node).noise if item.name == name)


def formula(dag: DagSpec, path: str):
    node, _, name = path.partition(".")
    return next(item for item in dag.node(node).assignments if item.parameter == name)


# RobustCLEVR's TreeModel and TreeModelV2, ChainModel and ChainModelV3, written out once more.
DISTRIBUTIONS = {
    "tree-uniform": {
        "gamma.u": "DiscreteUniform(100)",
        "gaussian_blur.k": "Categorical(11)",
        "defocus.k": "Categorical(10)",
        "defocus.f": "Categorical(64)",
        "glare.a": "DiscreteUniform(100)",
    },
    "tree-halfnormal": {
        "gamma.h": "HalfNormal(1)",
        "gaussian_blur.k": "Categorical(logits=[11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])",
        "defocus.h": "HalfNormal(3)",
        "motion_blur.h": "HalfNormal(0.1)",
        "white_noise.h": "HalfNormal(0.25)",
        "clouds.h": "HalfNormal(0.3)",
        "glare.x": "Normal(0, 0.5)",
    },
    "chain-uniform": {
        "clouds.h": "HalfNormal(0.3)",
        "gaussian_blur.k": "Categorical(9)",
        "defocus.k": "Categorical(10)",
    },
    "chain-halfnormal": {
        "clouds.v": "DiscreteUniform(100)",
        "gaussian_blur.h": "HalfNormal(4)",
        "gamma.h": "HalfNormal(0.5)",
        "defocus.h": "HalfNormal(3)",
        "white_noise.h": "HalfNormal(0.5)",
    },
}
FORMULAS = {
    "tree-uniform": {
        "gamma.gamma": "1 + 2 * u",
        "gaussian_blur.size": "1 + k",
        "defocus.z": "1 + k",
        "defocus.f_stop": "64 + f",
        "lens_distortion.distort": "0.1 * u",
        "lens_distortion.dispersion": "0.5 * v",
        "motion_blur.distance": "0.1 * u",
        "motion_blur.angle": f"{TURN} * a",
        "white_noise.factor": "0.25 * u",
        "clouds.factor": "0.3 * u",
        "glare.mix": "u - 0.5",
        "glare.angle_offset": f"{TURN} * a",
    },
    "tree-halfnormal": {
        "gamma.gamma": "1 + h",
        "defocus.z": "1 + h",
        "lens_distortion.distort": "0.1 * h",
        "lens_distortion.dispersion": "0.5 * g",
        "motion_blur.distance": "h",
        "glare.mix": "x",
    },
    "chain-uniform": {
        "clouds.factor": "where(u > 0.75, h, 0)",
        "gaussian_blur.size": "where(clouds.factor > 0.2, 1, 1 + k)",
        "lens_distortion.distort": "where(gamma.gamma > 1.2, 0.05 * u, 0)",
        "lens_distortion.dispersion": "where(1 < gamma.gamma <= 1.2, 0.5 * v, 0)",
        "lens_distortion.fit": "distort > 0",
        "motion_blur.zoom": "where(lens_distortion.distort == 0, 0.1 * u, 0)",
        "motion_blur.distance": "where(lens_distortion.distort == 0, 0.05 * v, 0)",
        "white_noise.factor": "where(defocus.z < 4 or defocus.f_stop > 100, 0.2 * u, 0.05 * u)",
    },
    "chain-halfnormal": {
        "clouds.factor": "where(u > 0.75, 0.3 * v, 0)",
        "gaussian_blur.size": "where(clouds.factor > 0.2, 1, 1 + floor(h))",
        "gamma.gamma": "1 + where(gaussian_blur.size <= 3, 0.1 * h, h)",
    },
}


@pytest.mark.parametrize("name", IDS)
def test_the_papers_dags_have_the_authors_numbers(
    name: str, recipes: Mapping[str, LoadedRecipe]
) -> None:
    dag = load_dag(name, recipes)
    for path, text in DISTRIBUTIONS[name].items():
        assert noise(dag, path) == parse_distribution(text), path
    for path, text in FORMULAS[name].items():
        assert formula(dag, path).formula == parse_formula(text), path
    for node in dag.nodes:
        if node.id == "glare":
            assert formula(dag, "glare.kind").literal == "simple_star"
        if node.id == "motion_blur":
            assert formula(dag, "motion_blur.iterations").formula == parse_formula("12")
