"""Clips of moving sprites: VMDS, texVMDS, their test sets, and Sprites-MOT."""

from robustclevr.video.options import DEFAULTS, resolve
from robustclevr.video.render import render_clip
from robustclevr.video.sample import sample_clip
from robustclevr.video.scenarios import COMBINED, SCENARIOS
from robustclevr.video.textures import list_pictures

__all__ = [
    "COMBINED",
    "DEFAULTS",
    "SCENARIOS",
    "list_pictures",
    "render_clip",
    "resolve",
    "sample_clip",
]
