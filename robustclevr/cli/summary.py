"""What is said at the end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustclevr.cli.failures import tell_failures
from robustclevr.cli.words import plural

if TYPE_CHECKING:
    from robustclevr.run.generate import Summary


def tell_summary(summary: Summary, output: Path | str, *, chooses: bool = False) -> None:
    """Say on stderr what a run made, and what it could not.

    Parameters
    ----------
    summary : Summary
    output : Path or str
        Folder, or URL of an object store.
    chooses : bool
        Whether the command has ``--samples``.
    """
    asked = f"{plural(summary.shards, 'shard')} of {plural(summary.samples, 'sample')}"
    if summary.nothing_to_do:
        click.echo(f"nothing to do: {asked} are complete in {output}", err=True)
        return
    if summary.failures:
        tell_failures(summary.failures, chooses=chooses)
    elif summary.unfinished_shards:
        click.echo(
            f"error: {plural(summary.unfinished_shards, 'shard')} could not be finished; the same "
            "command goes on",
            err=True,
        )
    else:
        click.echo(f"done: {asked} in {output}", err=True)
