"""Warnings about nodes that are applied before what they depend on."""

import pytest

from robustclevr.recipe import load_recipes
from robustclevr.spec import load_dag, stage_warnings

RECIPES = load_recipes()

MIXED = """
nodes:
  gamma:
    set: {gamma: 1.5}
  weather:
    latent: true
    parents: [gamma]
    set: {value: gamma.gamma}
  fog_volume:
    parents: [weather]
    set: {density: weather.value / 100}
  glare:
    parents: [fog_volume]
    set: {mix: 0.2}
"""


@pytest.fixture
def dag_of(tmp_path):
    def load(text):
        (tmp_path / "d.yaml").write_text(text)
        return load_dag(tmp_path / "d.yaml", RECIPES)

    return load


def test_a_scene_recipe_below_an_image_recipe_is_named_with_its_line(dag_of):
    (warning,) = stage_warnings(dag_of(MIXED))
    assert "d.yaml:9: 'fog_volume' is of the scene stage and lies below 'gamma'" in warning


def test_the_usual_order_gives_no_warning(dag_of):
    assert stage_warnings(dag_of("nodes:\n  gamma:\n    set: {gamma: 2}\n")) == ()
    assert stage_warnings(load_dag("chain-uniform", RECIPES)) == ()
