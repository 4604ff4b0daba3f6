"""What NVIDIA's own tool says of the cards: driver, compute capability, and their unique names.

Cycles lists devices but does not tell these. Where ``nvidia-smi`` is missing, as in a container
without the ``utility`` capability, nothing is known and nothing fails.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_FIELDS = ("pci.bus_id", "uuid", "name", "driver_version", "memory.total")
_NEWER_FIELD = "compute_cap"  # drivers before 510 do not know it
_TIMEOUT_S = 20.0  # chosen: without the persistence daemon the driver takes seconds to wake

_KERNEL = re.compile(r"sm_(\d+)(\d)")
_CAPABILITY = re.compile(r"\d+\.\d")


@dataclass(frozen=True)
class Card:
    """One NVIDIA card.

    Attributes
    ----------
    address : str
        Its place on the PCI bus as Cycles writes it, such as ``0000:c1:00``.
    uuid : str
        What ``CUDA_VISIBLE_DEVICES`` takes, whatever the order of cards.
    name, driver : str
    memory_mib : int
        0 where it is not told.
    capability : str
        Compute capability such as ``9.0``; empty where it is not told.
    """

    address: str
    uuid: str
    name: str
    driver: str
    memory_mib: int
    capability: str = ""


def nvidia_cards(program: str = "nvidia-smi") -> tuple[Card, ...]:
    """Return the cards that ``nvidia-smi`` lists; none where it is missing or fails.

    It lists all cards of the machine or container, whatever ``CUDA_VISIBLE_DEVICES`` says.
    """
    for fields in ((*_FIELDS, _NEWER_FIELD), _FIELDS):
        query = [f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
        try:
            run = subprocess.run(
                [program, *query], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ()
        if run.returncode == 0:
            return tuple(_cards(run.stdout.splitlines()))
    return ()


def card_at(address: str, cards: Iterable[Card]) -> Card | None:
    """Return the card at a place on the PCI bus; None where it is not known."""
    return next((card for card in cards if address and card.address == address), None)


def kernel_for(capability: str, kernels: Iterable[str]) -> str:
    """Return the machine code among ``kernels`` that a card runs, empty if it has to be compiled.

    Parameters
    ----------
    capability : str
        Compute capability, such as ``8.9``.
    kernels : iterable of str
        Such as ``sm_86``. Code of one major version runs on the same or a later minor version.

    Examples
    --------
    >>> kernel_for("8.7", ["sm_75", "sm_86", "sm_89"]), kernel_for("9.0", ["sm_89", "compute_75"])
    ('sm_86', '')
    """
    major, _, minor = capability.partition(".")
    fitting = [
        (int(match[2]), kernel)
        for kernel in kernels
        if (match := _KERNEL.fullmatch(kernel)) and match[1] == major and match[2] <= minor
    ]
    return max(fitting)[1] if fitting else ""


def _cards(lines: Iterable[str]) -> Iterator[Card]:
    for line in lines:
        fields = [field.strip() for field in line.split(",")]
        if len(fields) < len(_FIELDS):
            continue
        bus, uuid, name, driver, memory, *others = fields
        yield Card(
            address=_as_cycles_writes(bus),
            uuid=uuid,
            name=name,
            driver=driver,
            memory_mib=int(memory) if memory.isdigit() else 0,  # "[N/A]" where it is shared
            capability=next((word for word in others if _CAPABILITY.fullmatch(word)), ""),
        )


def _as_cycles_writes(bus: str) -> str:
    """Return ``00000000:C1:00.0`` as ``0000:c1:00``."""
    domain, _, rest = bus.lower().partition(":")
    return f"{int(domain, 16):04x}:{rest.partition('.')[0]}"
