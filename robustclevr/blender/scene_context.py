"""What a scene-stage recipe's ``build`` works with: the built scene, before it is rendered."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from robustclevr.blender.scene import Stage
from robustclevr.errors import RecipeError
from robustclevr.recipe import REFERENCE_HEIGHT_PX, LoadedRecipe
from robustclevr.records import RenderSettings, Step, Value


@dataclass(frozen=True)
class SceneContext:
    """One application of a scene-stage recipe; ``build(context)`` changes the stage in place.

    Attributes
    ----------
    stage : Stage
        Blender's scene, camera, ground, objects and lights. It is thrown away after the render.
    parameters : mapping of str to Value
        All parameters of the recipe, clamped; those in pixels are scaled from 240 rows to
        :attr:`height`.
    seed : int
        Seed of whatever the recipe scatters, in [0, 2**24).
    height, width : int
        Size of the image. [px]
    """

    stage: Stage
    parameters: Mapping[str, Value]
    seed: int
    height: int
    width: int

    def number(self, name: str) -> float:
        """Return a parameter as a float."""
        return float(self.parameters[name])


def apply_scene_steps(
    stage: Stage,
    steps: Sequence[Step],
    recipes: Mapping[str, LoadedRecipe],
    settings: RenderSettings,
) -> None:
    """Apply scene-stage steps in order; those of severity 0 are left out.

    Raises
    ------
    RecipeError
        If a recipe raises; names its file and line.
    """
    for step in steps:
        if step.severity > 0:
            _apply(stage, step, recipes[step.recipe], settings)


def _apply(stage: Stage, step: Step, loaded: LoadedRecipe, settings: RenderSettings) -> None:
    scale = settings.height / REFERENCE_HEIGHT_PX
    in_pixels = {entry.name for entry in loaded.recipe.parameters if entry.unit == "px"}
    parameters = {
        name: float(value) * scale if name in in_pixels else value
        for name, value in step.parameters.items()
    }
    context = SceneContext(stage, parameters, step.seed, settings.height, settings.width)
    try:
        loaded.build(context)
    except Exception as error:
        line = _line_in(loaded.path, error) or loaded.build.__code__.co_firstlineno
        raise RecipeError(f"{loaded.path}:{line}: {type(error).__name__}: {error}") from error


def _line_in(path: Path, error: BaseException) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return lines[-1] if lines else None
