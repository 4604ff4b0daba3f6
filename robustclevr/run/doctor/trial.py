"""Small renders that show whether Blender gives pictures, and that make it compile its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from robustclevr.plan import CLEAN, Planner, plan_images
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import Plan, Render, Step
from robustclevr.run.sweep import way_point
from robustclevr.spec import RenderOptions, load_dataset

SIZE_PX = 32
_SAMPLES = 4  # chosen: enough for every object to be lit
_DARK, _FLAT = 1e-3, 1e-4
"""Mean, and standard deviation, of a scene-linear picture below which it shows nothing. Chosen: a
tenth of a level of 255, and less; CLEVR's scenes have some tenths of either."""
_OUTPUTS = ("image", "mask", "amodal", "depth", "normal")
_EVERYTHING = "everything"


def trial_plan(recipes: Mapping[str, LoadedRecipe]) -> Plan:
    """Return the Plan of one small picture of CLEVR, without corruption."""
    split = load_dataset("clevr", recipes).splits[0]
    render = RenderOptions(SIZE_PX, SIZE_PX, _SAMPLES, denoise=False)
    return Planner(replace(split, render=render), recipes, root_seed=0).plan(0)


def prewarm_plan(recipes: Mapping[str, LoadedRecipe]) -> Plan:
    """Return a Plan of all that renders may ask of Cycles: every pass, every scene-stage recipe.

    Each recipe comes alone and all of them together: Cycles has OptiX compile programs for the
    features of the scene at hand, such as motion blur or volumes.
    """
    plan = trial_plan(recipes)
    steps = {
        name: (Step(name, name, way_point(loaded.recipe, 1.0), 1.0, seed=0),)
        for name, loaded in recipes.items()
        if loaded.recipe.stage == "scene"
    }
    together = tuple(step for own in steps.values() for step in own)
    renders, images = plan_images({CLEAN: (), **steps, _EVERYTHING: together}, recipes)
    return replace(plan, outputs=_OUTPUTS, renders=renders, images=images)


def judge(render: Render) -> str:
    """Return what is wrong with the first picture of a render, or nothing."""
    pixels = render.images[0].pixels
    if not np.isfinite(pixels).all():
        return f"{int((~np.isfinite(pixels)).sum())} of {pixels.size} values are not numbers"
    if pixels.mean() < _DARK:
        return f"it is black: its mean is {pixels.mean():.2g}"
    if pixels.std() < _FLAT:
        return f"it is of one color: its values are all {pixels.mean():.2g}"
    if not render.labels.any():
        return "no object is in it"
    return ""
