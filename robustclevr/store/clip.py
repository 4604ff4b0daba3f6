"""One clip's files: an NPZ of its pixels and labels, and the record.

A ClipPlan and its RenderedClip enter, ``{member name: bytes}`` leaves. The record carries the
whole plan, so a clip can be made again from the file stored beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import RenderError
from robustclevr.imaging import encode_npz
from robustclevr.records import ClipPlan, RenderedClip, to_json
from robustclevr.store.jsonbytes import stable_json
from robustclevr.store.sample import CLEAN, RECORD

CLIP = "npz"
"""Member name of a clip's arrays."""

ARRAYS = {
    "image": "video",
    "mask": "masks",
    "amodal": "amodal",
    "flow": "flow",
    "background": "background",
}
"""Name in the NPZ file of each output."""


Corrupted = Mapping[str, tuple[NDArray[np.uint8], NDArray[np.uint8]]]
"""Video (T, H, W, 3) and masks (T, H, W) of each version of a clip but the clean one."""


def variant_member(variant: str) -> str:
    """Return the member name of a version of a clip, such as ``glare.npz``."""
    return CLIP if variant == CLEAN else f"{variant}.{CLIP}"


def clip_members(
    plan: ClipPlan, rendered: RenderedClip, corrupted: Corrupted | None = None
) -> dict[str, bytes]:
    """Encode one clip.

    Parameters
    ----------
    plan : ClipPlan
    rendered : RenderedClip
        Of this plan.
    corrupted : mapping of str to pair of ndarray, optional
        The plan's further versions.

    Returns
    -------
    dict of str to bytes
        By member name without the key; the same bytes for the same input.

    Raises
    ------
    RenderError
        If an output that was asked for is not there.
    """
    arrays = {}
    for output in plan.outputs:
        array = getattr(rendered, ARRAYS[output])
        if array is None:
            raise RenderError(f"{plan.split}/{plan.index}: the clip came without its '{output}'")
        arrays[ARRAYS[output]] = array
    members = {CLIP: encode_npz(**arrays), RECORD: stable_json(_record(plan, rendered))}
    for variant, (video, masks) in (corrupted or {}).items():
        members[variant_member(variant)] = encode_npz(video=video, masks=masks)
    return members


def _record(plan: ClipPlan, rendered: RenderedClip) -> dict[str, Any]:
    clip, draw = plan.clip, plan.draw
    seen = rendered.visibility.T.tolist()
    stored: dict[str, Any] = to_json(plan)
    described = stored["clip"]["sprites"]
    return {
        "index": plan.index,
        "split": plan.split,
        "seed": plan.root_seed,
        "family": clip.family,
        "frames": plan.options.frames,
        "sprites": [
            {**sprite, "visibility": fractions}
            for sprite, fractions in zip(described, seen, strict=True)
        ],
        "background": {
            "color": clip.background,
            "texture": stored["clip"]["background_texture"],
            "step": clip.background_step,
        },
        "scenario": clip.scenario,
        "left_out": clip.left_out,
        "nodes": {} if draw is None else draw.nodes,
        "log_density": None if draw is None else draw.log_density,
        "interventions": {} if draw is None else draw.interventions,
        "plan": stored,
    }
