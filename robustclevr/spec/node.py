"""One node of a DAG file to a :class:`NodeSpec`; every error is noted in the document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from robustclevr.errors import suggest
from robustclevr.recipe import OWN_RECIPES, RESERVED_IDS, LoadedRecipe, Parameter, Recipe
from robustclevr.spec.dag_schema import NodeFile
from robustclevr.spec.document import Document, join
from robustclevr.spec.expression import Expression
from robustclevr.spec.formula_entry import (
    read_assignment,
    read_distribution,
    read_formula,
    read_truth,
)
from robustclevr.spec.grammar import FUNCTIONS, KEYWORDS
from robustclevr.spec.model import Assignment, NodeSpec, NoiseSpec
from robustclevr.spec.schema import show
from robustclevr.spec.scope import Kinds, Scope, parameter_kinds

_ID = re.compile(r"[a-z][a-z0-9_]*")
_FORMULA_WORDS = frozenset(FUNCTIONS) | KEYWORDS

NODE_WORDS = RESERVED_IDS | {"joint", "leaves"} | _FORMULA_WORDS
"""Names that no node may have: they name files, images to emit, or functions."""

VARIABLE_WORDS = frozenset({"severity", "active", "noise", "log_density"}) | _FORMULA_WORDS
"""Names that no noise and no value of a latent node may have: columns of a table, functions."""


@dataclass(frozen=True)
class Surroundings:
    """What all nodes of a file share.

    Attributes
    ----------
    document : Document
        Receives the problems.
    files : mapping of str to NodeFile
        Every node as written.
    recipes : mapping of str to LoadedRecipe
    fields : mapping
        As :attr:`Scope.fields`.
    """

    document: Document
    files: Mapping[str, NodeFile]
    recipes: Mapping[str, LoadedRecipe]
    fields: Mapping[str, Kinds | None]


def surroundings(
    document: Document, files: Mapping[str, NodeFile], recipes: Mapping[str, LoadedRecipe]
) -> Surroundings:
    """Gather what every node lets the others read."""
    fields: dict[str, Kinds | None] = {}
    for name, file in files.items():
        path = join("nodes", name)
        recipe_id = file.recipe or name
        if file.latent:
            written = {*file.set, *document.broken_below(join(path, "set"))}
            hidden = document.broken & {path, join(path, "set")}
            fields[name] = None if hidden else dict.fromkeys(written, "any")
        elif recipe_id in recipes:
            fields[name] = parameter_kinds(recipes[recipe_id].recipe)
        else:
            fields[name] = None
    for path in document.broken_below("nodes"):
        fields.setdefault(path.partition(".")[0], None)
    return Surroundings(document, files, recipes, fields)


def read_node(name: str, around: Surroundings) -> NodeSpec:
    """Return one node; what is wrong with it is noted and left out."""
    return _Reader(name, around).node()


class _Reader:
    def __init__(self, name: str, around: Surroundings) -> None:
        self._name, self._path = name, join("nodes", name)
        self._file = around.files[name]
        self._around, self._document = around, around.document

    def node(self) -> NodeSpec:
        _check_id(self._document, self._path, self._name, NODE_WORDS)
        loaded = self._recipe()
        noise = tuple(self._noise(loaded.recipe if loaded else None))
        return NodeSpec(
            id=self._name,
            recipe=loaded.recipe if loaded else None,
            parents=tuple(self._parents()),
            when=self._when(),
            when_text="" if self._file.when is None else _text(self._file.when),
            noise=noise,
            assignments=tuple(self._assignments(loaded.recipe if loaded else None)),
            severity=self._severity(loaded),
            line=self._document.line(self._path),
        )

    def _recipe(self) -> LoadedRecipe | None:
        recipe_id = self._file.recipe or self._name
        if self._file.latent:
            if self._file.recipe is not None:
                what = "a latent node has no recipe"
                self._problem("recipe", what, "remove 'recipe' or 'latent: true'")
            return None
        if recipe_id not in self._around.recipes:
            where = "recipe" if self._file.recipe else ""
            hint = f"{suggest(recipe_id, self._around.recipes)}; {OWN_RECIPES}"
            if not self._file.recipe:
                hint += "; a node without a recipe says 'latent: true'"
            self._problem(where, f"unknown recipe '{recipe_id}'", hint)
            return None
        return self._around.recipes[recipe_id]

    def _parents(self) -> Iterator[str]:
        seen: set[str] = set()
        for index, parent in enumerate(self._file.parents):
            path = join("parents", index)
            if parent in seen:
                self._problem(path, f"'{parent}' stands twice")
            elif parent not in self._around.fields:
                hint = suggest(parent, self._around.fields.keys() - {self._name})
                self._problem(path, f"there is no node '{parent}'", hint)
            elif parent in self._around.files:
                yield parent
            seen.add(parent)

    def _noise(self, recipe: Recipe | None) -> Iterator[NoiseSpec]:
        parameters = set(self._file.set) | (set(parameter_kinds(recipe)) if recipe else set())
        for name, text in self._file.noise.items():
            path = join(self._path, "noise", name)
            _check_id(self._document, path, name, VARIABLE_WORDS)
            if name in parameters:
                what = f"the noise '{name}' has the name of a parameter of this node"
                self._document.problem(path, what, "rename the noise")
            distribution = read_distribution(self._document, path, text)
            if distribution is not None:
                yield NoiseSpec(name, distribution, text, self._document.line(path))

    def _when(self) -> Expression | None:
        value = self._file.when
        if value is None or value is True:
            return None
        if self._file.latent:
            what = "a latent node has no clean value to fall back to, so it cannot be inactive"
            self._problem("when", what, "put the condition into its formula: where(…, …, …)")
            return None
        path = join(self._path, "when")
        return read_truth(self._document, path, value, self._scope({}, self._file.set))

    def _assignments(self, recipe: Recipe | None) -> Iterator[Assignment]:
        kinds = parameter_kinds(recipe) if recipe else {}
        earlier: dict[str, str] = {}
        waiting = list(self._file.set)
        for name, value in self._file.set.items():
            path = join(self._path, "set", name)
            scope = self._scope(earlier, waiting)
            parameter = self._parameter(recipe, name, path)
            if parameter is not None or recipe is None:
                assignment = read_assignment(self._document, path, value, parameter, scope=scope)
                if assignment is not None:
                    yield assignment
            waiting.remove(name)
            earlier[name] = kinds.get(name, "any")

    def _parameter(self, recipe: Recipe | None, name: str, path: str) -> Parameter | None:
        if recipe is None:
            if self._file.latent:
                _check_id(self._document, path, name, VARIABLE_WORDS)
            return None
        if name not in parameter_kinds(recipe):
            hint = suggest(name, parameter_kinds(recipe))
            self._document.problem(path, f"recipe '{recipe.id}' has no parameter '{name}'", hint)
            return None
        return recipe.parameter(name)

    def _severity(self, loaded: LoadedRecipe | None) -> Assignment | None:
        value = self._file.severity
        if value is None:
            return None
        path = join(self._path, "severity")
        if self._file.latent:
            self._problem("severity", "a latent node has no severity")
        if loaded:
            self._check_severity(loaded)
        formula = read_formula(self._document, path, value, self._scope({}, self._file.set))
        if formula is None:
            return None
        return Assignment("severity", formula, None, _text(value), self._document.line(path))

    def _check_severity(self, loaded: LoadedRecipe) -> None:
        recipe = loaded.recipe
        if recipe.curve is None:
            what = f"recipe '{recipe.id}' has no measured curve yet"
            hint = f"set its parameters, or measure one: robustclevr recipe sweep {recipe.id}"
            self._problem("severity", what, hint)
        roles = {parameter.name: parameter.role for parameter in recipe.parameters}
        for name in self._file.set:
            if roles.get(name) == "severity":
                what = f"'severity' sets the parameter '{name}' already"
                self._problem(join("set", name), what, "keep one of the two")

    def _scope(self, earlier: Kinds, waiting: list[str] | Mapping[str, object]) -> Scope | None:
        broken = self._document.broken
        if broken & {join(self._path, "noise"), join(self._path, "set")}:
            return None
        noise = {
            name: "boolean" if text.lstrip().startswith("Bernoulli") else "number"
            for name, text in self._file.noise.items()
        }
        lost = {
            *self._document.broken_below(join(self._path, "noise")),
            *self._document.broken_below(join(self._path, "set")),
        }
        known: Kinds = {**noise, **dict.fromkeys(lost, "any"), **earlier}
        parents = None if join(self._path, "parents") in broken else self._file.parents
        return Scope(self._name, known, tuple(waiting), parents, self._around.fields)

    def _problem(self, below: str, message: str, hint: str = "") -> None:
        self._document.problem(join(self._path, below), message, hint)


def _check_id(document: Document, path: str, name: str, words: frozenset[str]) -> None:
    if not _ID.fullmatch(name):
        hint = "lower-case letters, digits and underscores, a letter first"
        document.problem(path, f"'{name}' is not a valid name", hint)
    elif name in words:
        document.problem(path, f"the name '{name}' is reserved", "choose another")


def _text(value: object) -> str:
    return value if isinstance(value, str) else show(value)
