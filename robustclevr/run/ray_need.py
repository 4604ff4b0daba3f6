"""What one task takes of a node of a Ray cluster; pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

RENDER_THREADS = 2
"""Cores of a task that renders without a GPU: more leave its serial parts idle for longer."""


@dataclass(frozen=True)
class Need:
    """What one task takes of a node.

    Attributes
    ----------
    cpus, gpus : int
    """

    cpus: int
    gpus: int

    def slots(self, node: dict[str, Any]) -> int:
        """Return how many tasks a node runs at once."""
        have = node["Resources"]
        slots = int(have.get("CPU", 0)) // self.cpus
        return min(slots, int(have.get("GPU", 0))) if self.gpus else slots


def need_of(nodes: Sequence[dict[str, Any]], *, clips: bool, device: str) -> Need:
    """Return what a task takes: one core, or some to render, or a GPU with its share of the cores.

    Parameters
    ----------
    nodes : sequence of dict
        As ``ray.nodes()`` gives them.
    clips : bool
        Whether samples are clips or pictures, which one thread makes.
    device : str
        ``auto`` takes GPUs where any node has one.
    """
    if clips:
        return Need(cpus=1, gpus=0)
    with_gpu = [node["Resources"] for node in nodes if node["Resources"].get("GPU", 0) >= 1]
    if device == "cpu" or (device == "auto" and not with_gpu):
        most = max((int(node["Resources"].get("CPU", 0)) for node in nodes), default=0)
        return Need(cpus=max(1, min(RENDER_THREADS, most)), gpus=0)
    cores = [int(have.get("CPU", 0)) // int(have["GPU"]) for have in with_gpu]
    return Need(cpus=max(1, min(cores, default=RENDER_THREADS)), gpus=1)
