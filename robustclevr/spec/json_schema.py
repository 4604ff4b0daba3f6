"""JSON Schemas of the two kinds of files, for editors: completion, and errors while typing.

Enters: the pydantic models of the files, and the recipes. Leaves: schemas as plain data. They say
less than ``dag check``: names in formulas, cycles and numbers out of range are beyond them. What
they refuse is always wrong, which the tests hold against every shipped file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from robustclevr.recipe import LoadedRecipe, Parameter, Recipe
from robustclevr.spec.dag_schema import DagFile
from robustclevr.spec.dataset_schema import EVERY_NODE, DatasetFile
from robustclevr.spec.distributions import DISTRIBUTIONS
from robustclevr.spec.library import list_dags
from robustclevr.spec.node import NODE_WORDS

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NAME = "^[a-z][a-z0-9_]*$"
_FORMULA: Schema = {"type": ["string", "number", "boolean"]}
_DISTRIBUTION: Schema = {
    "type": "string",
    "pattern": rf"^\s*({'|'.join(sorted(DISTRIBUTIONS))})\s*\([\s\S]*\)\s*$",
}


def dag_schema(recipes: Mapping[str, LoadedRecipe]) -> Schema:
    """Return the schema of DAG files.

    Parameters
    ----------
    recipes : mapping of str to LoadedRecipe
        Their ids and parameters are what ``recipe:`` and ``set:`` may hold.
    """
    schema = _from_model(DagFile, "A DAG file of robustclevr")
    node = schema["$defs"]["NodeFile"]
    _refine(node, "when", _FORMULA)
    _refine(node, "severity", _FORMULA)
    _refine(node, "recipe", {"enum": [*recipes, None]})
    _refine(node, "parents", {"items": {"type": "string", "pattern": _NAME}, "uniqueItems": True})
    for key, value in (("noise", _DISTRIBUTION), ("set", _FORMULA)):
        _refine(node, key, {"additionalProperties": value, "propertyNames": {"pattern": _NAME}})
    node["allOf"] = [_applies(recipe_id) for recipe_id in recipes]
    for recipe_id, loaded in recipes.items():
        schema["$defs"][_definition(recipe_id)] = _node_of(loaded.recipe)
    _refine(schema, "nodes", _nodes(recipes))
    schema["required"] = ["nodes"]
    return schema


def dataset_schema() -> Schema:
    """Return the schema of dataset files."""
    schema = _from_model(DatasetFile, "A dataset file of robustclevr")
    definitions = schema["$defs"]
    for section in (schema, definitions["SplitFile"]):
        _refine(section, "dag", {"anyOf": _dag_choices()})
        _refine(section, "emit", {"anyOf": [{"const": EVERY_NODE}, _names(), {"type": "null"}]})
        _refine(section, "scenario", {"anyOf": _scenario_choices()})
    _refine(definitions["SplitFile"], "given", _FORMULA)
    for section, key in (("SceneFile", "objects"), ("VideoFile", "sprites")):
        pair = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
        _refine(definitions[section], key, {"anyOf": [pair, {"type": "null"}]})
    schema["required"] = ["family", "splits"]
    definitions["SplitFile"]["required"] = ["samples"]
    return schema


def _from_model(model: type[DagFile | DatasetFile], title: str) -> Schema:
    found = _plain(model.model_json_schema())
    return {"$schema": DIALECT, "title": title, **found}


def _plain(schema: Any) -> Any:
    """Drop titles, which repeat the keys, empty defaults, and the markup of docstrings."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: value
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and (not value or isinstance(value, dict)))
    }
    if isinstance(kept.get("description"), str):
        kept["description"] = kept["description"].replace("``", "'")
    return {key: _plain(value) for key, value in kept.items()}


def _refine(section: Schema, key: str, schema: Schema) -> None:
    """Replace what pydantic cannot know of a key; its description stays."""
    before = section["properties"][key]
    described = {k: v for k, v in before.items() if k in ("description", "type")}
    if "anyOf" in schema or "enum" in schema or "type" in schema:
        described.pop("type", None)
    section["properties"][key] = {**described, **schema}


def _nodes(recipes: Iterable[str]) -> Schema:
    """Return what stands under ``nodes:``: a node named after a recipe applies it by default."""
    own = {"$ref": "#/$defs/NodeFile"}
    latent = {"required": ["latent"], "properties": {"latent": {"const": True}}}
    other = {"anyOf": [{"required": ["recipe"]}, latent]}
    return {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": _NAME, "not": {"enum": sorted(NODE_WORDS)}},
        "properties": {
            recipe_id: {"allOf": [own, {"if": other, "else": _reference(recipe_id)}]}
            for recipe_id in recipes
        },
        "additionalProperties": {"allOf": [own, other]},
    }


def _applies(recipe_id: str) -> Schema:
    named = {"required": ["recipe"], "properties": {"recipe": {"const": recipe_id}}}
    return {"if": named, "then": _reference(recipe_id)}


def _definition(recipe_id: str) -> str:
    return f"recipe.{recipe_id}"


def _reference(recipe_id: str) -> Schema:
    return {"$ref": f"#/$defs/{_definition(recipe_id)}"}


def _node_of(recipe: Recipe) -> Schema:
    return {
        "description": recipe.summary,
        "properties": {
            "set": {
                "properties": {item.name: _parameter(item) for item in recipe.parameters},
                "additionalProperties": False,
            }
        },
    }


def _parameter(parameter: Parameter) -> Schema:
    unit = "" if parameter.unit == "1" else f" [{parameter.unit}]"
    ends = f"clean {parameter.clean}, worst {parameter.worst}"
    known = ends if parameter.role == "severity" else f"default {parameter.clean}"
    described: Schema = {"description": f"{parameter.summary}{unit}; {known}"}
    if parameter.kind == "choice":
        return {**described, "enum": list(parameter.choices)}
    literal = "boolean" if parameter.kind == "boolean" else "number"
    return {**described, "type": [literal, "string"]}


def _names() -> Schema:
    return {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True}


def _dag_choices() -> list[Schema]:
    return [
        {"enum": list(list_dags())},
        {"type": "string", "pattern": r"/|\.ya?ml$", "description": "A path."},
        {"type": ["object", "null"]},
    ]


def _scenario_choices() -> list[Schema]:
    name: Schema = {"type": "string", "pattern": _NAME}
    options = {"type": "object", "propertyNames": name, "additionalProperties": {"type": "object"}}
    return [name, options, {"type": "array", "items": {"anyOf": [name, options]}}, {"type": "null"}]
