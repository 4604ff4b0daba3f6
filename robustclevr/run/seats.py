"""Where each worker sits: which GPU it has, and which cores.

Devices and cores enter, one seat a worker leaves. A GPU gets a process of its own with cores of
its own: Blender prepares a scene and builds its acceleration structure on the processor, and
processes that share cores there make each other's GPU wait.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from robustclevr.records.device import Gpu
from robustclevr.run.blender_process import RendererSetup


@dataclass(frozen=True)
class Seat:
    """What one worker and its Blender keep to.

    Attributes
    ----------
    threads : int
        Of Blender, >= 1.
    gpu : Gpu or None
        The only one that it may use; None for the processor.
    uuid : str
        NVIDIA's unique name of that GPU; empty where it is not known.
    cores : tuple of int
        Numbers of the processor cores; empty for any.
    """

    threads: int
    gpu: Gpu | None = None
    uuid: str = ""
    cores: tuple[int, ...] = ()

    def setup(self, renderer: RendererSetup) -> RendererSetup:
        """Return what the Blender process at this seat is told."""
        told = replace(renderer, threads=self.threads, cores=self.cores, gpu_uuid=self.uuid)
        return told.on(self.gpu)


def plan_seats(
    gpus: Sequence[Gpu],
    cores: Sequence[int],
    *,
    workers: int | None,
    shards: int,
    limit: int | None = None,
    near: Mapping[Gpu, frozenset[int]] | None = None,
    uuids: Mapping[Gpu, str] | None = None,
) -> tuple[Seat, ...]:
    """Give each worker a GPU, in turn, and cores of its own.

    Parameters
    ----------
    gpus : sequence of Gpu
        At least one.
    cores : sequence of int
        Numbers of the cores that may be used, at least one.
    workers : int or None
        As asked for; None for one a GPU. More of them share GPUs evenly.
    shards : int
        A worker needs one.
    limit : int or None
        Cores' worth of time that all together may take, if less than there are cores.
    near : mapping of Gpu to frozenset of int, optional
        Cores that a GPU is attached to; another socket's are slower to reach it.
    uuids : mapping of Gpu to str, optional
        Of the GPUs of which they are known.

    Returns
    -------
    tuple of Seat
        At least one; worker k has GPU ``k % len(gpus)``.

    Examples
    --------
    >>> two = [Gpu("cuda", "A", "a"), Gpu("cuda", "B", "b")]
    >>> [(s.gpu.id, s.cores) for s in plan_seats(two, range(4), workers=None, shards=9)]
    [('a', (0, 1)), ('b', (2, 3))]
    """
    count = max(1, min(workers or len(gpus), shards))
    taken = [gpus[k % len(gpus)] for k in range(count)]
    own = _own_cores(taken, tuple(cores), near or {})
    share = max(1, (limit or len(cores)) // count)
    return tuple(
        Seat(min(len(own[k]), share), gpu, (uuids or {}).get(gpu, ""), own[k])
        for k, gpu in enumerate(taken)
    )


def keep_to(cores: Iterable[int]) -> None:
    """Let this process, and those that it starts, run on these cores only; on any, where none."""
    wanted = set(cores) & os.sched_getaffinity(0)
    if wanted:
        os.sched_setaffinity(0, wanted)


def _own_cores(
    gpus: Sequence[Gpu], cores: tuple[int, ...], near: Mapping[Gpu, frozenset[int]]
) -> list[tuple[int, ...]]:
    """Return the cores of each seat: an equal part of those near its GPU."""
    homes = [tuple(core for core in cores if core in near.get(gpu, ())) or cores for gpu in gpus]
    kinds = set(homes)
    if len({core for home in kinds for core in home}) < sum(map(len, kinds)):
        homes = [cores] * len(gpus)  # they overlap: parts of them would too
    own = []
    for k, home in enumerate(homes):
        mates = [j for j, other in enumerate(homes) if other == home]
        place, count = mates.index(k), len(mates)
        part = home[place * len(home) // count : (place + 1) * len(home) // count]
        own.append(part or (home[place % len(home)],))
    return own
