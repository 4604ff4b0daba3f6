"""The Blender process' side of the pipe: one JSON request a line in, one JSON reply a line out.

Requests are ``setup`` (recipes, threads, device, and which GPU), ``render`` (a Plan and a folder),
``composite`` (a picture's pixels in a ``.npy`` file, the images to make of it, and a folder; no
scene) and ``quit``; replies are ``ready``, ``rendered``, ``composited`` and, for anything that went
wrong, ``failed`` with the error's kind and message. After a failure the process stays usable.
Nothing heavy is imported before ``setup``, so an interpreter that lacks Blender or numpy can say
so.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from robustclevr.errors import RenderError, SetupError

if TYPE_CHECKING:
    from robustclevr.blender.sample import SampleRenderer
    from robustclevr.recipe import LoadedRecipe

Message = dict[str, Any]


def main(in_fd: int, out_fd: int) -> None:
    """Answer requests until ``quit`` or the end of the input.

    Parameters
    ----------
    in_fd, out_fd : int
        Open file descriptors of the two pipes. Not 0 to 2, to which Blender itself writes.
    """
    worker = Worker()
    with (
        os.fdopen(in_fd, encoding="utf-8") as requests,
        os.fdopen(out_fd, "w", encoding="utf-8") as replies,
    ):
        for line in requests:
            request = json.loads(line)
            if request["type"] == "quit":
                break
            _send(replies, worker.answer(request))


class Worker:
    """One Blender session that answers requests."""

    def __init__(self) -> None:
        self._renderer: SampleRenderer | None = None
        self._recipes: Mapping[str, LoadedRecipe] = {}

    def answer(self, request: Mapping[str, Any]) -> Message:
        """Return the reply to one request; no request raises."""
        answers = {
            "setup": self._set_up,
            "render": self._render,
            "composite": self._composite,
        }
        try:
            if request["type"] not in answers:
                raise RenderError(f"unknown request '{request['type']}'")
            reply = answers[request["type"]](request)
        except Exception as error:  # noqa: BLE001 - whatever happened, the parent must hear of it
            return {
                "type": "failed",
                "kind": type(error).__name__,
                "message": str(error) or type(error).__name__,
                "traceback": traceback.format_exc(),
            }
        return {**reply, "rss_bytes": resident_bytes()}

    def _set_up(self, request: Mapping[str, Any]) -> Message:
        start = time.perf_counter()
        try:
            import bpy
            import numpy as np

            from robustclevr.blender.sample import SampleRenderer
            from robustclevr.recipe import load_recipe
            from robustclevr.records import to_json
        except ImportError as error:
            raise SetupError(
                f"{sys.executable} (Python {platform.python_version()}) cannot import Blender: "
                f'{error}; install it with: pip install "robustclevr[blender]"'
            ) from error
        loaded = [load_recipe(Path(path), shipped=own) for path, own in request["recipes"]]
        self._recipes = {entry.recipe.id: entry for entry in loaded}
        self._renderer = SampleRenderer(
            self._recipes,
            threads=request["threads"],
            device=request["device"],
            gpu_id=request.get("gpu"),
        )
        versions = {
            "blender": ".".join(str(part) for part in bpy.app.version),
            "numpy": np.__version__,
            "python": platform.python_version(),
        }
        return {
            "type": "ready",
            "versions": versions,
            "device": self._renderer.device,
            "gpu": to_json(self._renderer.choice.gpu),
            "why": self._renderer.choice.why,
            "survey": to_json(self._renderer.survey),
            "seconds": time.perf_counter() - start,
        }

    def _render(self, request: Mapping[str, Any]) -> Message:
        if self._renderer is None:
            raise RenderError("a render was asked for before setup")
        from robustclevr.records import Plan, from_json

        plan = from_json(Plan, request["plan"])
        return {"type": "rendered", **self._renderer.render(plan, Path(request["scratch"]))}

    def _composite(self, request: Mapping[str, Any]) -> Message:
        if self._renderer is None:
            raise RenderError("a picture came before setup")
        from robustclevr.blender.pictures import composite_picture

        scratch = Path(request["scratch"])
        made = composite_picture(
            Path(request["pixels"]),
            request["images"],
            scratch,
            self._recipes,
            follow=bool(request.get("follow", True)),
        )
        return {"type": "composited", **made}


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes, 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _send(replies: TextIO, message: Message) -> None:
    replies.write(json.dumps(message) + "\n")
    replies.flush()
