"""Checkpoints: all that a training run needs to go on, in one file that is replaced at once.

What is random in training is a function of the seed and the step, see
:mod:`robustclevr.baselines.slot_attention.training`, and the learning rate is one of the step:
these two numbers are the state of all generators, of the order of the data and of the schedule.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch

from robustclevr.baselines.slot_attention.config import Config
from robustclevr.errors import StoreError
from robustclevr.store.atomic import remove_empty_dirs, write_atomic
from robustclevr.store.layout import Layout

FILE = "checkpoint.pt"
FORMAT = 1
"""Raised when what a checkpoint holds changes its meaning."""


@dataclass(frozen=True)
class Checkpoint:
    """A training run after some steps.

    Attributes
    ----------
    config : Config
    seed, step : int
        Steps that were made.
    dataset, split : str
        Name of the dataset, and the split.
    digest : str
        Of the split's samples, see :func:`frames.split_digest`.
    model, optimizer : mapping
        State of each, as torch gives it.
    """

    config: Config
    seed: int
    step: int
    dataset: str
    split: str
    digest: str
    model: Mapping[str, Any]
    optimizer: Mapping[str, Any]


def write_checkpoint(run: Path, checkpoint: Checkpoint) -> None:
    """Put a checkpoint in the place of the last one; StoreError if the disk refuses."""
    content = {field.name: getattr(checkpoint, field.name) for field in fields(checkpoint)}
    content |= {
        "format": FORMAT,
        "config": asdict(checkpoint.config),
        "torch": str(torch.__version__),
    }
    data = io.BytesIO()
    torch.save(content, data)
    layout = Layout(run)
    write_atomic(run / FILE, data.getvalue(), layout)
    remove_empty_dirs(layout.work)


def read_checkpoint(place: Path) -> Checkpoint:
    """Return a checkpoint.

    Only numbers and text are read from it: a checkpoint of somebody else can run no code.

    Parameters
    ----------
    place : Path
        The file, or the folder of its run.

    Raises
    ------
    StoreError
        If there is none, or it is none.
    """
    path = place / FILE if place.is_dir() else place
    if not path.is_file():
        raise StoreError(
            f"{path}: there is no checkpoint; 'robustclevr train slot-attention DIR -o "
            f"{path.parent}' writes one"
        )
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise StoreError(f"{path}: cannot be read as a checkpoint: {reason}") from error
    return _from_content(content, path)


def _from_content(content: object, path: Path) -> Checkpoint:
    names = {field.name for field in fields(Checkpoint)}
    if not isinstance(content, dict) or not names <= set(content):
        raise StoreError(f"{path}: is no checkpoint of 'robustclevr train'")
    if content.get("format") != FORMAT:
        found = content.get("format")
        raise StoreError(f"{path}: is of format {found}, this version reads {FORMAT}")
    given = content["config"]
    if set(given) != {field.name for field in fields(Config)}:
        raise StoreError(f"{path}: its configuration is of another version of robustclevr")
    return Checkpoint(**{name: content[name] for name in names} | {"config": Config(**given)})
