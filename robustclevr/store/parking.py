"""Finished samples of an unfinished shard, one file each, so that a stop loses one at most.

A parked file is a line with the sha256 of all that follows, a line of JSON (fingerprint, sizes,
timings), and the members' bytes. A file that was cut short or altered is as good as none: it is
removed and the sample is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from robustclevr.records import Retry, from_json
from robustclevr.store.atomic import disk_error, sync_dir, write_atomic
from robustclevr.store.jsonbytes import stable_json
from robustclevr.store.layout import PARKED_SUFFIX, Layout

_MAGIC = b"robustclevr-parked-1"


@dataclass(frozen=True)
class Provenance:
    """How one sample was made: what the shard's receipt sums up.

    Attributes
    ----------
    versions : mapping of str to str
        ``robustclevr``, ``python``, ``numpy``, ``blender``.
    device : str
    seconds : mapping of str to float
        As in :class:`robustclevr.records.Receipt`. [s]
    renders : int
        Cycles renders.
    retries : tuple of Retry
        Tries that failed before.
    """

    versions: Mapping[str, str]
    device: str
    seconds: Mapping[str, float]
    renders: int
    retries: tuple[Retry, ...] = ()


@dataclass(frozen=True)
class ParkedSample:
    """A sample on its way into a shard.

    Attributes
    ----------
    index : int
    fingerprint : str
        Of the split's spec it was made for.
    provenance : Provenance
    members : mapping of str to bytes
        As in a shard, by member name without the key.
    """

    index: int
    fingerprint: str
    provenance: Provenance
    members: Mapping[str, bytes]


def park(sample: ParkedSample, split: str, shard: int, layout: Layout) -> int:
    """Write a finished sample to the disk and return its size in bytes.

    One that took a render is synced. Making a clip again takes less time than that: it outlasts
    a stopped process, and after a power failure the digest tells whether it is whole.

    Raises
    ------
    StoreError
        If it cannot be written; nothing is left behind.
    """
    data = _encode(sample)
    path = layout.parked(split, shard, sample.index)
    write_atomic(path, data, layout, durable=sample.provenance.renders > 0)
    return len(data)


def unpark(
    split: str, shard: int, index: int, layout: Layout, *, fingerprint: str
) -> ParkedSample | None:
    """Read a parked sample.

    Parameters
    ----------
    split, shard, index : str, int, int
        Which one.
    layout : Layout
    fingerprint : str
        Of the split now; a sample made for another spec does not count.

    Returns
    -------
    ParkedSample or None
        None where there is none, or where it was cut short, altered or made for another spec;
        such a file is removed.
    """
    path = layout.parked(split, shard, index)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk_error(path, error) from error
    sample = _decode(data)
    if sample is None or sample.index != index or sample.fingerprint != fingerprint:
        path.unlink(missing_ok=True)
        return None
    return sample


def parked_indices(split: str, shard: int, layout: Layout) -> tuple[int, ...]:
    """Return the indices of the parked samples of a shard by their names; none is opened."""
    folder = layout.parked_dir(split, shard)
    stems = (path.stem for path in folder.glob(f"*{PARKED_SUFFIX}"))
    return tuple(sorted(int(stem) for stem in stems if stem.isdecimal()))


def clear_parked(split: str, shard: int, layout: Layout) -> None:
    """Remove the parked samples of a shard."""
    folder = layout.parked_dir(split, shard)
    for path in sorted(folder.glob(f"*{PARKED_SUFFIX}")):
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()
        sync_dir(folder.parent)


def _encode(sample: ParkedSample) -> bytes:
    names = sorted(sample.members)
    header = {
        "index": sample.index,
        "fingerprint": sample.fingerprint,
        "provenance": sample.provenance,
        "members": [[name, len(sample.members[name])] for name in names],
    }
    body = stable_json(header) + b"".join(sample.members[name] for name in names)
    digest = hashlib.sha256(body).hexdigest().encode()
    return b" ".join((_MAGIC, digest)) + b"\n" + body


def _decode(data: bytes) -> ParkedSample | None:
    head, _, body = data.partition(b"\n")
    digest = hashlib.sha256(body).hexdigest().encode()
    if head != b" ".join((_MAGIC, digest)):
        return None
    line, _, payload = body.partition(b"\n")
    header = json.loads(line)
    members, start = {}, 0
    for name, size in header["members"]:
        members[name] = payload[start : start + size]
        start += size
    provenance = from_json(Provenance, header["provenance"])
    return ParkedSample(header["index"], header["fingerprint"], provenance, members)
