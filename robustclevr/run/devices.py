"""Which GPUs this machine has for us, and the seats of local workers.

What the user asked for enters; seats leave, with the reason for them in words. Blender is asked
which devices there are, in a process that ends at once: what it cannot use is of no use here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from robustclevr.errors import RendererLostError, SpecError, suggest
from robustclevr.records.device import DEVICES, Gpu
from robustclevr.run.blender_process import BlenderProcess, RendererCommand, RendererSetup
from robustclevr.run.cores import share_cores
from robustclevr.run.limits import usable_cores
from robustclevr.run.nvidia import card_at, nvidia_cards
from robustclevr.run.seats import Seat, plan_seats

GPU_FILES = ("nvidia[0-9]*", "kfd", "dri", "dxg")
"""Device files below ``/dev`` without which no GPU can be reached: of NVIDIA's driver, of AMD's,
of Mesa's and Intel's, and of Windows' under WSL."""

NO_SIGN = "no GPU here (none of /dev/nvidia*, /dev/kfd, /dev/dri, /dev/dxg)"

BROKEN = "Blender does not survive looking for GPUs"


@dataclass(frozen=True)
class Devices:
    """What renders.

    Attributes
    ----------
    gpus : tuple of Gpu
        All of the chosen back end; none for the processor.
    why : str
        Why it is not a better device, in one line; empty if there is no better one.
    """

    gpus: tuple[Gpu, ...]
    why: str = ""

    def __str__(self) -> str:
        what = "the CPU"
        if self.gpus:
            names = sorted({gpu.name for gpu in self.gpus})
            times = f"{len(self.gpus)} x " if len(self.gpus) > 1 else ""
            what = f"{times}{self.gpus[0].backend} ({', '.join(names)})"
        return f"{what}; {self.why}" if self.why else what


def check_device(word: str) -> str:
    """Return a device's name in the case that is used here.

    Raises
    ------
    SpecError
        If there is no such device: says the nearest one.
    """
    name = word.lower()
    if name in DEVICES:
        return name
    hint = f"{suggest(name, DEVICES)}; auto takes a GPU where there is one"
    raise SpecError.single(f"'{word}' is no device", file="--device", hint=hint)


def has_sign_of_gpu(dev: Path = Path("/dev")) -> bool:
    """Tell whether any driver of a GPU left its files below ``/dev``."""
    return any(next(dev.glob(pattern), None) is not None for pattern in GPU_FILES)


def find_devices(wanted: str, command: RendererCommand) -> Devices:
    """Return what renders on this machine, asking Blender where there may be a GPU.

    Parameters
    ----------
    wanted : str
        One of :data:`robustclevr.records.device.DEVICES`.
    command : RendererCommand

    Raises
    ------
    SpecError
        If ``wanted`` is another word.
    SetupError
        If it is not here, or there is no Blender.
    RenderError
        If Blender dies of looking for a device that was asked for by name.
    """
    wanted = check_device(wanted)
    if wanted == "cpu":
        return Devices(())
    if wanted == "auto" and not has_sign_of_gpu():
        return Devices((), NO_SIGN)
    try:
        process = BlenderProcess(RendererSetup((), device=wanted, command=command))
    except RendererLostError as error:
        if wanted != "auto":
            raise
        # A driver that crashes when it is asked is no reason not to use the processor.
        return Devices((), f"{BROKEN}: {error.reason}")
    with process:
        gpu = process.gpu
        return Devices(() if gpu is None else process.survey.of(gpu.backend), process.why)


def local_seats(devices: Devices, *, workers: int | None, shards: int) -> tuple[Seat, ...]:
    """Return the seats of workers of this machine.

    Parameters
    ----------
    devices : Devices
    workers : int or None
        As asked for.
    shards : int
        A worker needs one.
    """
    if not devices.gpus:
        count, threads = share_cores(workers, shards)
        return (Seat(threads),) * count
    cards = nvidia_cards()
    found = {gpu: card_at(gpu.address, cards) for gpu in devices.gpus}
    return plan_seats(
        devices.gpus,
        sorted(os.sched_getaffinity(0)),
        workers=workers,
        shards=shards,
        limit=usable_cores(),
        near={gpu: near_cores(gpu.address) for gpu in devices.gpus},
        # Of a single GPU the user's own choice stands, which may be a part of one (MIG).
        uuids={gpu: card.uuid for gpu, card in found.items() if card} if len(found) > 1 else {},
    )


def near_cores(address: str, sys: Path = Path("/sys")) -> frozenset[int]:
    """Return the cores that a PCI device is attached to; none where it is not known.

    Parameters
    ----------
    address : str
        Such as ``0000:c1:00``.
    sys : Path
        Where sysfs is.
    """
    try:
        text = (sys / f"bus/pci/devices/{address}.0/local_cpulist").read_text(encoding="ascii")
    except OSError:
        return frozenset()
    return frozenset(_numbers(text.strip().split(",")))


def _numbers(ranges: Iterable[str]) -> Iterable[int]:
    for item in ranges:
        first, _, last = item.partition("-")
        if first:
            yield from range(int(first), int(last or first) + 1)
