"""``robustclevr show``: prints a dataset, a DAG or a recipe, to start from a copy."""

from __future__ import annotations

import click


@click.command("show")
@click.argument("name")
def command(name: str) -> None:
    """Print the YAML of a dataset or DAG, or the parameters of a recipe."""
    from robustclevr.cli.recipe import describe
    from robustclevr.errors import SpecError, suggest
    from robustclevr.recipe import load_recipes
    from robustclevr.spec import dag_text, dataset_text, list_dags, list_datasets

    datasets, dags, recipes = dict(list_datasets()), dict(list_dags()), load_recipes()
    if name in datasets:
        click.echo(dataset_text(name), nl=False)
    elif name in dags:
        click.echo(dag_text(name), nl=False)
    elif name in recipes:
        click.echo(describe(recipes[name].recipe))
    else:
        raise SpecError.single(
            f"nothing is called '{name}'", hint=suggest(name, [*datasets, *dags, *recipes])
        )
