"""Checks on records: each sample's plan made again from the spec, and the record against it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from robustclevr.plan import ClipPlanner, PicturePlanner, Planner
from robustclevr.records import Choice, Draw, PicturePlan, Plan, from_json, to_json
from robustclevr.scenes import scene_to_clevr
from robustclevr.verify.report import Problem

RELATIVE_TOLERANCE = 1e-9
"""Allowed relative difference of numbers that another processor may round differently."""

Record = Mapping[str, Any]


def scene_record_problems(record: Record, planner: Planner, index: int) -> Iterator[Problem]:
    """Yield where the record of a scene is not what the spec gives.

    Parameters
    ----------
    record : mapping
    planner : Planner
        Of the sample's split.
    index : int
        Of the sample.
    """
    choice: Choice | None = from_json(Plan, record["plan"]).choice
    plan = planner.plan(index, choice)
    scene = scene_to_clevr(plan.scene)
    expected = {
        "plan": to_json(plan),
        **_drawn(plan.draw),
        "render": to_json(plan.settings),
        "scene": to_json(scene),
        "objects": to_json(scene["objects"]),
    }
    yield from _first_differences(record, expected)


def clip_record_problems(record: Record, planner: ClipPlanner, index: int) -> Iterator[Problem]:
    """Yield where the record of a clip is not what the spec gives; as for a scene."""
    plan = planner.plan(index)
    stored = to_json(plan)
    expected = {
        "plan": stored,
        **_drawn(plan.draw),
        "family": plan.clip.family,
        "frames": plan.options.frames,
        "sprites": stored["clip"]["sprites"],
        "background": {
            "color": stored["clip"]["background"],
            "texture": stored["clip"]["background_texture"],
            "step": stored["clip"]["background_step"],
        },
        "scenario": stored["clip"]["scenario"],
        "left_out": stored["clip"]["left_out"],
    }
    yield from _first_differences(record, expected)


def picture_record_problems(
    record: Record, planner: PicturePlanner, index: int
) -> Iterator[Problem]:
    """Yield where the record of a corrupted picture is not what the spec gives; as for a scene.

    The picture is taken from the record: the pictures themselves need not be here.
    """
    picture = from_json(PicturePlan, record["plan"]).picture
    plan = planner.plan(index, picture)
    expected = {
        "plan": to_json(plan),
        **_drawn(plan.draw),
        "picture": to_json(picture),
        "render": {"height": picture.height, "width": picture.width},
    }
    yield from _first_differences(record, expected)


def _drawn(draw: Draw | None) -> dict[str, Any]:
    return {
        "nodes": {} if draw is None else to_json(draw.nodes),
        "log_density": None if draw is None else draw.log_density,
        "interventions": {} if draw is None else to_json(draw.interventions),
    }


def _first_differences(record: Record, expected: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the first difference of each part of a record."""
    for key, value in expected.items():
        for path, found, due in differences(key, record.get(key), value):
            yield Problem(f"its record's {path}", repr(found), f"{due!r} as the spec gives")
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
