"""All checks on a dataset's folder, in order of cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from robustclevr.recipe import LoadedRecipe
from robustclevr.run.blender_process import RendererSetup
from robustclevr.run.whole import split_state
from robustclevr.store.dataset import Dataset
from robustclevr.store.receipts import Check
from robustclevr.verify.clips import check_clips, check_remade
from robustclevr.verify.draws import check_draws
from robustclevr.verify.files import check_index, check_shards
from robustclevr.verify.pictures import check_corrupted, check_pictures
from robustclevr.verify.plans import check_plans
from robustclevr.verify.report import CheckResult, Report
from robustclevr.verify.rerender import check_rerender
from robustclevr.verify.samples import check_samples


def verify_dataset(
    root: Path,
    recipes: Mapping[str, LoadedRecipe],
    *,
    rerender: int = 0,
    setup: RendererSetup | None = None,
    on_result: Callable[[CheckResult], None] | None = None,
) -> Report:
    """Check a dataset: checksums, records, labels, drawn values, and pixels made again.

    Parameters
    ----------
    root : Path
        The dataset's folder.
    recipes : mapping of str to LoadedRecipe
        For drawing its DAGs again.
    rerender : int
        Samples of each split to make again; 0 for none.
    setup : RendererSetup, optional
        The Blender for that, where samples are not clips.
    on_result : callable, optional
        Hears of each result at once.

    Returns
    -------
    Report

    Raises
    ------
    StoreError
        If the folder holds no dataset, or its ``dataset.json`` was altered.
    """
    dataset = Dataset.open(root)
    results: list[CheckResult] = []

    def add(result: CheckResult | None) -> None:
        if result is not None:
            results.append(result)
            if on_result is not None:
                on_result(result)

    states = tuple(split_state(dataset, split, Check.SHA256) for split in dataset.splits)
    add(check_index(dataset, states))
    for state in states:
        add(check_shards(state))
        if state.whole:
            document = dataset.split(state.split).document
            clips, pictures = "video" in document, "pictures" in document
            check = check_clips if clips else check_pictures if pictures else check_samples
            add(check(dataset, state.split))
            if not clips and not pictures:
                add(check_plans(dataset, state.split, recipes))
            add(check_draws(dataset, state.split, recipes))
            if rerender and clips:
                add(check_remade(dataset, state.split, rerender, recipes))
            elif rerender and pictures:
                add(check_corrupted(dataset, state.split, rerender, setup, recipes))
            elif rerender and setup is not None:
                add(check_rerender(dataset, state.split, rerender, setup, recipes))
    return Report(tuple(results))
