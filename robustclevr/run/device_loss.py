"""How Cycles says that a GPU failed under it."""

from __future__ import annotations

import re

DEVICE_LOSS = (
    # Of its queues and calls, by name of the driver's error: "Illegal address in CUDA queue
    # copy_from_device (…)", "Out of memory in cuMemAlloc(…) (…)", "… in optixLaunch(…) (…)".
    r"\bin (?:CUDA|HIP|Metal|oneAPI) queue\b"
    r"|\bin (?:cu|hip|optix)[A-Z]\w*\("
    # While it takes hold of a device, or of kernels: "Failed to create CUDA context (…)".
    r"|\bFailed to (?:create|retain|initialize|get|load) (?:CUDA|HIP|OptiX|oneAPI)\b"
    r"|\bCUDA cu(?:Init|DeviceGet)\w*: "
    # Memory: "System is out of GPU memory", "System is out of GPU and shared host memory".
    r"|\bout of GPU\b"
    r"|\boneAPI kernel .* execution error\b"
    # What the Blender process says itself, see blender/devices.py.
    r"|\bGPU '.*' is not there any more\b"
)
"""Regular expression for a line that says so. From the messages in Cycles' device/cuda, device/hip,
device/optix, device/oneapi and device/memory sources of Blender 4.5; which of them end a device for
good and which only a render is not to be told from the text, so all are treated alike."""

_DEVICE_LOSS = re.compile(DEVICE_LOSS)


def device_loss(text: str) -> str:
    r"""Return the first line of a renderer's words that says that its GPU failed, or nothing.

    Examples
    --------
    >>> device_loss("Fra:1\nError: Illegal address in CUDA queue synchronize (shade_surface)\n")
    'Illegal address in CUDA queue synchronize (shade_surface)'
    """
    found = next((line for line in text.splitlines() if _DEVICE_LOSS.search(line)), "")
    return found.rpartition("Error: ")[2].strip()
