"""Which images a draw calls for, and which steps make each of them.

The image of a node shows the node and its ancestors, inactive ones left out: scene-stage recipes
go into the render, image-stage recipes follow in the DAG's order, encoded ones come last.
"""

from __future__ import annotations

from collections.abc import Mapping

from robustclevr.recipe import LoadedRecipe
from robustclevr.records import Draw, ImagePlan, RenderPass, Step
from robustclevr.seeds import pixel_seed
from robustclevr.spec import DagSpec

CLEAN = "clean"
JOINT = "joint"


def variants_of(dag: DagSpec | None, emit: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the images a split stores, ``clean`` first, then in the DAG's order.

    Parameters
    ----------
    dag : DagSpec or None
    emit : str or tuple of str
        ``every-node``, or some of clean, leaves, joint and node ids.

    Returns
    -------
    tuple of str
        The same for every sample of the split, whichever nodes are active.
    """
    nodes = () if dag is None else tuple(node.id for node in dag.nodes if not node.latent)
    if emit == "every-node":
        return (CLEAN, *nodes)
    wanted = {emit} if isinstance(emit, str) else set(emit)
    if "leaves" in wanted and dag is not None:
        wanted |= set(dag.leaves())
    return tuple(name for name in (CLEAN, *nodes, JOINT) if name in wanted)


def steps_of(
    dag: DagSpec, draw: Draw, variant: str, *, root_seed: int, split: str, index: int
) -> tuple[Step, ...]:
    """Return the steps of all stages that make one image, in the DAG's order.

    Parameters
    ----------
    dag : DagSpec
    draw : Draw
    variant : str
        ``clean``, ``joint`` or a node id.
    root_seed, split, index : int, str, int
        Name the stream from which each node's pixel seed comes; a twin has its original's.
    """
    if variant == CLEAN:
        return ()
    all_ids = {node.id for node in dag.nodes}
    lineage = all_ids if variant == JOINT else dag.ancestors(variant) | {variant}
    steps = []
    for node in dag.nodes:
        drawn = draw.nodes[node.id]
        if node.recipe is None or node.id not in lineage or not drawn.active:
            continue
        steps.append(
            Step(
                node=node.id,
                recipe=node.recipe.id,
                parameters={**drawn.parameters, **drawn.clamped},
                severity=drawn.severity,
                seed=pixel_seed(root_seed, split, node.id, index),
                mask_instant=node.recipe.mask_instant,
            )
        )
    return tuple(steps)


def plan_images(
    variants: Mapping[str, tuple[Step, ...]], recipes: Mapping[str, LoadedRecipe]
) -> tuple[tuple[RenderPass, ...], tuple[ImagePlan, ...]]:
    """Sort the steps of each image into renders and compositor runs.

    Parameters
    ----------
    variants : mapping of str to tuple of Step
        Steps of each image, from :func:`steps_of`.
    recipes : mapping of str to LoadedRecipe

    Returns
    -------
    renders : tuple of RenderPass
        The clean render first, then one for each further set of scene-stage settings.
    images : tuple of ImagePlan
    """
    renders = [RenderPass(())]
    images = []
    for variant, steps in variants.items():
        by_stage: dict[str, list[Step]] = {"scene": [], "image": [], "encoded": []}
        for step in steps:
            by_stage[recipes[step.recipe].recipe.stage].append(step)
        # A step of severity 0 changes nothing: the clean render is its render.
        render = RenderPass(tuple(step for step in by_stage["scene"] if step.severity > 0))
        if render not in renders:
            renders.append(render)
        image, encoded = tuple(by_stage["image"]), tuple(by_stage["encoded"])
        images.append(ImagePlan(variant, renders.index(render), image, encoded))
    return tuple(renders), tuple(images)
