"""One clip's plan from its split's spec: the last place where anything is drawn."""

from __future__ import annotations

from dataclasses import replace

from robustclevr.records import CLIP_PLAN_VERSION, ClipPlan, VideoOptions
from robustclevr.spec import SplitSpec
from robustclevr.video import sample_clip


def make_clip_plan(split: SplitSpec, *, root_seed: int, index: int) -> ClipPlan:
    """Draw one clip and write down all that it takes to make it.

    Parameters
    ----------
    split : SplitSpec
        Of a video family.
    root_seed : int
    index : int
        Sample index, >= 0; may lie beyond ``split.samples``.

    Returns
    -------
    ClipPlan
        Depends on the split's spec, the root seed and the index alone, and with a folder of
        textures on its pictures.

    Raises
    ------
    SamplingError
        If no trajectory stays within its bounds, or no picture can be used.
    """
    options, written = clip_options(split), _paths_as_written(split)
    return ClipPlan(
        version=CLIP_PLAN_VERSION,
        split=split.name,
        index=index,
        root_seed=root_seed,
        draw=None,
        clip=sample_clip(options, root_seed=root_seed, split=split.name, index=index),
        options=replace(options, dsprites=written["dsprites"], textures=written["textures"]),
        outputs=split.outputs,
    )


def clip_options(split: SplitSpec) -> VideoOptions:
    """Return how a split's clips are drawn, with paths that lead somewhere on this machine.

    Raises
    ------
    ValueError
        If the split is of no video family.
    """
    if split.video is None:
        raise ValueError(f"split '{split.name}' of family '{split.family}' holds no clips")
    return split.video


def _paths_as_written(split: SplitSpec) -> dict[str, str | None]:
    written = split.document["video"]
    if not isinstance(written, dict):
        raise TypeError("the video of a split is a mapping")
    return {key: written.get(key) for key in ("dsprites", "textures")}
