"""Checks on files: shards against receipts, the index against files, and nothing left over."""

from __future__ import annotations

from robustclevr.errors import StoreError
from robustclevr.run.whole import SplitState
from robustclevr.store.dataset import Dataset
from robustclevr.store.receipts import file_sha256
from robustclevr.store.tables import read_index
from robustclevr.verify.report import CheckResult


def check_shards(state: SplitState) -> CheckResult:
    """Report shards that are missing, or not what their receipts and ``dataset.json`` say."""
    problems = [f"{state.split}/{name}: is missing" for name in state.missing]
    return CheckResult("shards", state.split, state.shards, (*problems, *state.broken))


def check_index(dataset: Dataset, states: tuple[SplitState, ...]) -> CheckResult:
    """Compare ``index.json`` with the files of every whole split, and look for leftovers."""
    layout = dataset.layout
    problems, checked = [], 0
    try:
        index = read_index(layout)
    except StoreError as error:
        return CheckResult("files", "", 1, (str(error),))
    for state in states:
        files = index.get(state.split, {})
        if state.whole and not files:
            problems.append(
                f"{layout.index_json}: says nothing of split '{state.split}', which is whole; "
                "run 'robustclevr index'"
            )
        for name, digest in files.items():
            checked += 1
            path = layout.split(state.split) / name
            if not path.is_file():
                problems.append(f"{path}: is missing, though index.json lists it")
            elif file_sha256(path) != digest:
                problems.append(f"{path}: its sha256 is not the one in index.json")
        expected = {place.tar.name for place in dataset.shards(state.split)}
        expected |= {place.receipt.name for place in dataset.shards(state.split)} | set(files)
        folder = layout.split(state.split)
        found = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        problems += [f"{folder / name}: does not belong here" for name in sorted(found - expected)]
    if all(state.whole for state in states) and layout.work.exists():
        problems.append(f"{layout.work}: is left over from a run that was stopped")
    return CheckResult("files", "", checked, tuple(problems))
