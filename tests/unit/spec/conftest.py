"""Recipes of these tests' own: what a spec may say does not depend on the shipped ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from robustclevr.recipe import LoadedRecipe, Parameter, Recipe


def loaded(recipe_id: str, *parameters: Parameter, folder: Path = Path("recipes")) -> LoadedRecipe:
    recipe = Recipe(recipe_id, "", "image", "keeps", parameters)
    return LoadedRecipe(recipe, folder / f"{recipe_id}.py", "0" * 64, build=lambda _: None)


@pytest.fixture
def recipes() -> Mapping[str, LoadedRecipe]:
    """Four recipes with parameters of all four kinds."""
    factor = Parameter("factor", 0.0, worst=1.0)
    all_recipes = (
        loaded("clouds", factor),
        loaded("gamma", Parameter("gamma", 1.0, worst=3.0)),
        loaded("gaussian_blur", Parameter("size", 0, worst=11.0, unit="px")),
        loaded(
            "glare",
            Parameter("mix", -1.0, worst=1.0),
            Parameter("kind", "star", role="nuisance", choices=("star", "streaks")),
            Parameter("fit", clean=True, role="nuisance"),
        ),
    )
    return {item.recipe.id: item for item in all_recipes}
