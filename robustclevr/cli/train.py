"""``robustclevr train``: a model on a generated dataset."""

from __future__ import annotations

import contextlib
import math
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustclevr.cli import codes, options

if TYPE_CHECKING:
    from robustclevr.baselines.slot_attention.run import Job, Outcome


@click.command("train")
@click.argument("method", metavar="slot-attention")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=options.Output(), required=True, metavar="RUN", help="Folder.")
@click.option(
    "--config",
    default=None,
    metavar="NAME",
    help="sprites-32 or clevr-128; default: sprites-32 for images of up to 64 pixels.",
)
@click.option("--split", default="train", show_default=True, help="Whose clean images to see.")
@click.option("--steps", type=click.IntRange(1), default=None, help="Default: the configuration's.")
@click.option("--batch", type=click.IntRange(1), default=None, help="Images a step.")
@click.option(
    "--slots", type=click.IntRange(1), default=None, help="Segments, the background included."
)
@options.seed
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--resume", is_flag=True, help="Go on from RUN's checkpoint, if it has one.")
@options.workers
def command(
    method: str,
    directory: Path,
    output: Path,
    config: str | None,
    split: str,
    steps: int | None,
    batch: int | None,
    slots: int | None,
    seed: int | None,
    device: str,
    resume: bool,  # noqa: FBT001
    workers: int | None,
) -> int:
    """Train a model on the clean images of DIRECTORY, or on the frames of its clips.

    slot-attention: Slot Attention (Locatello et al. 2020), small on a CPU, as published on a GPU.
    RUN/checkpoint.pt is for 'robustclevr baseline slot-attention --checkpoint RUN'; RUN/log.jsonl
    has the loss of each step. Ctrl-C stops after a checkpoint; --resume goes on, to the same end.
    """
    from robustclevr.baselines.slot_attention.installed import require_torch
    from robustclevr.errors import SpecError, suggest
    from robustclevr.store.dataset import Dataset

    if method != "slot-attention":
        hint = suggest(method, ["slot-attention"])
        raise SpecError.single(f"no model '{method}'", hint=hint)
    # Before torch is loaded: its threads sleep while they wait for each other. Those that spin make
    # a step take eight times as long where other programs keep the cores busy (measured).
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    require_torch()
    from robustclevr.baselines.slot_attention.run import TrainOptions, plan_training, train

    chosen = TrainOptions(
        split=split,
        config=config,
        steps=steps,
        batch=batch,
        slots=slots,
        seed=seed,
        device=device,
        resume=resume,
        workers=workers,
    )
    dataset = Dataset.open(directory)
    job = plan_training(dataset, output, chosen)
    _tell_job(job)
    with _stopping() as stop, _progress(job) as on_step:
        outcome = train(dataset, output, chosen, job, on_step=on_step, stop=stop)
    _tell_outcome(outcome, job, output)
    return codes.DONE if outcome.finished else codes.INCOMPLETE


@contextlib.contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Yield the function that tells whether Ctrl-C, or a cluster's SIGTERM, has come.

    A second Ctrl-C ends the program at once.
    """
    came = False

    def hear(number: int, _frame: object) -> None:
        nonlocal came
        came = True
        signal.signal(
            number, signal.SIG_DFL if number == signal.SIGTERM else signal.default_int_handler
        )

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _progress(job: Job) -> Iterator[Callable[[int, float], None]]:
    from robustclevr.cli.progress import counting

    left = max(job.config.steps - job.done, 0)
    with counting(left, "steps") as count:
        yield lambda _step, _loss: count(1)


def _tell_job(job: Job) -> None:
    config = job.config
    if job.size != (config.height, config.width):
        was, is_ = (f"{h}x{w}" for h, w in (job.size, (config.height, config.width)))
        click.echo(f"images of {was} are seen at {is_}, whole", err=True)
    left = max(config.steps - job.done, 0)
    made = f", {job.done} are made already" if job.done else ""
    click.echo(
        f"{config.name}: {left} steps of {config.batch} of {job.frames} images{made}", err=True
    )


def _tell_outcome(outcome: Outcome, job: Job, output: Path) -> None:
    loss = "" if math.isnan(outcome.loss) else f", loss {outcome.loss:.5f}"
    if outcome.finished:
        click.echo(f"{output}: {outcome.steps} steps{loss}", err=True)
        return
    click.echo(
        f"stopped after step {outcome.steps} of {job.config.steps}{loss}; the same command with "
        "--resume goes on",
        err=True,
    )
