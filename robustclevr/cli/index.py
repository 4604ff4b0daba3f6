"""``robustclevr index``: the files of whole splits, made again from the shards."""

from __future__ import annotations

from pathlib import Path

import click

from robustclevr.cli import codes


@click.command("index")
@click.argument("directory", type=click.Path(path_type=Path))
def command(directory: Path) -> int:
    """Make draws.parquet, scenes.json and index.json of DIRECTORY from its shards.

    Copy the shards and receipts of several machines into one folder first.
    """
    from robustclevr.run.index import rebuild_index

    states = rebuild_index(directory)
    for state in states:
        done = f"{state.split}: {len(state.tars)} of {state.shards} shards"
        click.echo(f"{done}, indexed" if state.whole else f"{done}; not whole, not indexed")
        for name in state.missing:
            click.echo(f"  missing: {name}")
        for reason in state.broken:
            click.echo(f"  broken: {reason}")
    return codes.DONE if all(state.whole for state in states) else codes.INCOMPLETE
