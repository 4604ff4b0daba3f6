"""Checks on records: each sample's Plan made again from the spec, and the record against it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from robustclevr.errors import RobustClevrError
from robustclevr.plan import Planner
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import Choice, Plan, from_json, to_json
from robustclevr.scenes import scene_to_clevr
from robustclevr.spec import split_from_document
from robustclevr.store.dataset import Dataset
from robustclevr.verify.report import CheckResult

RELATIVE_TOLERANCE = 1e-9
"""Allowed relative difference of numbers that another processor may round differently."""


def check_plans(dataset: Dataset, split: str, recipes: Mapping[str, LoadedRecipe]) -> CheckResult:
    """Plan every sample of a split again from ``dataset.json`` and compare its record.

    Parameters
    ----------
    dataset : Dataset
    split : str
        A whole split of an image family.
    recipes : mapping of str to LoadedRecipe
    """
    entry = dataset.split(split)
    problems: list[str] = []
    count = 0
    try:
        file = str(dataset.layout.dataset_json)
        spec = split_from_document(split, entry.document, recipes, file=file)
        planner = Planner(spec, recipes, root_seed=dataset.content["seed"])
        for count, sample in enumerate(dataset.samples(split), start=1):
            found = record_problems(sample.record, planner, count - 1)
            problems += [f"{split}/{sample.key}: {problem}" for problem in found]
    except (RobustClevrError, KeyError, TypeError, AttributeError) as error:
        problems.append(f"{split}: sample {count}: {type(error).__name__}: {error}")
    return CheckResult("records", split, count, tuple(problems))


def record_problems(record: Mapping[str, Any], planner: Planner, index: int) -> Iterator[str]:
    """Yield where a record is not what the spec gives: the first difference of each part.

    Parameters
    ----------
    record : mapping
    planner : Planner
        Of the sample's split.
    index : int
        Of the sample.
    """
    written = from_json(Plan, record["plan"])
    choice: Choice | None = written.choice
    plan = planner.plan(index, choice)
    scene = scene_to_clevr(plan.scene)
    draw = plan.draw
    expected = {
        "plan": to_json(plan),
        "nodes": {} if draw is None else to_json(draw.nodes),
        "log_density": None if draw is None else draw.log_density,
        "interventions": {} if draw is None else to_json(draw.interventions),
        "render": to_json(plan.settings),
        "scene": to_json(scene),
        "objects": to_json(scene["objects"]),
    }
    for key, value in expected.items():
        for path, was, due in differences(key, record.get(key), value):
            yield f"its record has {was!r} for {path}, the spec gives {due!r}"
            break


def differences(path: str, found: Any, due: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield path, found and due value where they differ; ``found`` may hold further keys."""
    if isinstance(due, Mapping) and isinstance(found, Mapping):
        for key, value in due.items():
            yield from differences(f"{path}.{key}", found.get(key), value)
    elif isinstance(due, list) and isinstance(found, list) and len(due) == len(found):
        for place, (one, other) in enumerate(zip(found, due, strict=True)):
            yield from differences(f"{path}[{place}]", one, other)
    elif not _same(found, due):
        yield path, found, due


def _same(found: Any, due: Any) -> bool:
    if isinstance(found, float) and isinstance(due, float):
        return math.isclose(found, due, rel_tol=RELATIVE_TOLERANCE, abs_tol=RELATIVE_TOLERANCE)
    return bool(found == due)
