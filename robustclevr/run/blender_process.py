"""One Blender process: Plans go in, Renders come out, and its death is an error.

Speaks lines of JSON over two pipes with ``blender/bootstrap.py``, which it starts but never
imports. Arrays come back as files in a private scratch folder and are deleted once read.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from robustclevr.errors import (
    DeviceLostError,
    RecipeError,
    RendererLostError,
    RenderError,
    RobustClevrError,
    SamplingError,
    SetupError,
    StoreError,
)
from robustclevr.records import (
    ImagePlan,
    LinearImage,
    Plan,
    Render,
    RenderSettings,
    from_json,
    to_json,
)
from robustclevr.records.device import DeviceSurvey, Gpu
from robustclevr.run.device_loss import device_loss
from robustclevr.run.memory import MemoryGuard, exit_reason
from robustclevr.run.pipes import PipeClosedError
from robustclevr.run.rendered import read_images, read_render
from robustclevr.run.renderer_command import (
    INSTALL_LINE,
    RendererCommand,
    RendererSetup,
    missing_bpy,
    start,
)
from robustclevr.run.renderer_log import RendererLog
from robustclevr.run.scratch import make_scratch
from robustclevr.run.shards import sample_name

__all__ = [
    "INSTALL_LINE",
    "BlenderProcess",
    "RendererCommand",
    "RendererSetup",
    "hung_after_s",
]

_START_TIMEOUT_S = 300.0  # chosen: a cold start from a network disk takes tens of seconds
_QUIT_TIMEOUT_S = 5.0
COMPILING_S = 1800.0
"""Time that a GPU's first sample is given beside its own, for the driver that may have to compile
every kernel first. Chosen: that takes minutes, and longer where many processes begin at once."""
_STACK_WAIT_S = 0.5  # chosen: a stack is written in milliseconds
_BASE_TIMEOUT_S = 600.0
# A fiftieth of what two CPU cores reach on a scene of 8 objects (39 million in 40 to 55 s,
# measured on bpy 4.5): slower than this is hung.
_HUNG_PIXEL_SAMPLES_PER_S = 16_000.0

_ERRORS: Mapping[str, type[RobustClevrError]] = {
    kind.__name__: kind
    for kind in (
        DeviceLostError,
        RecipeError,
        RenderError,
        SamplingError,
        SetupError,
        StoreError,
    )
}


def hung_after_s(settings: RenderSettings, renders: int) -> float:
    """Return the time after which a sample that has not come back is given up. [s]."""
    pixel_samples = settings.height * settings.width * settings.samples * max(renders, 1)
    return _BASE_TIMEOUT_S + pixel_samples / _HUNG_PIXEL_SAMPLES_PER_S


class BlenderProcess:
    """A running Blender that renders one Plan after the other; a context manager.

    One sample may be in flight: :meth:`submit` returns at once, :meth:`collect` waits. After any
    RenderError that says that it died, the process is gone and a new one has to be started.

    Parameters
    ----------
    setup : RendererSetup
    timeout_s : float, optional
        For each sample; by default from its settings, see :func:`hung_after_s`.

    Raises
    ------
    SetupError
        If the program is missing or has no bpy.
    RenderError
        If it dies or hangs while starting.
    """

    def __init__(self, setup: RendererSetup, *, timeout_s: float | None = None) -> None:
        self.setup = setup
        self.rendered = 0
        self.rss_bytes = 0
        self.startup_s = 0.0
        self._timeout_s = timeout_s
        self._in_flight: tuple[Plan, Path, float] | None = None
        self._scratch = make_scratch()
        self._log = RendererLog(self._scratch / "renderer.log")
        started = time.monotonic()
        try:
            self._process, self._pipe = start(setup, self._log, self._scratch)
        except BaseException:
            self._discard()
            raise
        self._guard = MemoryGuard(self._process, setup.limit_bytes(), self._end)
        try:
            ready = self._greet()
        except BaseException:
            self.kill()
            raise
        self.startup_s = time.monotonic() - started
        self.versions: Mapping[str, str] = ready["versions"]
        self.device: str = ready["device"]
        self.why: str = ready.get("why", "")
        self.gpu = from_json(Gpu, ready["gpu"]) if ready.get("gpu") else None
        self.survey = from_json(DeviceSurvey, ready.get("survey") or {"gpus": (), "absent": {}})
        self.rss_bytes = int(ready["rss_bytes"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.kill()

    @property
    def pid(self) -> int:
        """Process id of Blender."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """False once the process has ended."""
        return self._process.poll() is None

    def render(self, plan: Plan) -> Render:
        """Render one sample; :meth:`submit` and :meth:`collect` in one."""
        self.submit(plan)
        return self.collect()

    def submit(self, plan: Plan) -> None:
        """Start rendering a sample; nothing else may be in flight."""
        if self._in_flight is not None:
            raise RenderError("one sample is in flight already: collect it first")
        folder = self._new_folder()
        limit_s = self._timeout_s or hung_after_s(plan.settings, len(plan.renders))
        if self.gpu is not None and self.rendered == 0:
            limit_s += COMPILING_S
        # Also set before sending: a process that died idle is noticed by collect, by name.
        self._in_flight = (plan, folder, limit_s)
        self._log.mark()
        request = {"type": "render", "plan": to_json(plan), "scratch": str(folder)}
        with contextlib.suppress(PipeClosedError):
            self._pipe.send(request)

    def collect(self) -> Render:
        """Wait for the sample in flight.

        Returns
        -------
        Render
            In memory; its files are gone.

        Raises
        ------
        RenderError
            If Blender died, hung or failed on the sample: names the sample, the signal or exit
            code, and the renderer's last lines.
        RecipeError
            If a recipe raised.
        """
        if self._in_flight is None:
            raise RenderError("no sample is in flight")
        plan, folder, limit_s = self._in_flight
        self._in_flight = None
        name = sample_name(plan.split, plan.index)
        try:
            reply = self._receive(limit_s, f"rendering {name}")
            self.rss_bytes = int(reply["rss_bytes"])
            return read_render(reply, folder, plan, versions=self.versions, device=self.device)
        finally:
            self._finish(folder)

    def composite(
        self,
        pixels: NDArray[np.float32],
        images: Sequence[ImagePlan],
        name: str,
        *,
        follow: bool = True,
    ) -> tuple[tuple[LinearImage, ...], float]:
        """Apply image-stage steps to an existing picture; nothing else may be in flight.

        Parameters
        ----------
        pixels : ndarray of float32, shape (H, W, 3)
            Scene-linear.
        images : sequence of ImagePlan
        name : str
            The sample's, for messages.
        follow : bool
            Whether to follow the pixels that move, by which labels move along.

        Returns
        -------
        images : tuple of LinearImage
            In the same order.
        seconds : float
            In the compositor. [s]

        Raises
        ------
        RenderError, RecipeError
            As :meth:`collect`.
        """
        if self._in_flight is not None:
            raise RenderError("one sample is in flight already: collect it first")
        folder = self._new_folder()
        self._log.mark()
        try:
            np.save(folder / "picture.npy", pixels, allow_pickle=False)
            request = {
                "type": "composite",
                "pixels": str(folder / "picture.npy"),
                "images": to_json(tuple(images)),
                "follow": follow,
                "scratch": str(folder),
            }
            with contextlib.suppress(PipeClosedError):
                self._pipe.send(request)
            reply = self._receive(self._timeout_s or _BASE_TIMEOUT_S, f"compositing {name}")
            self.rss_bytes = int(reply["rss_bytes"])
            made = read_images(reply["images"], folder, images, pixels.shape[:2], name)
            return made, float(reply["seconds"])
        finally:
            self._finish(folder)

    def close(self) -> None:
        """Let the process finish; kill it if it does not within a few seconds."""
        with contextlib.suppress(PipeClosedError):
            self._pipe.send({"type": "quit"})
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_QUIT_TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """End the process at once and remove its scratch folder; harmless when repeated."""
        if self._process.poll() is None:
            self._end()
        self._process.wait()
        self._guard.stop()
        self._pipe.close()
        self._discard()

    def _end(self) -> None:
        # The whole group: a Blender application may be a script that starts another program.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _new_folder(self) -> Path:
        folder = self._scratch / f"{self.rendered:08d}"
        folder.mkdir()
        return folder

    def _finish(self, folder: Path) -> None:
        self.rendered += 1
        shutil.rmtree(folder, ignore_errors=True)

    def _greet(self) -> dict[str, Any]:
        request = {
            "type": "setup",
            "recipes": [list(pair) for pair in self.setup.recipes],
            "threads": self.setup.threads,
            "device": self.setup.device,
            "gpu": None if self.setup.gpu is None else self.setup.gpu.id,
        }
        with contextlib.suppress(PipeClosedError):
            self._pipe.send(request)
        return self._receive(_START_TIMEOUT_S, "starting")

    def _receive(self, limit_s: float, doing: str) -> dict[str, Any]:
        try:
            return self._answer(limit_s, doing)
        except RenderError as error:
            line = "" if self.setup.device == "cpu" else device_loss(str(error))
            if not line:
                raise
            # The process may live, but a GPU that failed under it is of no use to it any more.
            tail = self._log.tail() if self._scratch.is_dir() else getattr(error, "tail", "")
            self.kill()
            raise DeviceLostError(f"the GPU was lost while {doing}: {line}", tail) from error

    def _answer(self, limit_s: float, doing: str) -> dict[str, Any]:
        try:
            reply = self._pipe.receive(limit_s)
        except PipeClosedError:
            raise self._death(doing) from None
        except TimeoutError:
            raise self._hang(limit_s, doing) from None
        # What it says of its devices while it starts is not about a picture.
        line = "" if reply.get("type") == "ready" else self._log.distrust()
        if reply.get("type") == "failed":
            raise _failure(reply)
        if line:
            tail = self._log.tail()
            self.kill()
            raise RendererLostError(f"Blender reported an error while {doing}: {line}", tail)
        return reply

    def _hang(self, limit_s: float, doing: str) -> RendererLostError:
        """End a process that does not answer; say where it was."""
        tail = self._log.tail()
        self._log.mark()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGUSR2)  # see blender/bootstrap.py
        time.sleep(_STACK_WAIT_S)
        frames = self._log.frames()
        self._end()  # also where a script that started Blender did not survive the question
        self.kill()
        reason = f"Blender did not answer within {limit_s:g} s while {doing} and was ended"
        return RendererLostError(reason, f"{tail}\n    it was at\n{frames}" if frames else tail)

    def _death(self, doing: str) -> RobustClevrError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_QUIT_TIMEOUT_S)
        tail = self._log.tail()
        self.kill()
        if "No module named 'bpy'" in tail:
            return missing_bpy(self.setup.command)
        code = self._process.returncode
        cause = self._guard.explain(code)
        reason = f"Blender {exit_reason(code)} while {doing}"
        return RendererLostError(f"{reason}: {cause}" if cause else reason, tail)

    def _discard(self) -> None:
        if self._scratch.is_dir():
            self._log.close()
            shutil.rmtree(self._scratch, ignore_errors=True)


def _failure(reply: Mapping[str, Any]) -> RobustClevrError:
    kind, message = str(reply["kind"]), str(reply["message"])
    error = _ERRORS[kind](message) if kind in _ERRORS else RenderError(f"{kind}: {message}")
    if reply.get("traceback"):
        error.add_note(str(reply["traceback"]))
    return error
