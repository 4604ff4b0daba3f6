"""How a Blender process is started, and what it is told first."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import robustclevr
from robustclevr.errors import SetupError
from robustclevr.records.device import Gpu
from robustclevr.run.memory import fair_limit_bytes
from robustclevr.run.pipes import LinePipe
from robustclevr.run.renderer_log import RendererLog

INSTALL_LINE = 'pip install "robustclevr[blender]"'


@dataclass(frozen=True)
class RendererCommand:
    """How a Blender process is started.

    Attributes
    ----------
    python : str
        Interpreter that can ``import bpy``; this one by default.
    blender : str or None
        A Blender application; used instead of ``python`` where given.
    bootstrap : str
        The script that speaks the protocol.
    """

    python: str = sys.executable
    blender: str | None = None
    bootstrap: str = str(Path(robustclevr.__file__).parent / "blender" / "bootstrap.py")

    def arguments(self, in_fd: int, out_fd: int) -> list[str]:
        """Return the command line."""
        pipes = ["--in-fd", str(in_fd), "--out-fd", str(out_fd)]
        if self.blender is None:
            return [self.python, self.bootstrap, *pipes]
        options = ["--background", "--factory-startup", "--python", self.bootstrap]
        return [self.blender, *options, "--", *pipes]

    @property
    def program(self) -> str:
        """What is executed."""
        return self.python if self.blender is None else self.blender


@dataclass(frozen=True)
class RendererSetup:
    """What a Blender process is told before its first sample; may be pickled.

    Attributes
    ----------
    command : RendererCommand
    recipes : tuple of (str, bool)
        Path of each recipe file, and whether it is shipped.
    threads : int
    device : str
        ``auto``, ``cpu``, ``cuda``, …
    command : RendererCommand
    gpu : Gpu or None
        The only one that it may use, of the back end ``device``; None for the first that it finds.
    gpu_uuid : str
        NVIDIA's unique name of it: no other is shown to the process. Empty where it is not known.
    cores : tuple of int
        Processor cores that the process and its worker keep to; empty for any.
    memory_limit_bytes : int or None
        Resident memory at which the process is ended. None: its share of this machine's, by cores.
    """

    recipes: tuple[tuple[str, bool], ...]
    threads: int = 1
    device: str = "auto"
    command: RendererCommand = field(default_factory=RendererCommand)
    memory_limit_bytes: int | None = None
    gpu: Gpu | None = None
    gpu_uuid: str = ""
    cores: tuple[int, ...] = ()

    def environment(self) -> dict[str, str]:
        """Return what is added to the environment of the process."""
        return {"CUDA_VISIBLE_DEVICES": self.gpu_uuid} if self.gpu_uuid else {}

    def on(self, gpu: Gpu | None) -> RendererSetup:
        """Return the same for one GPU and no other, or for None, for the processor."""
        if gpu is None:
            return replace(self, device="cpu", gpu=None, gpu_uuid="")
        return replace(self, device=gpu.backend, gpu=gpu)

    def limit_bytes(self) -> int:
        """Return the limit on resident memory, on the machine that asks."""
        if self.memory_limit_bytes is not None:
            return self.memory_limit_bytes
        return fair_limit_bytes(min(1.0, self.threads / len(os.sched_getaffinity(0))))


def missing_bpy(command: RendererCommand) -> SetupError:
    """Return the error for an interpreter without bpy."""
    return SetupError(
        f"{command.program} has no Blender: bpy cannot be imported; install it with:\n"
        f"    {INSTALL_LINE}\n"
        "or name another one with --blender-python PATH or --blender PATH"
    )


def start(
    setup: RendererSetup, log: RendererLog, scratch: Path
) -> tuple[subprocess.Popen[bytes], LinePipe]:
    """Start a Blender process in a process group of its own.

    Parameters
    ----------
    setup : RendererSetup
    log : RendererLog
        Takes what it prints.
    scratch : Path
        Its folder for temporary files.

    Returns
    -------
    process : Popen
    pipe : LinePipe
        Our end of the conversation.

    Raises
    ------
    SetupError
        If the program cannot be started.
    """
    command = setup.command
    child_in, our_out = os.pipe()
    our_in, child_out = os.pipe()
    try:
        process = subprocess.Popen(
            command.arguments(child_in, child_out),
            pass_fds=(child_in, child_out),
            # Blender leaves an empty folder for temporary files behind; this one is removed.
            env={**os.environ, **setup.environment(), "TMPDIR": str(scratch)},
            stdin=subprocess.DEVNULL,
            stdout=log.fileno(),
            stderr=log.fileno(),
            # Ctrl-C in a terminal goes to a whole process group; we end Blender ourselves.
            start_new_session=True,
        )
    except OSError as error:
        os.close(our_in)
        os.close(our_out)
        raise SetupError(
            f"cannot start {command.program}: {error.strerror}; name an interpreter that has bpy "
            "with --blender-python PATH, or a Blender application with --blender PATH"
        ) from error
    finally:
        os.close(child_in)
        os.close(child_out)
    return process, LinePipe(our_in, our_out)
