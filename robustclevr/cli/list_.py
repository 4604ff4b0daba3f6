"""``robustclevr list``: what there is, one line each."""

from __future__ import annotations

import json

import click

from robustclevr.cli import options

KINDS = ("datasets", "dags", "recipes")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
@options.as_json
@options.recipes
def command(kind: str | None, as_json: bool, recipe_dirs: tuple[str, ...]) -> None:  # noqa: FBT001
    """List the named datasets, DAGs and recipes."""
    kinds = KINDS if kind is None else (kind,)
    listing = {name: _summaries(name, recipe_dirs) for name in kinds}
    if as_json:
        click.echo(json.dumps(listing, indent=2, sort_keys=True))
        return
    for name, summaries in listing.items():
        if len(listing) > 1:
            click.secho(name, bold=True)
        width = max((len(key) for key in summaries), default=0)
        for key, summary in summaries.items():
            click.echo(f"{key:{width}}  {summary}")


def _summaries(kind: str, recipe_dirs: tuple[str, ...]) -> dict[str, str]:
    from pathlib import Path

    from robustclevr.recipe import load_recipes
    from robustclevr.spec import list_dags, list_datasets

    if kind == "datasets":
        return dict(list_datasets())
    if kind == "dags":
        return dict(list_dags())
    loaded = load_recipes([Path(directory) for directory in recipe_dirs])
    return {name: item.recipe.summary for name, item in loaded.items()}
