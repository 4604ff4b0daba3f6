"""``robustclevr index``: the files of whole splits, made again from the shards.

For folders into which the shards of several machines were copied.
"""

from __future__ import annotations

from pathlib import Path

from robustclevr.run.whole import SplitState, refresh
from robustclevr.store.atomic import remove_empty_dirs
from robustclevr.store.dataset import Dataset
from robustclevr.store.receipts import Check


def rebuild_index(root: Path) -> tuple[SplitState, ...]:
    """Check every shard against its receipt and ``dataset.json``, and make the files of splits.

    Parameters
    ----------
    root : Path
        A dataset's folder.

    Returns
    -------
    tuple of SplitState
        Of every split; those that are not whole say what is missing or broken.

    Raises
    ------
    StoreError
        If there is no dataset, or a file cannot be read or written.
    """
    dataset = Dataset.open(root)
    states = refresh(dataset, Check.SHA256, rebuild=True)
    remove_empty_dirs(dataset.layout.work)
    return states
