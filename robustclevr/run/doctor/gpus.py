"""The GPUs that Blender lists, their drivers and kernels, and why others are out of reach."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from robustclevr.records.device import DeviceSurvey, Gpu, spelled
from robustclevr.run.doctor.finding import Finding
from robustclevr.run.nvidia import Card, card_at, kernel_for, nvidia_cards

OPTIX_DRIVER = 535
"""The oldest NVIDIA driver with the OptiX that Blender 4.5 needs, from its Cycles add-on."""

_RUN_WITH_GPUS = (
    "start it with 'docker run --gpus all' or a GPU reservation of compose; the host needs the "
    "NVIDIA Container Toolkit"
)
_CAPABILITIES = "NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics"


@dataclass(frozen=True)
class Surroundings:
    """What bears on the reach of NVIDIA GPUs, beside what Blender says.

    Attributes
    ----------
    cards : tuple of Card
        As ``nvidia-smi`` lists them.
    host_driver : str
        Version of the driver that the kernel has loaded, seen from within a container too; empty
        without one.
    files : frozenset of str
        Names below ``/dev`` that begin with ``nvidia``.
    in_container : bool
    environment : mapping of str to str
    """

    cards: tuple[Card, ...] = ()
    host_driver: str = ""
    files: frozenset[str] = frozenset()
    in_container: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def here(cls, root: Path = Path("/"), tool: str = "nvidia-smi") -> Surroundings:
        """Look at this machine."""
        marks = (root / ".dockerenv", root / "run/.containerenv")
        return cls(
            cards=nvidia_cards(tool),
            host_driver=_loaded_driver(root / "proc/driver/nvidia/version"),
            files=frozenset(path.name for path in (root / "dev").glob("nvidia*")),
            in_container=any(mark.exists() for mark in marks),
            environment=dict(os.environ),
        )

    @property
    def driver(self) -> str:
        """Version of NVIDIA's driver; empty where there is none."""
        return self.cards[0].driver if self.cards else self.host_driver


def gpu_findings(survey: DeviceSurvey, around: Surroundings) -> Iterator[Finding]:
    """Yield every card that Blender lists, then the driver, then what keeps others away."""
    cards: dict[str, list[Gpu]] = {}
    for gpu in survey.gpus:
        cards.setdefault(gpu.address or gpu.id, []).append(gpu)
    for gpus in cards.values():
        yield _card(gpus, survey, card_at(gpus[0].address, around.cards))
    if around.driver:
        yield _driver(around, survey)
    for what, advice in hints(survey, around):
        yield Finding("gpu access", what, works=False, advice=advice)


def hints(survey: DeviceSurvey, around: Surroundings) -> Iterator[tuple[str, str]]:
    """Yield what keeps Blender from a GPU that may be there, and what to do about it."""
    asked = around.environment.get("NVIDIA_VISIBLE_DEVICES", "")
    nodes = {name for name in around.files if re.fullmatch(r"nvidia\d+", name)}
    cuda = survey.of("cuda")
    if not nodes and (around.host_driver or asked not in ("", "void", "none")):
        if around.in_container:
            host = f"the host has NVIDIA driver {around.host_driver}" if around.host_driver else ""
            yield f"{host or 'a GPU is asked for'}, but no /dev/nvidia* is here", _RUN_WITH_GPUS
        elif around.host_driver:
            yield "the driver is loaded, but no /dev/nvidia* is there", "run nvidia-modprobe"
    elif nodes and not cuda:
        yield from _out_of_reach(survey, around)
    capabilities = around.environment.get("NVIDIA_DRIVER_CAPABILITIES", "all")
    if cuda and not survey.of("optix") and not {"all", "graphics"} & {*capabilities.split(",")}:
        what = f"NVIDIA_DRIVER_CAPABILITIES is '{capabilities}': without 'graphics' no OptiX"
        yield what, f"set {_CAPABILITIES}"
    if cuda and not around.cards:
        what = "nvidia-smi is not here: compute capabilities are not known, GPUs not told apart"
        yield what, f"set {_CAPABILITIES}"


def _out_of_reach(survey: DeviceSurvey, around: Surroundings) -> Iterator[tuple[str, str]]:
    """Yield why Blender lists no card though device files are there."""
    reason = survey.absent.get("cuda", "")
    if "nvidia-uvm" not in around.files:
        yield (
            "/dev/nvidia-uvm is missing: CUDA cannot start",
            "run 'nvidia-modprobe -u' on the host",
        )
    elif "libcuda" in reason and around.in_container:
        yield "the driver's libraries are not in the container", f"set {_CAPABILITIES}"
    elif "libcuda" in reason:
        yield "the driver's libraries are not installed", "install the NVIDIA driver's libcuda"
    else:
        yield f"Blender lists no NVIDIA GPU: {reason}", "see whether nvidia-smi lists it"


def _card(gpus: list[Gpu], survey: DeviceSurvey, card: Card | None) -> Finding:
    backends = [gpu.backend for gpu in gpus]
    capability = card.capability if card else ""
    kernels = _kernels(backends, capability, survey.kernels)
    facts = {
        "name": gpus[0].name,
        "backends": backends,
        "address": gpus[0].address,
        "compute_capability": capability,
        "driver": card.driver if card else "",
        "memory_mib": card.memory_mib if card else 0,
        "kernels": kernels,
    }
    about = [" and ".join(map(spelled, backends))]
    if capability:
        about.append(f"compute capability {capability}")
    if card and card.memory_mib:
        about.append(f"{card.memory_mib / 1024:.0f} GiB")
    about += [kernels] if kernels else []
    place = f" at {gpus[0].address}" if gpus[0].address else ""
    return Finding("gpu", f"{gpus[0].name}{place}: {', '.join(about)}", facts=facts)


def _kernels(backends: list[str], capability: str, kernels: tuple[str, ...]) -> str:
    """Return in words whether the first render has to wait for a compiler."""
    if not {"optix", "cuda"} & set(backends) or not kernels:
        return ""
    # OptiX compiles its programs from PTX whatever the GPU is: Cycles, device/optix.
    optix = ["OptiX"] if "optix" in backends else []
    if not capability:
        return "whether kernels are precompiled is not known"
    if fitting := kernel_for(capability, kernels):
        first = f"CUDA kernels precompiled ({fitting})"
        return f"{first}, OptiX compiled at first use" if optix else first
    return f"{' and '.join(['CUDA', *optix])} kernels compiled at first use"


def _driver(around: Surroundings, survey: DeviceSurvey) -> Finding:
    version, optix = around.driver, bool(survey.of("optix"))
    major = int(version.partition(".")[0]) if version[:1].isdigit() else OPTIX_DRIVER
    how = "is there" if optix else f"is not: {survey.absent.get('optix', 'no device')}"
    state = f"NVIDIA {version}; OptiX {how}"
    return Finding(
        "driver",
        state,
        works=major >= OPTIX_DRIVER or optix,
        advice=f"OptiX needs driver {OPTIX_DRIVER} or newer; CUDA, which is slower, works without",
        facts={"nvidia": version, "optix": optix},
    )


def _loaded_driver(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError:
        return ""
    match = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", text)
    return match[1] if match else ""
