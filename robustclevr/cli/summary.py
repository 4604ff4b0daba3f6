"""What is said at the end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustclevr.cli.words import plural

if TYPE_CHECKING:
    from robustclevr.run.generate import Summary


def tell_summary(summary: Summary, output: Path) -> None:
    """Say on stderr what a run made, and what it could not."""
    asked = f"{plural(summary.shards, 'shard')} of {plural(summary.samples, 'sample')}"
    if summary.nothing_to_do:
        click.echo(f"nothing to do: {asked} are complete in {output}", err=True)
        return
    if not summary.failures:
        click.echo(f"done: {asked} in {output}", err=True)
        return
    click.echo(f"error: {plural(len(summary.failures), 'sample')} could not be made:", err=True)
    for failure in summary.failures:
        click.echo(f"  {failure}", err=True)
    click.echo("the same command tries just these again", err=True)
