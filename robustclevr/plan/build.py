"""One sample's Plan from its split's spec: the last place where anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping

from robustclevr.plan.images import plan_images, steps_of, variants_of
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import PLAN_VERSION, Plan, RenderSettings, Step
from robustclevr.scenes import sample_scene
from robustclevr.scm import SCM, DrawTable
from robustclevr.seeds import stream
from robustclevr.spec import SplitSpec

_CYCLES_SEEDS = 2**31  # Cycles takes a signed 32-bit integer


def make_plan(
    split: SplitSpec, recipes: Mapping[str, LoadedRecipe], *, root_seed: int, index: int
) -> Plan:
    """Draw one sample and write down all that it takes to make it.

    Parameters
    ----------
    split : SplitSpec
    recipes : mapping of str to LoadedRecipe
    root_seed : int
    index : int
        Sample index, >= 0; may lie beyond ``split.samples``.

    Returns
    -------
    Plan
        Depends on the split's spec, the root seed and the index alone.

    Raises
    ------
    SamplingError
        If no scene can be placed, or a formula gives no number.
    """
    draw = None
    if split.dag is not None:
        draw = SCM(split.dag).draw(seed=root_seed, split=split.name, index=index)
    scene = sample_scene(
        split.scene,
        height=split.render.height,
        width=split.render.width,
        root_seed=root_seed,
        split=split.name,
        index=index,
    )
    steps: dict[str, tuple[Step, ...]] = {}
    for variant in variants_of(split.dag, split.emit):
        steps[variant] = ()
        if split.dag is not None and draw is not None:
            steps[variant] = steps_of(
                split.dag, draw, variant, root_seed=root_seed, split=split.name
            )
    renders, images = plan_images(steps, recipes)
    cycles_seed = int(stream(root_seed, split.name, "cycles", index).integers(_CYCLES_SEEDS))
    return Plan(
        version=PLAN_VERSION,
        split=split.name,
        index=index,
        root_seed=root_seed,
        draw=draw,
        scene=scene,
        settings=RenderSettings(
            height=split.render.height,
            width=split.render.width,
            samples=split.render.samples,
            denoise=split.render.denoise,
            seed=cycles_seed,
        ),
        outputs=split.outputs,
        renders=renders,
        images=images,
    )


def plan_draws(split: SplitSpec, *, root_seed: int, start: int, count: int) -> DrawTable | None:
    """Return the draws of consecutive samples as a table; None for a split without a DAG.

    Row k equals the Draw of ``make_plan(…, index=start + k)``.
    """
    if split.dag is None:
        return None
    return SCM(split.dag).sample(count, seed=root_seed, split=split.name, start=start)
