"""A frame's draw that the model does not give is found, and named."""

from robustclevr.plan import ClipPlanner, SplitDraws
from robustclevr.recipe import load_recipes
from robustclevr.records import to_json
from robustclevr.spec import load_dataset
from robustclevr.verify.draws import frame_problems

SPEC = """\
family: vmds
video: {frames: 3}
dag: {nodes: {gamma: {noise: {h: HalfNormal(1)}, set: {gamma: 1 + h}}}}
per: frame
splits: {test: {samples: 2}}
"""


def test_the_draw_of_a_later_frame(tmp_path):
    (tmp_path / "clips.yaml").write_text(SPEC)
    recipes = load_recipes()
    split = load_dataset(tmp_path / "clips.yaml", recipes).split("test")
    planner, draws = ClipPlanner(split, recipes, root_seed=0), SplitDraws(split, root_seed=0)
    records = [{"plan": to_json(planner.plan(index))} for index in range(2)]
    assert list(frame_problems(records, draws)) == []
    node = records[1]["plan"]["frame_draws"][2]["nodes"]["gamma"]
    due = node["parameters"]["gamma"]
    node["parameters"]["gamma"] = 9.0
    assert list(frame_problems(records, draws)) == [
        f"000001: frame_draws[2].nodes.gamma.parameters.gamma is 9.0, the model gives {due!r}"
    ]
