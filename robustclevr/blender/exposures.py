"""The exposures of one image: the scene in its own light, and in the light that recipes added.

Enters: a built stage. Leaves: one scene-linear EXR, the sum of the exposures. Light adds up, so
the sum is the image that all lights give together.
"""

from __future__ import annotations

from pathlib import Path

from robustclevr.blender.images import read_exr, write_exr
from robustclevr.blender.scene import Stage
from robustclevr.blender.session import render_to


def expose(stage: Stage, exr: Path) -> Path:
    """Render a stage into an EXR file.

    Parameters
    ----------
    stage : Stage
        What is in its ``apart`` lights a second exposure, with the same random numbers, and is
        not there in the first.
    exr : Path

    Returns
    -------
    Path
        ``exr``.

    Raises
    ------
    RenderError
        If Blender reports an error or leaves no file.
    """
    for thing in stage.apart:
        thing.hide_render = True
    render_to(stage.scene, exr)
    if not stage.apart:
        return exr
    own = read_exr(exr)
    for light in stage.lights.values():
        light.hide_render = True
    for thing in stage.apart:
        thing.hide_render = False
    added = read_exr(render_to(stage.scene, exr))
    return write_exr(own[..., :3] + added[..., :3], exr)
