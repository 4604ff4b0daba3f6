"""``robustclevr schema``: of files, for editors; of records, for those who read a dataset."""

from __future__ import annotations

import json
from pathlib import Path

import click

from robustclevr.cli import options


@click.command("schema")
@click.argument(
    "kind", type=click.Choice(["dag", "dataset", "record", "clip-record", "picture-record"])
)
@options.recipes
def command(kind: str, recipe_dirs: tuple[Path, ...]) -> None:
    """Print the JSON Schema of DAG files, of dataset files, or of a dataset's records.

    A record is the JSON file beside each sample: of a rendered scene, a clip, or a picture.

    Name the file a schema is saved to in the first line of a YAML file, and editors with a YAML
    language server use it:

    # yaml-language-server: $schema=dag.schema.json
    """
    from robustclevr.recipe import load_recipes
    from robustclevr.spec.json_schema import dag_schema, dataset_schema
    from robustclevr.store.record_schema import RECORD_SCHEMAS

    if kind in RECORD_SCHEMAS:
        schema = RECORD_SCHEMAS[kind]()
    else:
        schema = dag_schema(load_recipes(recipe_dirs)) if kind == "dag" else dataset_schema()
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
