"""Files of whole splits: made when the last shard of a split is there, removed when one is not.

A dataset's folder enters; ``draws.parquet``, ``scenes.json`` and ``index.json`` are made from the
shards alone, so they come out the same wherever the shards were rendered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robustclevr.errors import StoreError
from robustclevr.store.atomic import disk_error
from robustclevr.store.dataset import Dataset
from robustclevr.store.layout import SCENES_JSON_LIMIT, Layout
from robustclevr.store.receipts import Check, file_sha256, verified_receipt
from robustclevr.store.tables import (
    DrawColumns,
    read_index,
    scene_entry,
    write_draws,
    write_index,
    write_scenes,
)

_SCENELESS = {"video", "pictures"}
"""Keys of splits whose samples have no scene."""


@dataclass(frozen=True)
class SplitState:
    """What is there of one split.

    Attributes
    ----------
    split : str
    shards : int
        That a whole split has.
    tars : mapping of str to str
        sha256 of each shard that is done, by file name.
    missing : tuple of str
        File names of shards that are not there.
    broken : tuple of str
        Why a shard that is there does not count, one sentence each.
    """

    split: str
    shards: int
    tars: Mapping[str, str]
    missing: tuple[str, ...]
    broken: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """True if every shard is done."""
        return len(self.tars) == self.shards


def split_state(dataset: Dataset, split: str, check: Check) -> SplitState:
    """Compare the shards of a split with ``dataset.json`` and their receipts."""
    tars: dict[str, str] = {}
    missing, broken = [], []
    places = dataset.shards(split)
    fingerprint = dataset.split(split).fingerprint
    for place in places:
        try:
            receipt = verified_receipt(
                split, place.shard, dataset.layout, fingerprint=fingerprint, check=check
            )
        except StoreError as error:
            broken.append(str(error))
            continue
        if receipt is None:
            missing.append(place.tar.name)
        elif (receipt.start, receipt.count) != (place.start, place.count):
            broken.append(f"{place.tar}: has {receipt.count} samples, not {place.count}")
        else:
            tars[place.tar.name] = receipt.sha256
    return SplitState(split, len(places), tars, tuple(missing), tuple(broken))


def unsound_files(dataset: Dataset, state: SplitState) -> tuple[str, ...]:
    """Return the files of a whole split that are missing or altered; none where it is not whole."""
    if not state.whole:
        return ()
    layout = dataset.layout
    files = _known(layout).get(state.split)
    if files is None or any(files.get(name) != digest for name, digest in state.tars.items()):
        return (layout.index_json.name,)
    folder = layout.split(state.split)
    names = {layout.draws(state.split).name, *files} - state.tars.keys()
    return tuple(
        f"{state.split}/{name}"
        for name in sorted(names)
        if not (folder / name).is_file() or file_sha256(folder / name) != files.get(name)
    )


def refresh(dataset: Dataset, check: Check, *, rebuild: bool = False) -> tuple[SplitState, ...]:
    """Bring the files of whole splits up to date.

    Parameters
    ----------
    dataset : Dataset
    check : Check
        How thoroughly shards are compared with their receipts.
    rebuild : bool
        Make all of them again, also those that ``index.json`` vouches for.

    Returns
    -------
    tuple of SplitState
        Of every split, sorted by name.

    Raises
    ------
    StoreError
        If a shard cannot be read or a file cannot be written.
    """
    layout = dataset.layout
    known = {} if rebuild else _known(layout)
    states = tuple(split_state(dataset, split, check) for split in dataset.splits)
    index: dict[str, Mapping[str, str]] = {}
    for state in states:
        if not state.whole:
            drop_split_files(state.split, layout)
            continue
        files = known.get(state.split, {})
        index[state.split] = files if _current(files, state, layout) else _build(dataset, state)
    write_index(index, layout)
    return states


def drop_split_files(split: str, layout: Layout) -> None:
    """Remove the files of a split that is no longer whole."""
    try:
        layout.draws(split).unlink(missing_ok=True)
        layout.scenes(split).unlink(missing_ok=True)
    except OSError as error:
        raise disk_error(layout.split(split), error) from error


def _known(layout: Layout) -> Mapping[str, Mapping[str, str]]:
    try:
        return read_index(layout)
    except StoreError:  # an altered index is made again
        return {}


def _current(files: Mapping[str, str], state: SplitState, layout: Layout) -> bool:
    """Tell whether an entry of ``index.json`` still describes the folder."""
    others = {name: digest for name, digest in files.items() if name not in state.tars}
    folder = layout.split(state.split)
    return (
        {**state.tars, **others} == dict(files)
        and layout.draws(state.split).name in others
        and all(
            (folder / name).is_file() and file_sha256(folder / name) == digest
            for name, digest in others.items()
        )
    )


def _build(dataset: Dataset, state: SplitState) -> dict[str, str]:
    layout, split = dataset.layout, state.split
    entry = dataset.split(split)
    with_scenes = entry.samples <= SCENES_JSON_LIMIT and not _SCENELESS & entry.document.keys()
    draws, scenes = DrawColumns(), []
    for record in dataset.records(split):
        draws.add(record)
        if with_scenes:
            scenes.append(scene_entry(record))
    write_draws(draws.to_arrow(), split, layout)
    written = [layout.draws(split)]
    if with_scenes:
        write_scenes(scenes, split, dataset.content["licence"], layout)
        written.append(layout.scenes(split))
    return {**state.tars, **{path.name: file_sha256(path) for path in written}}
