"""What a scene-stage recipe's ``build`` works with: the built scene, before it is rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robustclevr.blender.recipe_call import call_build, parameters_at
from robustclevr.blender.scene import Stage
from robustclevr.recipe import LoadedRecipe
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
    parameters = parameters_at(settings.height, step.parameters, loaded)
    call_build(loaded, SceneContext(stage, parameters, step.seed, settings.height, settings.width))
