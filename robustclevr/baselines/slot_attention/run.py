"""A training run: a dataset and a folder enter, checkpoints and a log of the loss leave.

``RUN/checkpoint.pt`` is the last checkpoint, ``RUN/log.jsonl`` has one line a step, and
``RUN/frames-….npy`` holds the images at the size of the model.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from robustclevr.baselines.slot_attention.checkpoint import (
    FILE,
    Checkpoint,
    read_checkpoint,
    write_checkpoint,
)
from robustclevr.baselines.slot_attention.config import Config, config_for, config_named
from robustclevr.baselines.slot_attention.frames import frame_count, open_frames, split_digest
from robustclevr.baselines.slot_attention.training import Trainer, device_named
from robustclevr.errors import RobustClevrError, SpecError, StoreError
from robustclevr.store.atomic import disk_error
from robustclevr.store.dataset import Dataset

LOG = "log.jsonl"
_CHECKPOINT_EVERY_S = 120.0  # chosen: two minutes are lost at most; one takes milliseconds
_RECENT_STEPS = 100


@dataclass(frozen=True)
class TrainOptions:
    """Choices of a training run; None is the checkpoint's on going on, else what is named here.

    Attributes
    ----------
    split : str
    config : str or None
        Name of a configuration; what fits the images.
    steps, batch, slots : int or None
        In place of those of the configuration. Steps may grow on going on.
    seed : int or None
        The dataset's.
    device : str
        Of :data:`robustclevr.baselines.slot_attention.training.DEVICES`.
    resume : bool
        Go on from the checkpoint in the folder, where there is one.
    workers : int or None
        Processes that read the dataset.
    """

    split: str = "train"
    config: str | None = None
    steps: int | None = None
    batch: int | None = None
    slots: int | None = None
    seed: int | None = None
    device: str = "auto"
    resume: bool = False
    workers: int | None = None


@dataclass(frozen=True)
class Job:
    """What a run is going to do.

    Attributes
    ----------
    config : Config
    seed, done : int
        Root seed, and steps that were made before.
    frames : int
    size : tuple of int
        Height and width of the images of the dataset. [px]
    start : Checkpoint or None
    """

    config: Config
    seed: int
    done: int
    frames: int
    size: tuple[int, int]
    start: Checkpoint | None


@dataclass(frozen=True)
class Outcome:
    """What a run has done.

    Attributes
    ----------
    steps : int
        Made in all.
    finished : bool
        Whether these are all that were asked for.
    loss : float
        Mean of the last hundred steps of this run; nan if it made none.
    """

    steps: int
    finished: bool
    loss: float


def plan_training(dataset: Dataset, run: Path, options: TrainOptions) -> Job:
    """Check what is asked for against the dataset and what the folder holds.

    Raises
    ------
    SpecError
        If an option is wrong, is not that of the checkpoint, or the split is smaller than a
        batch; or if the folder holds a checkpoint and it is not said to go on from it.
    StoreError
        If the split or its first shard is missing, or the checkpoint is of other data.
    """
    frames, height, width = frame_count(dataset, options.split)
    start = _start(run, options)
    if start is None:
        seed = dataset.content["seed"] if options.seed is None else options.seed
        named = config_for(height) if options.config is None else config_named(options.config)
        config = named.with_options(slots=options.slots, batch=options.batch, steps=options.steps)
    else:
        _require_same(start, options, run / FILE)
        seed, config = start.seed, start.config.with_options(steps=options.steps)
        if start.digest != split_digest(dataset, options.split):
            raise StoreError(
                f"{run / FILE}: was trained on other data (split '{start.split}' of "
                f"'{start.dataset}'); name that dataset, or another folder for this one"
            )
    if frames < config.batch:
        raise SpecError.single(
            f"split '{options.split}' has {frames} images, and a batch {config.batch}",
            file="--batch",
            hint=f"choose --batch {frames} or less, or generate more samples",
        )
    done = 0 if start is None else start.step
    return Job(config, seed, done, frames, (height, width), start)


def train(
    dataset: Dataset,
    run: Path,
    options: TrainOptions,
    job: Job,
    *,
    on_step: Callable[[int, float], None] = lambda _step, _loss: None,
    stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Train until the steps are made, or ``stop`` says so between two of them.

    Parameters
    ----------
    dataset : Dataset
    run : Path
        Folder; made if need be.
    options : TrainOptions
    job : Job
        Of :func:`plan_training`.
    on_step : callable
        Hears of each step: how many are made, and its loss.
    stop : callable

    Returns
    -------
    Outcome
        A checkpoint of it is in the folder.

    Raises
    ------
    SetupError
        If there is no such device.
    StoreError
        If a shard is missing, or the disk refuses.
    """
    device = device_named(options.device)
    config = job.config
    frames = open_frames(
        dataset,
        options.split,
        run,
        height=config.height,
        width=config.width,
        workers=options.workers,
    )
    trainer = Trainer(frames, config, seed=job.seed, split=options.split, device=device)
    if job.start is not None:
        trainer.load(job.start)

    digest = split_digest(dataset, options.split)

    def save() -> None:
        write_checkpoint(run, _checkpoint(trainer, dataset, digest))

    recent = _loop(trainer, run / LOG, save, on_step, stop)
    save()
    return Outcome(
        steps=trainer.step,
        finished=trainer.step >= config.steps,
        loss=sum(recent) / len(recent) if recent else math.nan,
    )


def _start(run: Path, options: TrainOptions) -> Checkpoint | None:
    """Return the checkpoint to go on from."""
    if not (run / FILE).is_file():
        return None
    if not options.resume:
        raise SpecError.single(
            "a model was trained here",
            file=str(run / FILE),
            hint="go on with --resume, or name another folder",
        )
    return read_checkpoint(run)


def _require_same(start: Checkpoint, options: TrainOptions, file: Path) -> None:
    """Refuse options that differ from those of the checkpoint; one that is not given agrees."""
    asked: dict[str, tuple[object, object]] = {
        "config": (options.config, start.config.name),
        "batch": (options.batch, start.config.batch),
        "slots": (options.slots, start.config.slots),
        "seed": (options.seed, start.seed),
        "split": (options.split, start.split),
    }
    for name, (wanted, found) in asked.items():
        if wanted is not None and wanted != found:
            raise SpecError.single(
                f"is of --{name} {found}, not {wanted}",
                file=str(file),
                hint=f"leave --{name} out to go on, or name another folder",
            )


def _checkpoint(trainer: Trainer, dataset: Dataset, digest: str) -> Checkpoint:
    return Checkpoint(
        config=trainer.config,
        seed=trainer.seed,
        step=trainer.step,
        dataset=dataset.content["name"],
        split=trainer.split,
        digest=digest,
        model=trainer.model.state_dict(),
        optimizer=trainer.optimizer.state_dict(),
    )


def _loop(
    trainer: Trainer,
    log: Path,
    save: Callable[[], None],
    on_step: Callable[[int, float], None],
    stop: Callable[[], bool],
) -> deque[float]:
    """Make the steps; return the losses of the last ones."""
    recent: deque[float] = deque(maxlen=_RECENT_STEPS)
    saved = time.monotonic()
    kept = _kept_lines(log, trainer.step)
    with _writing(log) as lines:
        lines.writelines(kept)
        while trainer.step < trainer.config.steps and not stop():
            loss = trainer.advance()
            if not math.isfinite(loss):
                raise RobustClevrError(
                    f"the loss of step {trainer.step} is {loss}: training diverged; try another "
                    "--seed, or a larger --batch"
                )
            recent.append(loss)
            lines.write(json.dumps({"step": trainer.step, "loss": loss}) + "\n")
            on_step(trainer.step, loss)
            if time.monotonic() - saved > _CHECKPOINT_EVERY_S:
                save()
                saved = time.monotonic()
    return recent


@contextlib.contextmanager
def _writing(log: Path) -> Iterator[TextIO]:
    try:
        with log.open("w", buffering=1) as lines:  # by lines, so that it can be watched
            yield lines
    except OSError as error:
        raise disk_error(log, error) from error


def _kept_lines(log: Path, step: int) -> list[str]:
    """Return the log's lines up to a step: what was made after the checkpoint is made again."""
    if not log.is_file():
        return []
    return log.read_text().splitlines(keepends=True)[:step]
