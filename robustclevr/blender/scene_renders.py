"""What was rendered of the last scene: samples that share a scene share its renders.

The points of a grid and the candidates of a worst case differ after the render only, so the next
Plan with the same scene, settings and outputs finds its renders and label passes here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from robustclevr.records import Plan, RenderPass, canonical_json

Passes = dict[str, NDArray[Any]]
"""``labels`` and what else was asked for, by name."""


class SceneRenders:
    """The float EXR files and label passes of one scene at a time."""

    def __init__(self) -> None:
        self._scene = b""
        self._files: dict[bytes, Path] = {}
        self.passes: Passes = {}

    def turn_to(self, plan: Plan) -> None:
        """Forget another scene; keep this one's renders."""
        scene = canonical_json([plan.scene, plan.settings, plan.outputs])
        if scene != self._scene:
            self.clear()
            self._scene = scene

    def find(self, entry: RenderPass) -> Path | None:
        """Return the file of a render, or None if it has not been made."""
        return self._files.get(canonical_json(entry))

    def keep(self, entry: RenderPass, file: Path) -> None:
        """Own a rendered file until the scene changes."""
        self._files[canonical_json(entry)] = file

    def clear(self) -> None:
        """Remove all files and forget the scene."""
        for file in self._files.values():
            file.unlink(missing_ok=True)
        self._files, self.passes, self._scene = {}, {}, b""
