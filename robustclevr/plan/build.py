"""One sample's Plan from its split's spec: the last place where anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robustclevr.plan.draws import Source, SplitDraws
from robustclevr.plan.images import CLEAN, JOINT, plan_images, steps_of, variants_of
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import PLAN_VERSION, Choice, Draw, Plan, RenderSettings, Step, Value
from robustclevr.scenes import sample_scene
from robustclevr.seeds import stream
from robustclevr.spec import SplitSpec

_CYCLES_SEEDS = 2**31  # Cycles takes a signed 32-bit integer


class Planner:
    """Makes the Plans of one split.

    Parameters
    ----------
    split : SplitSpec
    recipes : mapping of str to LoadedRecipe
    root_seed : int

    Raises
    ------
    SpecError
        If the split asks for what its model does not have, such as a tail of a constant density.
    """

    def __init__(
        self, split: SplitSpec, recipes: Mapping[str, LoadedRecipe], *, root_seed: int
    ) -> None:
        self._split, self._recipes, self._root_seed = split, recipes, root_seed
        self._changes: Mapping[str, Any] = split.interventions
        self._draws = None if split.dag is None else SplitDraws(split, root_seed=root_seed)

    @property
    def must_choose(self) -> bool:
        """True if a sample is chosen among candidates: see :meth:`probe`."""
        return "worst_case" in self._changes

    @property
    def metric(self) -> str:
        """Similarity by which a sample is chosen: ``ssim`` or ``psnr``."""
        return str(self._worst_case["metric"])

    def plan(self, index: int, choice: Choice | None = None) -> Plan:
        """Draw one sample and write down all that it takes to make it.

        Parameters
        ----------
        index : int
            Sample index, >= 0; may lie beyond ``split.samples``.
        choice : Choice, optional
            For a split that :attr:`must_choose`.

        Returns
        -------
        Plan
            Depends on the split's spec, the root seed and the index alone.

        Raises
        ------
        SamplingError
            If no scene can be placed, or a formula gives no number.
        """
        draw = self._draw(index, choice)
        steps = {
            variant: self._steps(draw, variant, index)
            for variant in variants_of(self._split.dag, self._split.emit)
        }
        return self._planned(index, draw, steps, choice)

    def probe(self, index: int) -> tuple[Plan, Sequence[Mapping[str, Value]]]:
        """Return a Plan of the clean image and of every candidate's joint image.

        Returns
        -------
        plan : Plan
            Its first image is ``clean``; the others belong to the candidates, in order.
        candidates : sequence of mapping of str to Value
            What each candidate holds the parameters at.
        """
        if self._draws is None:
            raise ValueError(f"split '{self._split.name}' has no DAG to choose from")
        budget = int(self._worst_case["budget"])
        candidates = [self._draws.candidate(index, number) for number in range(budget)]
        steps: dict[str, tuple[Step, ...]] = {CLEAN: ()}
        for number, values in enumerate(candidates):
            draw = self._draws.under(index, values)
            steps[f"candidate-{number}"] = self._steps(draw, JOINT, index)
        return self._planned(index, None, steps, None), candidates

    def choose(self, candidates: Sequence[Mapping[str, Value]], scores: Sequence[float]) -> Choice:
        """Return the choice of the candidate with the lowest similarity to the clean image."""
        return Choice(
            metric=self.metric,
            over=tuple(str(name) for name in self._worst_case["over"]),
            candidates=tuple(candidates),
            scores=tuple(scores),
            chosen=min(range(len(scores)), key=lambda number: scores[number]),
        )

    @property
    def _worst_case(self) -> Mapping[str, Any]:
        options: Mapping[str, Any] = self._changes["worst_case"]
        return options

    def _draw(self, index: int, choice: Choice | None) -> Draw | None:
        if self._draws is None:
            return None
        if choice is None:
            return self._draws.draw(index)
        return self._draws.under(index, choice.candidates[choice.chosen])

    def _source(self, index: int) -> Source:
        own = Source(self._split.name, index)
        return own if self._draws is None else self._draws.source(index)

    def _steps(self, draw: Draw | None, variant: str, index: int) -> tuple[Step, ...]:
        if draw is None or self._split.dag is None:
            return ()
        source = self._source(index)
        return steps_of(
            self._split.dag,
            draw,
            variant,
            root_seed=self._root_seed,
            split=source.split,
            index=source.index,
        )

    def _planned(
        self,
        index: int,
        draw: Draw | None,
        steps: Mapping[str, tuple[Step, ...]],
        choice: Choice | None,
    ) -> Plan:
        split, source = self._split, self._source(index)
        height, width = split.render.height, split.render.width
        renders, images = plan_images(steps, self._recipes)
        cycles = stream(self._root_seed, source.split, "cycles", source.index)
        return Plan(
            version=PLAN_VERSION,
            split=split.name,
            index=index,
            root_seed=self._root_seed,
            draw=draw,
            scene=sample_scene(
                split.scene,
                height=height,
                width=width,
                root_seed=self._root_seed,
                split=source.split,
                index=source.index,
            ),
            settings=RenderSettings(
                height=height,
                width=width,
                samples=split.render.samples,
                denoise=split.render.denoise,
                seed=int(cycles.integers(_CYCLES_SEEDS)),
            ),
            outputs=split.outputs,
            renders=renders,
            images=images,
            choice=choice,
        )


def make_plan(
    split: SplitSpec, recipes: Mapping[str, LoadedRecipe], *, root_seed: int, index: int
) -> Plan:
    """Return the Plan of one sample; a :class:`Planner` is quicker for many."""
    return Planner(split, recipes, root_seed=root_seed).plan(index)
