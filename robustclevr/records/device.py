"""Words for devices, and what Blender finds of them on one machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

BACKENDS = ("optix", "cuda", "hip", "metal", "oneapi")
"""Cycles' GPU back ends in the order in which ``auto`` tries them."""

DEVICES = ("auto", "cpu", *BACKENDS)
"""What a user may ask for."""

_SPELLED = {"optix": "OptiX", "cuda": "CUDA", "hip": "HIP", "metal": "Metal", "oneapi": "oneAPI"}

# How Cycles ends the id of a CUDA, OptiX or HIP device: domain:bus:device in hexadecimal.
_ADDRESS = re.compile(r"_([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2})(?:_OptiX)?$")


def spelled(backend: str) -> str:
    """Return a back end's name as its makers write it.

    Examples
    --------
    >>> spelled("optix"), spelled("oneapi")
    ('OptiX', 'oneAPI')
    """
    return _SPELLED[backend]


@dataclass(frozen=True)
class Gpu:
    """A GPU as one of Cycles' back ends offers it; the same card may come once for each.

    Attributes
    ----------
    backend : str
        One of :data:`BACKENDS`.
    name : str
        Such as ``NVIDIA H200``.
    id : str
        Cycles' own, which stays the same from process to process.
    """

    backend: str
    name: str
    id: str

    @property
    def label(self) -> str:
        """How receipts call it, such as ``optix (NVIDIA H200)``."""
        return f"{self.backend} ({self.name})"

    @property
    def address(self) -> str:
        """Where it sits on the PCI bus, such as ``0000:c1:00``; empty where Cycles does not say.

        Examples
        --------
        >>> Gpu("optix", "NVIDIA H200", "CUDA_NVIDIA H200_0000:c1:00_OptiX").address
        '0000:c1:00'
        """
        match = _ADDRESS.search(self.id)
        return match[1] if match else ""


@dataclass(frozen=True)
class DeviceSurvey:
    """Every GPU that one Blender can render on, and why there are no more.

    Attributes
    ----------
    gpus : tuple of Gpu
        In the order of :data:`BACKENDS`.
    absent : mapping of str to str
        Why a back end has none, for each that has none.
    kernels : tuple of str
        CUDA kernels that come with it: ``sm_86`` is machine code for compute capability 8.6,
        ``compute_75`` is what a driver compiles for newer ones.
    """

    gpus: tuple[Gpu, ...]
    absent: Mapping[str, str]
    kernels: tuple[str, ...] = ()

    def of(self, backend: str) -> tuple[Gpu, ...]:
        """Return the GPUs of one back end."""
        return tuple(gpu for gpu in self.gpus if gpu.backend == backend)
