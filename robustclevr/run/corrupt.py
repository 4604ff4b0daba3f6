"""``robustclevr corrupt``: existing pictures become a dataset, through the same runs as scenes do.

Every picture is read once before the run, so that a broken one is known by name and left out,
and does not keep its shard unfinished.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec

from robustclevr.errors import SetupError, SpecError, StoreError
from robustclevr.pictures import PictureOptions, PictureSet
from robustclevr.recipe import LoadedRecipe
from robustclevr.run.blender_process import INSTALL_LINE, RendererCommand
from robustclevr.run.parallel import ordered_results
from robustclevr.spec import DatasetSpec, missing_twins, pictures_dataset

ENGINES = ("auto", "blender", "numpy")

_PART = 200
"""Pictures that a process checks at a time; chosen: about a second."""


@dataclass(frozen=True)
class Corruption:
    """What a run will do.

    Attributes
    ----------
    spec : DatasetSpec
    problems : tuple of str
        Why pictures are left out, each by name.
    """

    spec: DatasetSpec
    problems: tuple[str, ...]


def prepare_corruption(
    options: PictureOptions,
    dag: str,
    recipes: Mapping[str, LoadedRecipe],
    command: RendererCommand,
    *,
    overrides: Sequence[str] = (),
    seed: int = 0,
    workers: int | None = None,
) -> Corruption:
    """Find the pictures that can be used, and describe the dataset that a DAG makes of them.

    Parameters
    ----------
    options : PictureOptions
        ``engine`` may be ``auto``: Blender where it is, else numpy.
    dag : str
        Name or path.
    recipes : mapping of str to LoadedRecipe
    command : RendererCommand
        How Blender would be started.
    overrides : sequence of str
    seed : int
    workers : int, optional
        Processes that read pictures.

    Raises
    ------
    SpecError
        If the command says what cannot be, or no picture can be used.
    SetupError
        If there is no Blender and a recipe has no numpy twin.
    """
    # The DAG first: it is read at once, and a thousand pictures are not.
    everything = PictureSet(options)
    describe = partial(_described, dag, recipes, overrides, seed)
    engine = _engine(describe(options, everything), options.engine, recipes, command)
    found = dict(_check_all(options, everything, workers))
    usable = replace(options, engine=engine, left_out=tuple(sorted(found)))
    pictures = PictureSet(usable) if len(found) < len(everything.entries) else None
    if pictures is None:
        first = next(iter(found.values()))
        raise SpecError.single(f"no picture can be used; the first: {first}", file="IMAGES")
    return Corruption(describe(usable, pictures), tuple(found.values()))


def _described(
    dag: str,
    recipes: Mapping[str, LoadedRecipe],
    overrides: Sequence[str],
    seed: int,
    options: PictureOptions,
    pictures: PictureSet,
) -> DatasetSpec:
    return pictures_dataset(
        dag,
        recipes,
        options,
        samples=len(pictures.entries),
        has_masks=pictures.has_masks,
        overrides=overrides,
        seed=seed,
    )


def _engine(
    spec: DatasetSpec, wanted: str, recipes: Mapping[str, LoadedRecipe], command: RendererCommand
) -> str:
    """Return what applies the recipes: ``blender`` or ``numpy``."""
    if wanted != "numpy" and (wanted == "blender" or _has_blender(command)):
        return "blender"
    missing = sorted({name for split in spec.splits for name in missing_twins(split, recipes)})
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise SetupError(
            f"only Blender can apply {names}, which have no numpy twin; install it with:\n"
            f"    {INSTALL_LINE}\n"
            "or name another interpreter that has it with --blender-python PATH"
        )
    return "numpy"


def _has_blender(command: RendererCommand) -> bool:
    """Tell whether Blender is there; one that was named is taken at its word."""
    return command != RendererCommand() or find_spec("bpy") is not None


def _check_all(
    options: PictureOptions, pictures: PictureSet, workers: int | None
) -> list[tuple[str, str]]:
    count = len(pictures.entries)
    parts = [range(start, min(start + _PART, count)) for start in range(0, count, _PART)]
    checked = ordered_results(partial(check_part, options), parts, workers=workers)
    return [problem for part in checked for problem in part]


def check_part(options: PictureOptions, part: range) -> list[tuple[str, str]]:
    """Return name and problem of each picture of a part that cannot be used."""
    pictures = PictureSet(options)
    problems = []
    for index in part:
        entry = pictures.entries[index]
        try:
            pictures.decode(entry, pictures.read_bytes(entry))
        except StoreError as error:
            problems.append((entry.name, str(error)))
    return problems
