"""How much each severity of a recipe degrades real renders.

Each scene is rendered once. On some scenes the degradation, 1 - SSIM, is measured along the way
from clean to worst parameters; the curve that makes its mean even in severity is fitted to that,
and tested at eleven severities on as many other scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RecipeError
from robustclevr.imaging import psnr, ssim
from robustclevr.plan import make_plan, plan_images
from robustclevr.recipe import LoadedRecipe, Recipe
from robustclevr.records import Plan, Render, Step, Value, Variant
from robustclevr.records.curve import Curve
from robustclevr.run.blender_process import BlenderProcess, RendererSetup
from robustclevr.run.shards import sample_name
from robustclevr.seeds import pixel_seed
from robustclevr.spec import RenderOptions, SplitSpec
from robustclevr.store.sample import develop

SEVERITIES = tuple(k / 10 for k in range(11))
"""Where a curve is tested."""

_HUNDREDTH = 0.01
"""A severity that must hardly be seen."""

FIT, TEST = "sweep-fit", "sweep-test"
"""Names of the random streams of the scenes."""

_IMAGE_GRID = tuple((k / 32) ** 2 for k in range(33))
"""Fractions of the way where a recipe is measured. Chosen: dense near clean, where many
corruptions degrade fastest, so that a hundredth of the severity is known too."""

_SCENE_GRID = tuple((k / 12) ** 3 for k in range(13))
"""The same for a recipe that costs a render at every point."""

_IMAGE_LOOK, _SCENE_LOOK = (21, 5), (11, 4)
"""Points of the second, finer look: even severities, and those of the grid nearest to clean."""

_SHEET_SCENES, _SHEET_STEP = 3, 2
"""How many scenes, and which severities of :data:`SEVERITIES`, are kept as pictures. Chosen."""

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class SweepOptions:
    """What a sweep measures on.

    Attributes
    ----------
    scenes : int
        Number of scenes for fitting, and of others for testing.
    render : RenderOptions
    root_seed : int
    """

    scenes: int
    render: RenderOptions
    root_seed: int = 0


@dataclass(frozen=True)
class Similarities:
    """Of images to the clean one.

    Attributes
    ----------
    scenes : tuple of str
    at : tuple of float
        Fractions or severities.
    ssim, psnr : ndarray of float64, shape (scenes, at)
        PSNR is infinite for equal images. [1], [dB]
    """

    scenes: tuple[str, ...]
    at: tuple[float, ...]
    ssim: FloatArray
    psnr: FloatArray


@dataclass(frozen=True)
class Sweep:
    """What was found out about one recipe.

    Attributes
    ----------
    recipe : Recipe
    curve : Curve
        Fitted to :attr:`fitted`.
    fitted : Similarities
        Along the way from clean to worst.
    tested : Similarities
        At :data:`SEVERITIES` of the curve, on other scenes.
    hundredth : float
        Mean of 1 - SSIM at severity 0.01 there.
    pictures : mapping of str to sequence of Variant
        Of the first tested scenes, at every second severity.
    ms_per_image : float
        What one image costs beside the clean one, in the renderer. [ms]
    options : SweepOptions
    versions : mapping of str to str
    """

    recipe: Recipe
    curve: Curve
    fitted: Similarities
    tested: Similarities
    hundredth: float
    pictures: Mapping[str, Sequence[Variant]]
    ms_per_image: float
    options: SweepOptions
    versions: Mapping[str, str]


def sweep(
    names: Sequence[str],
    split: SplitSpec,
    recipes: Mapping[str, LoadedRecipe],
    setup: RendererSetup,
    options: SweepOptions,
    on_scene: Callable[[str], None],
) -> Iterator[Sweep]:
    """Measure recipes together: all share the renders of the scenes.

    Parameters
    ----------
    names : sequence of str
        Ids of recipes.
    split : SplitSpec
        Says which scenes; its DAG and settings are not used.
    recipes : mapping of str to LoadedRecipe
    setup : RendererSetup
    options : SweepOptions
    on_scene : callable
        Hears the name of each scene that is done.

    Yields
    ------
    Sweep
        One for each name.

    Raises
    ------
    RecipeError
        If a recipe raises, breaks its contract, or changes no image at its worst.
    """
    with BlenderProcess(setup) as process:
        rig = _Rig(process, recipes, replace(split, dag=None, render=options.render), options)
        fitted = rig.measure(FIT, rig.grids(names), on_scene)
        curves = {name: fit_curve(fitted[name], name) for name in names}
        levels = {
            name: tuple(
                map(float, np.interp((*SEVERITIES, _HUNDREDTH), curve.severity, curve.fraction))
            )
            for name, curve in curves.items()
        }
        tested = rig.measure(TEST, levels, on_scene)
        for name in names:
            yield Sweep(
                recipe=recipes[name].recipe,
                curve=curves[name],
                fitted=fitted[name],
                tested=_first(tested[name], SEVERITIES),
                hundredth=1.0 - float(tested[name].ssim[:, -1].mean()),
                pictures=rig.pictures[name],
                ms_per_image=float(np.median(rig.cost_ms[name])),
                options=options,
                versions=process.versions,
            )


def fit_curve(measured: Similarities, name: str = "") -> Curve:
    """Return the curve that makes the mean of 1 - SSIM even.

    Parameters
    ----------
    measured : Similarities
        At fractions from 0 to 1; the mean need not increase everywhere.
    name : str
        Of the recipe, for messages.

    Returns
    -------
    Curve
        Where the mean stands still or falls, its knots are left out.

    Raises
    ------
    RecipeError
        If no image differs from the clean one.
    """
    degradation = np.maximum.accumulate(1.0 - measured.ssim.mean(axis=0))
    if degradation[-1] <= 0.0:
        raise RecipeError(
            f"recipe '{name}' at its worst changes no image of {', '.join(measured.scenes)}; "
            "there is no curve to fit"
        )
    share = np.round(degradation / degradation[-1], 6)
    severity, fraction = [0.0], [0.0]
    for level, place in zip(share.tolist(), measured.at, strict=True):
        if severity[-1] < level < 1.0:
            severity.append(level)
            fraction.append(place)
    return Curve((*severity, 1.0), (*fraction, 1.0))


@dataclass
class _Rig:
    """Renders scenes and measures the images of recipes on them."""

    process: BlenderProcess
    recipes: Mapping[str, LoadedRecipe]
    split: SplitSpec
    options: SweepOptions
    pictures: dict[str, dict[str, list[Variant]]] = field(default_factory=dict)
    cost_ms: dict[str, list[float]] = field(default_factory=dict)

    def grids(self, names: Sequence[str]) -> dict[str, tuple[float, ...]]:
        """Return where to measure each recipe: coarsely, and finely where one scene says so."""
        first = replace(self, options=replace(self.options, scenes=1), pictures={}, cost_ms={})
        coarse = {name: _grid(self.recipes[name].recipe) for name in names}
        found = first.measure(FIT, coarse, lambda _: None)
        return {
            name: _refined(self.recipes[name].recipe, fit_curve(found[name], name))
            for name in names
        }

    def measure(
        self, part: str, levels: Mapping[str, tuple[float, ...]], on_scene: Callable[[str], None]
    ) -> dict[str, Similarities]:
        """Return the similarities of each recipe at each of its fractions."""
        split = replace(self.split, name=part)
        found: dict[str, list[list[tuple[float, float]]]] = {name: [] for name in levels}
        scenes = []
        for index in range(self.options.scenes):
            plan = make_plan(split, self.recipes, root_seed=self.options.root_seed, index=index)
            scenes.append(sample_name(part, index))
            for name, fractions in levels.items():
                variants = self._render(plan, name, fractions)
                clean = variants[0].image
                found[name].append([(ssim(clean, v.image), psnr(clean, v.image)) for v in variants])
                if part == TEST and index < _SHEET_SCENES:
                    kept = self.pictures.setdefault(name, {})
                    kept[scenes[-1]] = variants[: len(SEVERITIES) : _SHEET_STEP]
            on_scene(scenes[-1])
        return {
            name: Similarities(tuple(scenes), levels[name], *np.moveaxis(np.array(pairs), -1, 0))
            for name, pairs in found.items()
        }

    def _render(self, plan: Plan, name: str, fractions: Sequence[float]) -> list[Variant]:
        """Return the image at each fraction; the first fraction is 0, the clean image."""
        seed = pixel_seed(plan.root_seed, plan.split, name, plan.index)
        steps = {
            str(number): (Step(name, name, way_point(self.recipes[name].recipe, at), at, seed),)
            for number, at in enumerate(fractions)
        }
        renders, images = plan_images(steps, self.recipes)
        plan = replace(plan, images=images, renders=renders)
        try:
            render = self.process.render(plan)
        except RecipeError as error:
            raise RecipeError(f"sample {sample_name(plan.split, plan.index)}: {error}") from error
        self.cost_ms.setdefault(name, []).append(_cost_ms(render, len(fractions) - 1))
        return [
            develop(image, render.labels, planned, self.recipes)
            for image, planned in zip(render.images, plan.images, strict=True)
        ]


def way_point(recipe: Recipe, fraction: float) -> dict[str, Value]:
    """Return the parameters that lie a fraction of the way from clean to worst."""
    values = recipe.clean_parameters()
    for parameter in recipe.parameters:
        if parameter.role == "severity" and parameter.worst is not None:
            clean = float(parameter.clean)
            values[parameter.name] = parameter.clamp(clean + fraction * (parameter.worst - clean))
    return values


def _first(measured: Similarities, at: tuple[float, ...]) -> Similarities:
    """Return the first columns, named anew."""
    count = len(at)
    return replace(measured, at=at, ssim=measured.ssim[:, :count], psnr=measured.psnr[:, :count])


def _grid(recipe: Recipe) -> tuple[float, ...]:
    return _SCENE_GRID if recipe.stage == "scene" else _IMAGE_GRID


def _refined(recipe: Recipe, curve: Curve) -> tuple[float, ...]:
    """Return where a first curve reaches even severities, and what the grid has near clean."""
    count, near_clean = _SCENE_LOOK if recipe.stage == "scene" else _IMAGE_LOOK
    even = np.interp(np.linspace(0.0, 1.0, count), curve.severity, curve.fraction)
    return tuple(sorted({*_grid(recipe)[:near_clean], *np.round(even, 6).tolist()}))


def _cost_ms(render: Render, images: int) -> float:
    seconds = render.seconds["compositor"] + (render.seconds["cycles"] if render.renders > 1 else 0)
    return 1000.0 * seconds / images
