"""All that one clip needs, as JSON: what is seen, how it is drawn, what is stored of it."""

from __future__ import annotations

from dataclasses import dataclass

from robustclevr.records.clip import Clip, VideoOptions
from robustclevr.records.draw import Draw
from robustclevr.records.plan import Step

CLIP_PLAN_VERSION = 1


@dataclass(frozen=True)
class ClipVariant:
    """One version of a clip.

    Attributes
    ----------
    variant : str
        ``clean``, ``joint`` or a node id; names the file.
    steps : tuple of Step
        In the DAG's order, those on 8-bit images come last. The same to every frame; empty where
        each frame has its own.
    frames : tuple of tuple of Step
        The steps of each frame where each has its own; empty otherwise.
    """

    variant: str
    steps: tuple[Step, ...]
    frames: tuple[tuple[Step, ...], ...] = ()


@dataclass(frozen=True)
class ClipPlan:
    """One sample of a video family.

    Attributes
    ----------
    version : int
        :data:`CLIP_PLAN_VERSION` when it was made.
    split, index, root_seed : str, int, int
        The sample's name.
    draw : Draw or None
        None for a dataset without a DAG. Of the first frame where each has its own.
    clip : Clip
    options : VideoOptions
        Paths as the dataset file gives them, so that a plan is the same on every machine.
    outputs : tuple of str
        ``image``, ``mask`` and ``amodal``, and some of ``flow`` and ``background``.
    variants : tuple of ClipVariant
        In the order of the DAG.
    frame_draws : tuple of Draw
        One a frame where each has its own; empty otherwise.
    """

    version: int
    split: str
    index: int
    root_seed: int
    draw: Draw | None
    clip: Clip
    options: VideoOptions
    outputs: tuple[str, ...]
    variants: tuple[ClipVariant, ...]
    frame_draws: tuple[Draw, ...] = ()
