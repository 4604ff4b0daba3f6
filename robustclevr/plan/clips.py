"""One clip's plan from its split's spec: the last place where anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from robustclevr.errors import Problem, SpecError
from robustclevr.imaging.twins import without_twin
from robustclevr.plan.draws import Source, SplitDraws
from robustclevr.plan.images import steps_of, variants_of
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import (
    CLIP_PLAN_VERSION,
    ClipPlan,
    ClipVariant,
    Draw,
    VideoOptions,
)
from robustclevr.spec import DagSpec, SplitSpec
from robustclevr.video import sample_clip


class ClipPlanner:
    """Makes the plans of one split of clips.

    Parameters
    ----------
    split : SplitSpec
        Of a video family.
    recipes : mapping of str to LoadedRecipe
    root_seed : int

    Raises
    ------
    SpecError
        If its DAG applies a recipe that only Blender can apply, or the split asks for what its
        model does not have.
    """

    def __init__(
        self, split: SplitSpec, recipes: Mapping[str, LoadedRecipe], *, root_seed: int
    ) -> None:
        self._split, self._root_seed = split, root_seed
        self._options, self._written = clip_options(split), _paths_as_written(split)
        self._draws = None
        if split.dag is not None:
            _require_twins(split, split.dag, recipes)
            self._draws = SplitDraws(split, root_seed=root_seed)

    def plan(self, index: int) -> ClipPlan:
        """Draw one clip and write down all that it takes to make it.

        Parameters
        ----------
        index : int
            Sample index, >= 0; may lie beyond ``split.samples``.

        Returns
        -------
        ClipPlan
            Depends on the split's spec, the root seed and the index alone, and with a folder of
            textures on its pictures.

        Raises
        ------
        SamplingError
            If no trajectory stays within its bounds, no picture can be used, or a formula gives
            no number.
        """
        split, draws = self._split, self._draws
        source = Source(split.name, index) if draws is None else draws.source(index)
        each = () if draws is None else tuple(draws.draw(index, t) for t in range(draws.frames))
        return ClipPlan(
            version=CLIP_PLAN_VERSION,
            split=split.name,
            index=index,
            root_seed=self._root_seed,
            draw=each[0] if each else None,
            clip=sample_clip(
                self._options, root_seed=self._root_seed, split=source.split, index=source.index
            ),
            options=replace(
                self._options,
                dsprites=self._written["dsprites"],
                textures=self._written["textures"],
            ),
            outputs=split.outputs,
            variants=tuple(
                self._variant(variant, index, each)
                for variant in variants_of(split.dag, split.emit)
            ),
            frame_draws=each if split.per == "frame" else (),
        )

    def _variant(self, variant: str, index: int, each: tuple[Draw, ...]) -> ClipVariant:
        dag, draws = self._split.dag, self._draws
        if dag is None or draws is None:
            return ClipVariant(variant, ())
        stream = draws.source(index).split
        steps = tuple(
            steps_of(
                dag,
                draw,
                variant,
                root_seed=self._root_seed,
                split=stream,
                index=draws.position(index, t),
            )
            for t, draw in enumerate(each)
        )
        if self._split.per == "frame":
            return ClipVariant(variant, (), frames=steps)
        return ClipVariant(variant, steps[0])


def make_clip_plan(
    split: SplitSpec, recipes: Mapping[str, LoadedRecipe], *, root_seed: int, index: int
) -> ClipPlan:
    """Return the plan of one clip; a :class:`ClipPlanner` is quicker for many."""
    return ClipPlanner(split, recipes, root_seed=root_seed).plan(index)


def clip_options(split: SplitSpec) -> VideoOptions:
    """Return how a split's clips are drawn, with paths that lead somewhere on this machine.

    Raises
    ------
    ValueError
        If the split is of no video family.
    """
    if split.video is None:
        raise ValueError(f"split '{split.name}' of family '{split.family}' holds no clips")
    return split.video


def _paths_as_written(split: SplitSpec) -> dict[str, str | None]:
    written = split.document["video"]
    if not isinstance(written, dict):
        raise TypeError("the video of a split is a mapping")
    return {key: written.get(key) for key in ("dsprites", "textures")}


def _require_twins(split: SplitSpec, dag: DagSpec, recipes: Mapping[str, LoadedRecipe]) -> None:
    applied = {node.recipe.id: node.id for node in dag.nodes if node.recipe is not None}
    lacking = without_twin(applied, recipes)
    if not lacking:
        return
    have = [name for name in recipes if not without_twin([name], recipes)]
    raise SpecError(
        Problem(
            f"node '{applied[recipe_id]}' applies '{recipe_id}', which has no numpy twin and needs "
            "Blender",
            split.file or None,
            split.line,
            f"splits.{split.name}.dag",
            f"on clips work {', '.join(have)}",
        )
        for recipe_id in lacking
    )
