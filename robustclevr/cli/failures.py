"""The report on samples that could not be made, at the end of a run."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from robustclevr.cli.words import plural

if TYPE_CHECKING:
    from robustclevr.run.job import SampleFailure

_SAMPLE = re.compile(r"\b[\w-]+/\d{6,}\b")
_LISTED = 20  # samples named of one reason; chosen: a screen. The option names all of them


def tell_failures(failures: Sequence[SampleFailure], *, chooses: bool) -> None:
    """Say on stderr which samples failed, by reason, and how to make just these.

    Parameters
    ----------
    failures : sequence of SampleFailure
        At least one.
    chooses : bool
        Whether the command has ``--samples``.
    """
    from robustclevr.run.sample_choice import write_samples
    from robustclevr.run.shards import sample_name

    click.echo(f"error: {plural(len(failures), 'sample')} could not be made:", err=True)
    for reason, group in by_reason(failures).items():
        names = [sample_name(failure.split, failure.index) for failure in group[:_LISTED]]
        more = f" and {len(group) - _LISTED} more" if len(group) > _LISTED else ""
        click.echo(f"  {', '.join(names)}{more}: {reason}", err=True)
        tries = max(failure.tries for failure in group)
        if tries > 1:
            click.echo(f"    tried {tries} times each", err=True)
        if group[0].tail:
            click.echo(f"    the last lines of its renderer at {names[0]}:", err=True)
            click.echo("\n".join(f"    {line}" for line in group[0].tail.splitlines()), err=True)
    if not chooses:
        click.echo("the same command tries just these again", err=True)
        return
    choice = write_samples((failure.split, failure.index) for failure in failures)
    click.echo("the same command tries again all that is missing; just these:", err=True)
    click.echo(f"  {_command(sys.argv[1:], choice)}", err=True)


def by_reason(failures: Iterable[SampleFailure]) -> dict[str, list[SampleFailure]]:
    """Group failures that differ in nothing but the sample."""
    groups: dict[str, list[SampleFailure]] = {}
    for failure in failures:
        groups.setdefault(_SAMPLE.sub("it", failure.reason), []).append(failure)
    return groups


def _command(arguments: Sequence[str], choice: str) -> str:
    """Return this very command, for some samples only."""
    kept = [
        argument
        for before, argument in zip(["", *arguments], arguments, strict=False)
        if "--samples" not in (before, argument) and not argument.startswith("--samples=")
    ]
    return shlex.join(["robustclevr", *kept, "--samples", choice])
