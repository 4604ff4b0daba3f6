"""Which device Cycles renders on: what there is, the choice among it, and setting it.

Enters: the preferences of Cycles and what the user asked for. Leaves: one device switched on, and
the reason why it is that one. Nobody but Cycles is asked which GPUs there are, since only what it
lists can render; that is also why this happens in the Blender process: listing devices loads
drivers, and a broken driver takes the process with it.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustclevr.errors import DeviceLostError, SetupError, suggest
from robustclevr.records.device import BACKENDS, DEVICES, DeviceSurvey, Gpu, spelled

_LIST_SEPARATOR = "; "
_NOT_BUILT = "not in this Blender"
_NO_DEVICE = "no device"


@dataclass(frozen=True)
class Choice:
    """The device that was chosen.

    Attributes
    ----------
    gpu : Gpu or None
        None for the processor.
    why : str
        Why it is not a better one, in one line; empty if there is no better one.
    """

    gpu: Gpu | None
    why: str = ""

    @property
    def label(self) -> str:
        """``cpu``, or the back end and the device's name, such as ``optix (NVIDIA H200)``."""
        return "cpu" if self.gpu is None else self.gpu.label


def take_device(wanted: str, gpu_id: str | None = None) -> tuple[Choice, DeviceSurvey]:
    """Choose a device of this machine and let Cycles render on it, and on no other.

    Parameters
    ----------
    wanted, gpu_id : str, str or None
        As for :func:`choose`. For ``cpu`` no driver is loaded and the survey is empty.

    Raises
    ------
    SetupError
        If ``wanted`` is no device, or not here.
    """
    import bpy

    context: Any = bpy.context
    preferences = context.preferences.addons["cycles"].preferences
    survey = DeviceSurvey((), {})
    if wanted != "cpu":
        add_on = Path(str(importlib.import_module("cycles").__file__)).parent
        survey = survey_devices(preferences, add_on / "lib")
    choice = choose(wanted, survey, gpu_id)
    enable(preferences, choice.gpu)
    return choice, survey


def choose(wanted: str, survey: DeviceSurvey, gpu_id: str | None = None) -> Choice:
    """Choose among the devices that there are.

    Parameters
    ----------
    wanted : str
        One of :data:`robustclevr.records.device.DEVICES`; ``auto`` takes the first back end that
        has a GPU, else the processor.
    survey : DeviceSurvey
    gpu_id : str or None
        Cycles' id of the one GPU that may be used; None takes the back end's first.

    Returns
    -------
    Choice

    Raises
    ------
    SetupError
        If ``wanted`` is another word, or what it asks for is not there: with the reason.
    DeviceLostError
        If the GPU called ``gpu_id`` is not there.
    """
    if wanted not in DEVICES:
        raise SetupError(f"device '{wanted}' is not known here; {suggest(wanted, DEVICES)}")
    if wanted == "cpu":
        return Choice(None)
    passed: list[str] = []
    for backend in BACKENDS if wanted == "auto" else (wanted,):
        found = [gpu for gpu in survey.of(backend) if gpu_id in (None, gpu.id)]
        if found:
            return Choice(found[0], reasons(passed, survey.absent))
        passed.append(backend)
    if gpu_id is not None:
        raise DeviceLostError(f"GPU '{gpu_id}' is not there any more")
    if wanted == "auto":
        return Choice(None, reasons(passed, survey.absent))
    raise SetupError(
        f"device '{wanted}' is not here: {reasons(passed, survey.absent)}; 'robustclevr doctor' "
        "says more, '--device auto' takes the best that is here"
    )


def reasons(backends: Iterable[str], absent: Mapping[str, str]) -> str:
    """Return in one line why back ends have no device, those of one reason together.

    Examples
    --------
    >>> reasons(["optix", "cuda", "hip"], {"optix": "too old", "cuda": "too old", "hip": "none"})
    'OptiX, CUDA: too old; HIP: none'
    """
    groups: dict[str, list[str]] = {}
    for backend in backends:
        groups.setdefault(absent.get(backend, _NO_DEVICE), []).append(spelled(backend))
    return _LIST_SEPARATOR.join(f"{', '.join(names)}: {why}" for why, names in groups.items())


def survey_devices(preferences: Any, kernels: Path) -> DeviceSurvey:
    """Ask Cycles for every device.

    Parameters
    ----------
    preferences : bpy.types.AddonPreferences
        Of Cycles; no device is switched on or off.
    kernels : Path
        Folder of the kernels that come with it.
    """
    built = [backend for backend in BACKENDS if _offers(preferences, backend)]
    gpus = tuple(
        Gpu(backend, name, identifier)
        for backend in built
        # Its own entries of devices may be of another machine; this list is of what is here.
        for name, kind, identifier, *_ in preferences.get_device_list(backend.upper())
        if kind == backend.upper()
    )
    seen = {gpu.backend for gpu in gpus}
    absent = {
        backend: _reason(backend, seen) if backend in built else _NOT_BUILT
        for backend in BACKENDS
        if backend not in seen
    }
    return DeviceSurvey(gpus, absent, _cuda_kernels(kernels))


def enable(preferences: Any, gpu: Gpu | None) -> None:
    """Switch on one GPU and every other device off; for None, all of them.

    Parameters
    ----------
    preferences : bpy.types.AddonPreferences
        Of Cycles; they survive the loading of other files.
    gpu : Gpu or None

    Raises
    ------
    DeviceLostError
        If Cycles does not know it any more: it would render on the processor without a word.
    """
    if gpu is None:
        preferences.compute_device_type = "NONE"
        return
    preferences.compute_device_type = gpu.backend.upper()
    preferences.get_device_list(gpu.backend.upper())
    for device in preferences.devices:
        device.use = (device.type, device.id) == (gpu.backend.upper(), gpu.id)
    if not any(device.use for device in preferences.devices):
        raise DeviceLostError(f"GPU '{gpu.id}' is not there any more")


def _offers(preferences: Any, backend: str) -> bool:
    before = preferences.compute_device_type
    try:
        preferences.compute_device_type = backend.upper()
    except TypeError:  # no such item in this build
        return False
    preferences.compute_device_type = before
    return True


def _cuda_kernels(folder: Path) -> tuple[str, ...]:
    files = sorted(folder.glob("kernel_*"))
    names = [file.name.split(".")[0].removeprefix("kernel_") for file in files]
    return tuple(name for name in names if name.startswith(("sm_", "compute_")))


def _reason(backend: str, seen: set[str]) -> str:
    """Return why a back end that Cycles was built with has no device."""
    if backend == "optix" and "cuda" in seen:
        return _optix_reason()
    if backend in ("optix", "cuda"):
        return _cuda_reason()
    return _NO_DEVICE


def _optix_reason() -> str:
    try:
        ctypes.CDLL("libnvoptix.so.1")
    except OSError:
        return (
            "libnvoptix.so.1 cannot be loaded; in a container NVIDIA_DRIVER_CAPABILITIES must "
            "include 'graphics'"
        )
    return "the NVIDIA driver is too old for this Blender, or the GPU is (before Maxwell)"


def _cuda_reason() -> str:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver (libcuda.so.1 cannot be loaded)"
    code = driver.cuInit(0)
    if code:
        name = ctypes.c_char_p()
        driver.cuGetErrorName(code, ctypes.byref(name))
        said = (name.value or str(code).encode()).decode()
        return f"the NVIDIA driver says {said}{_hidden()}"
    return f"the NVIDIA driver shows no GPU that Cycles can use{_hidden()}"


def _hidden() -> str:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return "" if visible is None else f" (CUDA_VISIBLE_DEVICES is '{visible}')"
