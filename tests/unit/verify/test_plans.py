"""What a record says and its spec does not give is found, and named."""

import pytest

from robustclevr.plan import ClipPlanner, Planner
from robustclevr.recipe import load_recipes
from robustclevr.records import to_json
from robustclevr.scenes import scene_to_clevr
from robustclevr.spec import load_dataset
from robustclevr.store.clip import clip_members
from robustclevr.store.dataset import Sample
from robustclevr.verify.plans import clip_record_problems, scene_record_problems
from robustclevr.video import render_clip

RECIPES = load_recipes()
CLIPS = """\
family: vmds
video: {frames: 3}
dag: {nodes: {gamma: {noise: {h: HalfNormal(1)}, set: {gamma: 1 + h}}}}
per: frame
splits: {test: {samples: 2}}
"""
SCENES = """\
family: clevr
dag: tree-uniform
render: {height: 48, width: 64}
splits: {test: {samples: 2}}
"""


def split_of(tmp_path, text):
    (tmp_path / "spec.yaml").write_text(text)
    return load_dataset(tmp_path / "spec.yaml", RECIPES).split("test")


@pytest.fixture
def clip(tmp_path):
    split = split_of(tmp_path, CLIPS)
    planner = ClipPlanner(split, RECIPES, root_seed=0)
    plan = planner.plan(1)
    members = clip_members(plan, render_clip(plan.clip, split.video))
    return planner, Sample("test", "000001", members).record


def test_the_draw_of_a_later_frame(clip):
    planner, record = clip
    assert list(clip_record_problems(record, planner, 1)) == []
    node = record["plan"]["frame_draws"][2]["nodes"]["gamma"]
    due = node["parameters"]["gamma"]
    node["parameters"]["gamma"] = 9.0
    (problem,) = clip_record_problems(record, planner, 1)
    assert problem.what == "its record's plan.frame_draws[2].nodes.gamma.parameters.gamma"
    assert (problem.found, problem.expected) == ("9.0", f"{due!r} as the spec gives")


def test_a_clip_in_anothers_place(clip):
    planner, record = clip
    found = [problem.what for problem in clip_record_problems(record, planner, 0)]
    assert "its record's plan.index" in found


def scene_record(plan):
    scene = scene_to_clevr(plan.scene)
    return {
        "plan": to_json(plan),
        "nodes": to_json(plan.draw.nodes),
        "log_density": plan.draw.log_density,
        "interventions": {},
        "render": to_json(plan.settings),
        "scene": to_json(scene),
        "objects": to_json(scene["objects"]),
    }


@pytest.mark.parametrize(
    ("path", "part"),
    [
        (("plan", "images", 3, "steps", 0, "seed"), "plan"),
        (("nodes", "gamma", "noise", "u"), "nodes"),
        (("scene", "objects", 0, "3d_coords", 1), "scene"),
        (("objects", 1, "rotation"), "objects"),
        (("render", "seed"), "render"),
    ],
)
def test_each_part_of_a_scenes_record(tmp_path, path, part):
    planner = Planner(split_of(tmp_path, SCENES), RECIPES, root_seed=0)
    record = scene_record(planner.plan(0))
    assert list(scene_record_problems(record, planner, 0)) == []
    inner = record
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] += 0.25
    (problem,) = scene_record_problems(record, planner, 0)
    assert problem.what.startswith(f"its record's {part}")
