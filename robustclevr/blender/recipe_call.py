"""How a recipe's ``build`` is called, whatever its stage."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robustclevr.errors import RecipeError
from robustclevr.recipe import REFERENCE_HEIGHT_PX, LoadedRecipe
from robustclevr.records import Value


def call_build(loaded: LoadedRecipe, context: Any) -> Any:
    """Call ``build(context)`` and return what it returns.

    Raises
    ------
    RecipeError
        If it raises; names the recipe's file and line.
    """
    try:
        return loaded.build(context)
    except Exception as error:
        line = _line_in(loaded.path, error) or loaded.build.__code__.co_firstlineno
        raise RecipeError(f"{loaded.path}:{line}: {type(error).__name__}: {error}") from error


def parameters_at(
    height: int, parameters: Mapping[str, Value], loaded: LoadedRecipe
) -> dict[str, Value]:
    """Return a step's parameters with those in pixels scaled from 240 rows to ``height``."""
    scale = height / REFERENCE_HEIGHT_PX
    in_pixels = {entry.name for entry in loaded.recipe.parameters if entry.unit == "px"}
    return {
        name: float(value) * scale if name in in_pixels else value
        for name, value in parameters.items()
    }


def _line_in(path: Path, error: BaseException) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return lines[-1] if lines else None
