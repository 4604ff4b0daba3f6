"""Which Blender the options name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robustclevr.run.blender_process import RendererCommand


def renderer_command(blender_app: Path | None, blender_python: Path | None) -> RendererCommand:
    """Return how Blender is started.

    Raises
    ------
    SpecError
        If both options are given.
    """
    from robustclevr.errors import SpecError
    from robustclevr.run.blender_process import RendererCommand

    if blender_app is not None and blender_python is not None:
        raise SpecError.single(
            "two Blenders are named", file="--blender", hint="give --blender or --blender-python"
        )
    if blender_app is not None:
        return RendererCommand(blender=str(blender_app))
    if blender_python is not None:
        return RendererCommand(python=str(blender_python))
    return RendererCommand()
