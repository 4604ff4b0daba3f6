"""How the cores of this machine are shared out."""

from __future__ import annotations

from robustclevr.errors import SpecError
from robustclevr.run.limits import usable_cores


def share_cores(workers: int | None, shards: int, *, clips: bool = False) -> tuple[int, int]:
    """Return how many workers run, and how many threads each gives Blender.

    Two threads a worker by default: a render keeps two cores busy, and a sample's serial parts
    leave less idle than with more. Clips and pictures are made by one thread, so each core gets a
    worker.

    Parameters
    ----------
    workers : int or None
        As asked for.
    shards : int
        A worker needs one.
    clips : bool
        Whether samples are clips, or existing pictures.

    Raises
    ------
    SpecError
        If ``workers`` is not positive.
    """
    require_positive(workers)
    cores = usable_cores()
    count = max(1, min(workers or (cores if clips else cores // 2), shards))
    return count, max(1, cores // count)


def require_positive(workers: int | None) -> None:
    """Raise SpecError if ``--workers`` asks for none."""
    if workers is not None and workers < 1:
        raise SpecError.single(f"{workers} workers make nothing", file="--workers", hint=">= 1")
