"""``robustclevr status``: how far a dataset is, from its files alone."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustclevr.cli import codes, options

if TYPE_CHECKING:
    from robustclevr.run.status import SplitStatus, WorkerStatus


@click.command("status")
@click.argument("directory", type=click.Path(path_type=Path))
@options.as_json
def command(directory: Path, as_json: bool) -> int:  # noqa: FBT001
    """Say which shards and samples of DIRECTORY are done, missing or broken."""
    from robustclevr.cli.words import duration, plural
    from robustclevr.run.status import dataset_status

    status = dataset_status(directory)
    if as_json:
        click.echo(json.dumps({**asdict(status), "complete": status.complete}, indent=2))
        return codes.DONE if status.complete else codes.INCOMPLETE
    for split in status.splits:
        click.echo(_line(split))
        for name in split.broken:
            click.echo(f"  broken: {name}")
        for name in split.unsound_files:
            click.echo(f"  missing or altered: {name}; 'robustclevr index {directory}' makes it")
    for worker in status.leases:
        click.echo(_worker_line(worker))
    if status.workers:
        rate = "" if status.samples_per_s is None else f", {status.samples_per_s:.2f} samples/s"
        left = "" if status.seconds_left is None else f", {duration(status.seconds_left)} left"
        click.echo(f"{plural(status.workers, 'worker')} at it{rate}{left}")
    elif not status.complete:
        click.echo("nobody is working on it; the same 'generate' command goes on")
    return codes.DONE if status.complete else codes.INCOMPLETE


def _worker_line(worker: WorkerStatus) -> str:
    from robustclevr.cli.words import duration, plural

    who = f"process {worker.pid} on {worker.host}" if worker.host else "a process that begins"
    if worker.gone:
        return f"  {worker.shard}: {who} is gone; what it finished is kept"
    made = f"{plural(worker.samples, 'sample')} in {duration(worker.seconds)}"
    return f"  {worker.shard}: {who}, {made}, heard of {duration(worker.beat_age_s)} ago"


def _line(split: SplitStatus) -> str:
    parts = [
        f"{split.split}: {split.shards_done} of {split.shards} shards",
        f"{split.samples_done} of {split.samples} samples",
    ]
    if split.parked:
        parts.append(f"{split.parked} more are finished in unfinished shards")
    if split.broken:
        parts.append(f"{len(split.broken)} shards broken")
    return ", ".join(parts)
