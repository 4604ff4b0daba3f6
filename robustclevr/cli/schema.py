"""``robustclevr schema``: what editors need to check files while they are written."""

from __future__ import annotations

import json
from pathlib import Path

import click

from robustclevr.cli import options


@click.command("schema")
@click.argument("kind", type=click.Choice(["dag", "dataset"]))
@options.recipes
def command(kind: str, recipe_dirs: tuple[Path, ...]) -> None:
    """Print the JSON Schema of DAG files or dataset files.

    Name the file it is saved to in the first line of a YAML file, and editors with a YAML language
    server use it:

    # yaml-language-server: $schema=dag.schema.json
    """
    from robustclevr.recipe import load_recipes
    from robustclevr.spec.json_schema import dag_schema, dataset_schema

    schema = dag_schema(load_recipes(recipe_dirs)) if kind == "dag" else dataset_schema()
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
