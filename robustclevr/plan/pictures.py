"""One picture's plan from its split's spec: the last place where anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping

from robustclevr.plan.draws import SplitDraws
from robustclevr.plan.images import plan_images, steps_of, variants_of
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import PICTURE_PLAN_VERSION, PicturePlan, SourcePicture
from robustclevr.spec import SplitSpec, pictures_of


class PicturePlanner:
    """Makes the plans of one split of existing pictures.

    Parameters
    ----------
    split : SplitSpec
        Of the family ``pictures``.
    recipes : mapping of str to LoadedRecipe
    root_seed : int

    Raises
    ------
    SpecError
        If the split asks for what its model does not have.
    """

    def __init__(
        self, split: SplitSpec, recipes: Mapping[str, LoadedRecipe], *, root_seed: int
    ) -> None:
        if split.dag is None:
            raise ValueError(f"split '{split.name}' has no DAG")
        self._split, self._dag, self._recipes = split, split.dag, recipes
        self._root_seed, self._engine = root_seed, pictures_of(split).engine
        self._draws = SplitDraws(split, root_seed=root_seed)

    def picture(self, index: int) -> int:
        """Return which picture a sample shows, counted from 0: a grid shows each several times."""
        return self._draws.source(index).index

    def plan(self, index: int, picture: SourcePicture) -> PicturePlan:
        """Draw one sample and write down all that it takes to make it from its picture.

        Parameters
        ----------
        index : int
            Sample index, >= 0.
        picture : SourcePicture
            What :meth:`picture` says.

        Raises
        ------
        SamplingError
            If a formula gives no number.
        """
        draw, source = self._draws.draw(index), self._draws.source(index)
        steps = {
            variant: steps_of(
                self._dag,
                draw,
                variant,
                root_seed=self._root_seed,
                split=source.split,
                index=source.index,
            )
            for variant in variants_of(self._dag, self._split.emit)
        }
        _, images = plan_images(steps, self._recipes)
        return PicturePlan(
            version=PICTURE_PLAN_VERSION,
            split=self._split.name,
            index=index,
            root_seed=self._root_seed,
            draw=draw,
            picture=picture,
            engine=self._engine,
            images=images,
        )
