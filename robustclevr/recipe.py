"""What a recipe is, and how recipe files are found and loaded.

A recipe is one Python file with a module-level ``RECIPE`` and a function ``build`` (and, where
a numpy twin exists, ``apply``). Shipped and user recipes load through :func:`load_recipes`, by
path; a recipe file imports nothing heavy at module level, so loading one needs no Blender.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import json
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from robustclevr.errors import RecipeError, RecipeFileError, SpecError, suggest
from robustclevr.records import Value
from robustclevr.records.curve import Curve

REFERENCE_HEIGHT_PX = 240
"""Pixel-valued parameters are given for images of this height: CLEVR's, chosen by the design."""

_ID = re.compile(r"[a-z][a-z0-9_]*")
RESERVED_IDS = frozenset({"clean", "mask", "amodal", "depth", "normal", "flow", "json", "root"})
"""Names that files in a shard carry already; the formula functions are reserved beside them."""


OWN_RECIPES = "a recipe of your own needs --recipes DIR"
"""Hint where a recipe is not known."""


@dataclass(frozen=True)
class Parameter:
    """One number or option of a recipe.

    Parameters
    ----------
    name : str
    clean : float, bool or str
        Value that leaves the image as it is (role severity), or the default (role nuisance).
    role : str
        ``severity``: more of it is more degradation. ``nuisance``: an angle, a shape.
    worst : float, optional
        Value of severity 1; only for role severity.
    low, high : float
        Safe range; drawn values outside it are clamped when applied.
    choices : tuple of str
        Allowed words; makes the parameter an enumerated one.
    unit : str
        ``"1"``, ``"px"``, ``"rad"``, …
    source : str
        Where ``worst`` and the range come from.
    summary : str
        One line for ``recipe list``.
    """

    name: str
    clean: Value
    role: Literal["severity", "nuisance"] = "severity"
    worst: float | None = None
    low: float = float("-inf")
    high: float = float("inf")
    choices: tuple[str, ...] = ()
    unit: str = "1"
    source: str = ""
    summary: str = ""

    @property
    def kind(self) -> Literal["number", "integer", "boolean", "choice"]:
        """What a value may be."""
        if self.choices:
            return "choice"
        if isinstance(self.clean, bool):
            return "boolean"
        return "integer" if isinstance(self.clean, int) else "number"

    def clamp(self, value: Value) -> Value:
        """Return the value that is applied; integers are rounded down as the authors do."""
        if self.kind in ("choice", "boolean") or isinstance(value, str):
            return value
        inside = min(max(float(value), self.low), self.high)
        return int(inside) if self.kind == "integer" else inside


@dataclass(frozen=True)
class Recipe:
    """A corruption: what it is called, where it acts, which numbers it takes.

    Parameters
    ----------
    id : str
        Matches ``[a-z][a-z0-9_]*``; equals the file's name.
    summary : str
        One line.
    stage : str
        ``scene`` needs its own render, ``image`` runs in the compositor on the float image,
        ``encoded`` runs after encoding.
    geometry : str
        ``keeps``: labels stay. ``warps``: labels are carried along.
    parameters : tuple of Parameter
    needs : tuple of str
        Further passes, such as ``depth``.
    mask_instant : str
        For a recipe that shows a span of time: which instant of it the labels show, such as
        ``shutter center``. Empty for all others.
    curve : Curve or None
        The measured curve that lies beside the file; filled in when it is loaded.
    """

    id: str
    summary: str
    stage: Literal["scene", "image", "encoded"]
    geometry: Literal["keeps", "warps"]
    parameters: tuple[Parameter, ...]
    needs: tuple[str, ...] = ()
    mask_instant: str = ""
    curve: Curve | None = None

    def parameter(self, name: str) -> Parameter:
        """Return the parameter called ``name``; KeyError if there is none."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(name)

    def clean_parameters(self) -> dict[str, Value]:
        """Return the values that leave the image as it is."""
        return {parameter.name: parameter.clean for parameter in self.parameters}


@dataclass(frozen=True)
class LoadedRecipe:
    """A recipe together with the functions of its file.

    Attributes
    ----------
    recipe : Recipe
    path : Path
        The file.
    digest : str
        sha256 of the file.
    build : callable
        ``build(context)``: see ``robustclevr.blender`` (``compositor``, ``scene_context``) and,
        for recipes of stage ``encoded``, ``robustclevr.imaging.encoded``.
    apply : callable or None
        ``apply(image, params, seed)``: numpy twin on scene-linear float32 (H, W, 3).
    shipped : bool
        False for a user's own.
    """

    recipe: Recipe
    path: Path
    digest: str
    build: Callable[[Any], Any]
    apply: Callable[..., Any] | None = None
    shipped: bool = field(default=True)


def shipped_recipes_dir() -> Path:
    """Return the folder of the shipped recipe files, in a wheel as in a checkout."""
    package = Path(__file__).resolve().parent
    inside, beside = package / "recipes", package.parent / "recipes"
    return inside if inside.is_dir() else beside


def load_recipes(user_dirs: Iterable[Path] = ()) -> Mapping[str, LoadedRecipe]:
    """Load the shipped recipes and those of the user's folders.

    Parameters
    ----------
    user_dirs : iterable of Path
        Folders named with ``--recipes``.

    Returns
    -------
    mapping of str to LoadedRecipe
        Sorted by id.

    Raises
    ------
    SpecError
        If a folder is missing or holds no recipe, or an id is taken.
    RecipeError
        If a file raises when loaded or breaks the contract.
    """
    found: dict[str, LoadedRecipe] = {}
    for directory in (shipped_recipes_dir(), *user_dirs):
        files = sorted(directory.glob("[!_]*.py")) if directory.is_dir() else []
        if not files:
            raise SpecError.single(
                "no recipe files in this folder",
                file=str(directory),
                hint="--recipes takes a folder of Python files that each define RECIPE and build",
            )
        for path in files:
            loaded = load_recipe(path, shipped=directory == shipped_recipes_dir())
            if loaded.recipe.id in found:
                other = found[loaded.recipe.id].path
                raise SpecError.single(
                    f"recipe id '{loaded.recipe.id}' is taken by {other}",
                    file=str(path),
                    hint="give the file and its RECIPE another id",
                )
            found[loaded.recipe.id] = loaded
    return dict(sorted(found.items()))


def load_recipe(path: Path, *, shipped: bool = True) -> LoadedRecipe:
    """Load one recipe file; raises RecipeFileError naming the file if it breaks the contract."""
    module = _import_file(path)
    recipe = getattr(module, "RECIPE", None)
    if not isinstance(recipe, Recipe):
        raise RecipeFileError(f"{path}: defines no RECIPE of type robustclevr.recipe.Recipe")
    build = getattr(module, "build", None)
    if not callable(build):
        raise RecipeFileError(f"{path}: defines no function build(context)")
    for problem in _contract_problems(recipe, path):
        raise RecipeFileError(f"{path}: {problem}")
    recipe = dataclasses.replace(recipe, curve=_load_curve(path, recipe.id))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return LoadedRecipe(recipe, path, digest, build, getattr(module, "apply", None), shipped)


def get_recipe(recipes: Mapping[str, LoadedRecipe], recipe_id: str) -> LoadedRecipe:
    """Return a recipe by id; SpecError with the nearest spelling if there is none."""
    if recipe_id not in recipes:
        hint = f"{suggest(recipe_id, recipes)}; {OWN_RECIPES}"
        raise SpecError.single(f"unknown recipe '{recipe_id}'", hint=hint)
    return recipes[recipe_id]


def call_build(loaded: LoadedRecipe, context: Any) -> Any:
    """Call ``build(context)`` and return what it returns.

    Raises
    ------
    RecipeError
        If it raises; names the recipe's file and line.
    """
    try:
        return loaded.build(context)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == str(loaded.path)]
        line = lines[-1] if lines else first_line(loaded)
        raise RecipeError(f"{loaded.path}:{line}: {type(error).__name__}: {error}") from error


def first_line(loaded: LoadedRecipe) -> int:
    """Return the line on which ``build`` begins."""
    code = getattr(loaded.build, "__code__", None)
    return code.co_firstlineno if code else 1


def parameters_at(
    height: int, parameters: Mapping[str, Value], loaded: LoadedRecipe
) -> dict[str, Value]:
    """Return a step's parameters with those in pixels scaled from 240 rows to ``height``."""
    scale = height / REFERENCE_HEIGHT_PX
    in_pixels = {entry.name for entry in loaded.recipe.parameters if entry.unit == "px"}
    return {
        name: float(value) * scale if name in in_pixels else value
        for name, value in parameters.items()
    }


def is_recipe_id(text: str) -> bool:
    """Tell whether a text may be a recipe's id."""
    return _ID.fullmatch(text) is not None and text not in RESERVED_IDS


def curve_path(recipe_file: Path) -> Path:
    """Return where the measured curve of a recipe file lies, if there is one."""
    return recipe_file.with_name(f"{recipe_file.stem}.curve.json")


def _load_curve(path: Path, recipe_id: str) -> Curve | None:
    file = curve_path(path)
    if not file.is_file():
        return None
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        knots = (tuple(map(float, document["map"][key])) for key in ("severity", "fraction"))
        curve, measured = Curve(*knots), document["recipe"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecipeError(
            f"{file}: is no curve that 'recipe sweep' wrote: {type(error).__name__}: {error}"
        ) from error
    problem = curve.problem()
    if measured != recipe_id:
        problem = f"was measured with the recipe '{measured}', not '{recipe_id}'"
    if problem:
        raise RecipeError(f"{file}: {problem}; make it anew with 'recipe sweep'")
    return curve


def _import_file(path: Path) -> ModuleType:
    name = f"robustclevr_recipe_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RecipeFileError(f"{path}: is not a Python file")
    module = importlib.util.module_from_spec(spec)
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise RecipeFileError(f"{path}: {type(error).__name__} while loading: {error}") from error
    finally:
        sys.dont_write_bytecode = writes_bytecode
    return module


def _contract_problems(recipe: Recipe, path: Path) -> Iterable[str]:
    if not is_recipe_id(recipe.id):
        yield f"id '{recipe.id}' must match [a-z][a-z0-9_]* and not be reserved"
    if recipe.id != path.stem:
        yield f"id '{recipe.id}' must equal the file's name '{path.stem}'"
    names = [parameter.name for parameter in recipe.parameters]
    if len(set(names)) != len(names):
        yield "two parameters have one name"
    for parameter in recipe.parameters:
        if not parameter.unit or not parameter.source:
            yield f"parameter '{parameter.name}' needs a unit and a source"
        if parameter.role == "severity" and (
            parameter.worst is None or parameter.worst == parameter.clean
        ):
            yield f"severity parameter '{parameter.name}' needs a worst value other than clean"
    if not any(parameter.role == "severity" for parameter in recipe.parameters):
        yield "at least one parameter must have role 'severity'"
