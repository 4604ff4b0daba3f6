"""``robustclevr recipe``: what corruptions there are and what they take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustclevr.cli import options, recipe_new, recipe_sweep

if TYPE_CHECKING:
    from robustclevr.recipe import Parameter, Recipe


@click.group("recipe")
def command() -> None:
    """Look at corruption recipes, measure them, or begin one."""


command.add_command(recipe_new.command)
command.add_command(recipe_sweep.command)


@command.command("list")
@options.as_json
@options.recipes
def list_recipes(as_json: bool, recipe_dirs: tuple[Path, ...]) -> None:  # noqa: FBT001
    """List every recipe with stage, geometry and parameters."""
    from robustclevr.recipe import load_recipes

    loaded = load_recipes(recipe_dirs)
    if as_json:
        click.echo(json.dumps([to_document(item.recipe) for item in loaded.values()], indent=2))
        return
    click.echo("\n\n".join(describe(item.recipe) for item in loaded.values()))


def describe(recipe: Recipe) -> str:
    """Return the text that ``recipe list`` and ``show`` print for one recipe."""
    facts = [f"stage {recipe.stage}", f"geometry {recipe.geometry}"]
    facts += [f"needs {name}" for name in recipe.needs]
    facts.append("severity measured" if recipe.curve else "severity not measured yet")
    head = f"{recipe.id}: {recipe.summary}\n  {', '.join(facts)}"
    return "\n".join([head, *(f"  {_parameter_line(item)}" for item in recipe.parameters)])


def to_document(recipe: Recipe) -> dict[str, Any]:
    """Return a recipe as JSON-safe data; open ends of ranges are null."""
    return {
        "id": recipe.id,
        "summary": recipe.summary,
        "stage": recipe.stage,
        "geometry": recipe.geometry,
        "needs": list(recipe.needs),
        "measured": recipe.curve is not None,
        "parameters": [
            {
                "name": item.name,
                "role": item.role,
                "kind": item.kind,
                "clean": item.clean,
                "worst": item.worst,
                "low": item.low if item.low != float("-inf") else None,
                "high": item.high if item.high != float("inf") else None,
                "choices": list(item.choices),
                "unit": item.unit,
                "source": item.source,
                "summary": item.summary,
            }
            for item in recipe.parameters
        ],
    }


def _parameter_line(parameter: Parameter) -> str:
    if parameter.role == "severity":
        values = f"clean {parameter.clean}, worst {parameter.worst}"
    else:
        values = f"default {parameter.clean}"
    limits = ""
    if parameter.kind == "choice":
        limits = f", one of {', '.join(parameter.choices)}"
    elif parameter.kind != "boolean":
        bounded = parameter.low > float("-inf") or parameter.high < float("inf")
        limits = f", range [{parameter.low:g}, {parameter.high:g}]" if bounded else ", of any size"
    unit = "" if parameter.unit == "1" else f" {parameter.unit}"
    text = f"{parameter.name} ({parameter.role}){unit}: {values}{limits}"
    details = "; ".join(part for part in (parameter.summary, parameter.source) if part)
    return f"{text}. {details}" if details else text
