"""One clip's files: an NPZ of its pixels and labels, and the record.

A ClipPlan and its RenderedClip enter, ``{member name: bytes}`` leaves. The record carries the
whole plan, so a clip can be made again from the file stored beside it.
"""

from __future__ import annotations

from typing import Any

from robustclevr.errors import RenderError
from robustclevr.imaging import encode_npz
from robustclevr.records import ClipPlan, RenderedClip, to_json
from robustclevr.store.jsonbytes import stable_json
from robustclevr.store.sample import RECORD

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


def clip_members(plan: ClipPlan, rendered: RenderedClip) -> dict[str, bytes]:
    """Encode one clip.

    Parameters
    ----------
    plan : ClipPlan
    rendered : RenderedClip
        Of this plan.

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
    return {CLIP: encode_npz(**arrays), RECORD: stable_json(_record(plan, rendered))}


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
