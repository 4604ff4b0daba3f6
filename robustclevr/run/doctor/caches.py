"""Where drivers keep the kernels that they compile, and whether those stay there."""

from __future__ import annotations

import getpass
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from robustclevr.run.doctor.finding import Finding

_GIB = 2**30
_PASSING = ("overlay", "tmpfs", "ramfs")  # file systems that end with a container or at a reboot
_LOW_GIB = 1.0  # chosen: kernels of one kind of GPU take some hundred MB


@dataclass(frozen=True)
class Cache:
    """A folder of compiled kernels.

    Attributes
    ----------
    of : str
        What is kept there.
    folder : Path
    variable : str
        Environment variable that names another.
    off : str
        Why nothing is kept; empty if it is.
    """

    of: str
    folder: Path
    variable: str
    off: str = ""


def caches(environment: Mapping[str, str], home: Path) -> tuple[Cache, ...]:
    """Return the caches that a Blender process started here uses.

    Parameters
    ----------
    environment : mapping of str to str
    home : Path

    Notes
    -----
    CUDA's from "CUDA environment variables" of NVIDIA's CUDA C++ Programming Guide; OptiX' from
    ``optixDeviceContextSetCacheLocation`` of its API reference; Cycles' from ``path_cache_get`` of
    its util/path.cpp, which keeps kernels that nvcc compiled.
    """
    disabled = environment.get("CUDA_CACHE_DISABLE") == "1"
    optix = environment.get("OPTIX_CACHE_PATH") or f"/var/tmp/OptixCache_{_user()}"  # noqa: S108
    return (
        Cache(
            "CUDA",
            Path(environment.get("CUDA_CACHE_PATH") or home / ".nv/ComputeCache"),
            "CUDA_CACHE_PATH",
            "CUDA_CACHE_DISABLE is 1" if disabled else "",
        ),
        Cache(
            "OptiX",
            Path(optix),
            "OPTIX_CACHE_PATH",
            "OPTIX_CACHE_MAXSIZE is 0" if environment.get("OPTIX_CACHE_MAXSIZE") == "0" else "",
        ),
        Cache(
            "Cycles",
            Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "cycles/kernels",
            "XDG_CACHE_HOME",
        ),
    )


def cache_findings(found: tuple[Cache, ...], *, matter: bool) -> Iterator[Finding]:
    """Yield the state of each cache.

    Parameters
    ----------
    found : tuple of Cache
    matter : bool
        Whether there is a GPU whose kernels go there; without one nothing is wrong.
    """
    for cache in found:
        problem, where = _state(cache)
        yield Finding(
            "cache",
            f"{cache.of} kernels in {cache.folder}: {problem or 'writable'}, {where}",
            works=not (matter and problem),
            advice=f"kernels are compiled anew in each process or container: name a folder that "
            f"stays with {cache.variable}",
            facts={"of": cache.of, "folder": str(cache.folder), "problem": problem, "on": where},
        )


def _state(cache: Cache) -> tuple[str, str]:
    """Return what is wrong with a cache, or nothing; and what file system it is on."""
    there = cache.folder
    while not there.exists() and there != there.parent:
        there = there.parent
    mounts = [m for m in psutil.disk_partitions(all=True) if there.is_relative_to(m.mountpoint)]
    mount = max(mounts, key=lambda m: len(m.mountpoint), default=None)
    free = shutil.disk_usage(there).free / _GIB
    where = f"{free:.1f} GiB free" + (f" ({mount.fstype} on {mount.device})" if mount else "")
    problem = cache.off
    if not os.access(there, os.W_OK | os.X_OK):
        problem = problem or "not writable"
    if free < _LOW_GIB:
        problem = problem or "full"
    if mount is not None and mount.fstype in _PASSING:
        problem = problem or "does not stay"
    return problem, where


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an id without a name, as in containers
        return str(os.getuid())
