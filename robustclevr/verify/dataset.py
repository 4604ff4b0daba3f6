"""All checks on a dataset's folder.

A folder enters, a report leaves. Shards are looked at one by one in worker processes; what only
all of them together show, as samples that are there twice, is judged here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from robustclevr.errors import RobustClevrError, SpecError, StoreError
from robustclevr.recipe import LoadedRecipe
from robustclevr.run.blender_process import RendererSetup
from robustclevr.run.parallel import ordered_results
from robustclevr.spec import SplitSpec
from robustclevr.store.dataset import Dataset
from robustclevr.store.layout import Layout
from robustclevr.store.tables import read_index
from robustclevr.verify.clips import check_remade
from robustclevr.verify.draws import check_draws, check_table, whole_columns
from robustclevr.verify.examine import CHECKS, Findings, ShardName, examine
from robustclevr.verify.files import check_files, check_scenes
from robustclevr.verify.kinds import absent_sources, load_split
from robustclevr.verify.leaks import Duplicates
from robustclevr.verify.marginals import FALSE_ALARM, Comparison, comparisons, marginal_problems
from robustclevr.verify.pictures import check_corrupted
from robustclevr.verify.report import CheckResult, Problem, Report
from robustclevr.verify.rerender import check_rerender

Recipes = Mapping[str, LoadedRecipe]

_FEW_SAMPLES = 100
"""Chosen: checking these takes as long as a worker process takes to start."""

_DATASET_AGAIN = (
    "run the same 'generate' command again: it writes this file again and checks all shards"
)


@dataclass(frozen=True)
class VerifyOptions:
    """How thoroughly, and how fast.

    Attributes
    ----------
    rerender : int
        Samples of each split to make again; 0 for none.
    setup : RendererSetup or None
        The Blender for that, where samples are not clips.
    workers : int or None
        Processes; None for one a core.
    """

    rerender: int = 0
    setup: RendererSetup | None = None
    workers: int | None = None


@dataclass
class _Split:
    """What the shards of one split gave, put together."""

    name: str
    findings: list[Findings] = field(default_factory=list)
    tars: dict[str, str] = field(default_factory=dict)

    def hear(self, found: Findings) -> None:
        self.findings.append(found)
        found.prints.clear()  # of which another keeps account
        if found.sha256:
            self.tars[found.tar] = found.sha256


def verify_dataset(
    root: Path,
    recipes: Recipes,
    options: VerifyOptions | None = None,
    *,
    on_result: Callable[[CheckResult], None] | None = None,
    on_samples: Callable[[int, int], None] | None = None,
) -> Report:
    """Check a dataset: files, records, labels, drawn values, and pixels made again.

    Parameters
    ----------
    root : Path
        The dataset's folder.
    recipes : mapping of str to LoadedRecipe
        For drawing its DAGs again.
    options : VerifyOptions, optional
    on_result : callable, optional
        Hears of each result at once.
    on_samples : callable, optional
        Hears how many more samples were looked at, and of how many in all.

    Returns
    -------
    Report

    Raises
    ------
    StoreError
        If the folder holds no dataset.
    """
    options = options or VerifyOptions()
    results: list[CheckResult] = []
    checks = _Checks(root, recipes, options, on_samples or _ignore)
    for result in checks.run():
        results.append(result)
        if on_result is not None:
            on_result(result)
    return Report(tuple(results))


class _Checks:
    def __init__(
        self,
        root: Path,
        recipes: Recipes,
        options: VerifyOptions,
        on_samples: Callable[[int, int], None],
    ) -> None:
        self._root, self._recipes, self._options = root, recipes, options
        self._on_samples = on_samples
        self._duplicates = Duplicates()

    def run(self) -> Iterator[CheckResult]:
        path = Layout(self._root).dataset_json
        try:
            dataset = Dataset.open(self._root)
        except StoreError as error:
            if not path.is_file():
                raise  # there is no dataset to have a problem
            problem = Problem(str(error), remedy=_DATASET_AGAIN)
            yield CheckResult("files", "", 1, (problem,), "nothing else can be checked")
            return
        splits = self._examine(dataset)
        compared: dict[str, list[Comparison]] = {}
        for split in splits:
            yield from _shard_results(dataset, split)
            if len(split.tars) == len(dataset.shards(split.name)):
                yield from self._whole(dataset, split, compared)
        yield from _marginals(compared)
        yield CheckResult(
            "duplicates", "", self._duplicates.count, self._duplicates.problems(), seconds=0.0
        )
        tars = {split.name: split.tars for split in splits}
        yield check_files(dataset, tars, self._recipes)

    def _examine(self, dataset: Dataset) -> list[_Split]:
        """Look at every shard of every split, in worker processes."""
        files = tuple((str(item.path.resolve()), item.shipped) for item in self._recipes.values())
        names = [
            ShardName(str(self._root), split, place.shard, files)
            for split in dataset.splits
            for place in dataset.shards(split)
        ]
        total = sum(entry.samples for entry in dataset.splits.values())
        workers = self._options.workers or (None if total > _FEW_SAMPLES else 1)
        splits = {name: _Split(name) for name in dataset.splits}
        for name, found in zip(
            names, ordered_results(examine, names, workers=workers), strict=True
        ):
            self._duplicates.add(name.split, found.prints)
            splits[name.split].hear(found)
            self._on_samples(dataset.shards(name.split)[name.shard].count, total)
        return list(splits.values())

    def _whole(
        self, dataset: Dataset, split: _Split, compared: dict[str, list[Comparison]]
    ) -> Iterator[CheckResult]:
        """Check what only a whole split has."""
        rows = [found.draws for found in split.findings if found.draws is not None]
        if sum(table.num_rows for table in rows) != dataset.split(split.name).samples:
            yield CheckResult("draws", split.name, 0, (), "not compared, as records are broken")
            return
        yield check_table(dataset, split.name, rows, _vouched(dataset, split.name))
        scenes = check_scenes(
            dataset, split.name, [digest for found in split.findings for digest in found.scenes]
        )
        if scenes is not None:
            yield scenes
        spec = self._spec(dataset, split.name)
        if spec is not None and spec.dag is not None:
            columns = whole_columns(rows)
            yield from check_draws(dataset, split.name, spec, columns)
            if columns:
                seed = dataset.content["seed"]
                compared[split.name] = _compared(columns, spec, seed)
        remade = self._rerender(dataset, split.name)
        if remade is not None:
            yield remade

    def _spec(self, dataset: Dataset, split: str) -> SplitSpec | None:
        try:
            return load_split(dataset, split, self._recipes)
        except SpecError:  # which the check of records reports
            return None

    def _rerender(self, dataset: Dataset, split: str) -> CheckResult | None:
        document, options = dataset.split(split).document, self._options
        if not options.rerender:
            return None
        if "video" in document:
            return check_remade(dataset, split, options.rerender, self._recipes)
        if "pictures" in document:
            return check_corrupted(dataset, split, options.rerender, options.setup, self._recipes)
        if options.setup is None:
            return None
        return check_rerender(dataset, split, options.rerender, options.setup, self._recipes)


def _vouched(dataset: Dataset, split: str) -> str | None:
    """Return what ``index.json`` says is the sha256 of a split's table of draws."""
    try:
        files = read_index(dataset.layout).get(split, {})
    except StoreError:  # which the check of files reports
        return None
    return files.get(dataset.layout.draws(split).name)


def _shard_results(dataset: Dataset, split: _Split) -> Iterator[CheckResult]:
    """Yield one result for each check that looks at shards one by one."""
    shards = len(dataset.shards(split.name))
    absent = absent_sources(dataset.split(split.name).document)
    unplanned = next((found.unplanned for found in split.findings if found.unplanned), "")
    for check in CHECKS:
        problems = [problem for found in split.findings for problem in found.problems[check]]
        checked = sum(found.checked[check] for found in split.findings)
        note = ""
        if check == "records" and unplanned:
            problems.append(
                Problem(f"samples of '{split.name}' cannot be planned again: {unplanned}")
            )
        elif check == "records" and absent:
            note = f"not planned again, because {' and '.join(absent)} is not here"
        seconds = sum(found.seconds[check] for found in split.findings)
        yield CheckResult(
            check,
            split.name,
            shards if check == "shards" else checked,
            tuple(problems),
            note,
            seconds,
        )


def _compared(columns: Mapping[str, object], spec: SplitSpec, seed: int) -> list[Comparison]:
    try:
        return list(comparisons(columns, spec, root_seed=seed))  # type: ignore[arg-type]
    except RobustClevrError:  # which the check of draws reports
        return []


def _marginals(compared: Mapping[str, Sequence[Comparison]]) -> Iterator[CheckResult]:
    """Compare distributions: last of all, since all comparisons share one probability."""
    tests = sum(map(len, compared.values()))
    for number, (split, items) in enumerate(compared.items()):
        started = time.perf_counter()
        problems = tuple(marginal_problems(list(items), tests=tests))
        said = f"a correct dataset fails one of {tests} with probability {FALSE_ALARM:g} at most"
        note = "" if number else said
        seconds = time.perf_counter() - started
        yield CheckResult("marginals", split, len(items), problems, note, seconds)


def _ignore(more: int, total: int) -> None:
    del more, total
