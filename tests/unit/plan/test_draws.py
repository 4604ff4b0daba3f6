"""What splits draw under interventions, on the shipped DAGs."""

import dataclasses

import numpy as np
import pytest

from robustclevr.errors import SpecError
from robustclevr.plan import Planner, SplitDraws
from robustclevr.plan.draws import grid_points
from robustclevr.recipe import load_recipes
from robustclevr.scm import SCM
from robustclevr.spec import load_dataset

RECIPES = load_recipes()
SPEC = """\
family: clevr
dag: {dag}
render: {{height: 48, width: 64}}
splits:
  test: {{samples: 200}}
  base: {{samples: 50, given: clouds.factor > 0.1, shift: {{clouds.{noise}: HalfNormal(0.5)}}}}
  other: {{samples: {samples}, {change}}}
"""


@pytest.fixture
def splits(tmp_path):
    def make(change="", dag="chain-uniform", samples=200):
        file = tmp_path / "spec.yaml"
        noise = "h" if dag in ("chain-uniform", "tree-halfnormal") else "u"
        file.write_text(SPEC.format(dag=dag, change=change, samples=samples, noise=noise))
        dataset = load_dataset(file, RECIPES)
        return {split.name: split for split in dataset.splits}

    return make


def columns(split, count=200, **more):
    return SplitDraws(split, root_seed=3).table(0, count, **more).columns(noise=True)


def equal(one, other, names):
    return all(np.array_equal(one[name], other[name]) for name in names)


def test_a_plain_split_is_the_model(splits):
    plain = columns(splits("do: {gamma.gamma: 1}")["test"])
    expected = SCM.from_yaml("chain-uniform").sample(200, seed=3, split="test")
    assert equal(plain, expected.columns(noise=True), plain)


def test_rows_of_the_table_are_the_draws(splits):
    for change in (
        "do: {gaussian_blur.size: 9}",
        "grid: {gaussian_blur.size: [0, 4], gamma.gamma: [1, 2, 3]}",
        "ood: {gamma.gamma: [4, 5]}",
        "given: clouds.factor > 0.1",
        "twin_of: test, do: {clouds.factor: 0}",
        "tail: {of: joint, below: 0.05}",
    ):
        dag = "chain-halfnormal" if "tail" in change else "chain-uniform"
        draws = SplitDraws(splits(change, dag, 12)["other"], root_seed=3)
        table = draws.table(5, 7)
        for row in range(7):
            alone = draws.draw(5 + row)
            assert alone.nodes == table.draw(row).nodes, change
            assert alone.index == 5 + row
            assert alone.interventions


def test_twins_share_noise_scene_and_seeds_and_differ_by_one_change(splits):
    found = splits("twin_of: test, do: {gaussian_blur.size: 9}")
    original, twin = columns(found["test"]), columns(found["other"])
    noise = [name for name in original if ".noise." in name]
    assert equal(original, twin, noise)
    assert equal(original, twin, [name for name in original if name.startswith("clouds.")])
    assert (twin["gaussian_blur.size"] == 9).all()
    assert not np.array_equal(original["gamma.gamma"], twin["gamma.gamma"])
    planners = [Planner(found[name], RECIPES, root_seed=3) for name in ("test", "other")]
    for index in range(3):
        one, other = (planner.plan(index) for planner in planners)
        assert one.scene == other.scene
        assert one.settings == other.settings
        assert [step.seed for step in one.images[-1].steps] == [
            step.seed for step in other.images[-1].steps
        ]


def test_twins_of_a_conditioned_and_shifted_split_keep_its_noise(splits):
    found = splits("twin_of: base, do: {clouds.factor: 0}", samples=50)
    original, twin = columns(found["base"], 50), columns(found["other"], 50)
    assert (original["clouds.factor"] > 0.1).all()
    assert equal(original, twin, [name for name in original if ".noise." in name])
    assert (twin["clouds.factor"] == 0).all()


def test_a_grid_has_every_scene_at_every_value(splits):
    split = splits("grid: {gaussian_blur.size: [0, 2, 4, 8]}", samples=5)["other"]
    assert split.samples == 20
    table = columns(split, 20)
    assert table["gaussian_blur.size"].tolist() == [0, 2, 4, 8] * 5
    noise = table["clouds.noise.u"].reshape(5, 4)
    assert (noise == noise[:, :1]).all()
    planner = Planner(split, RECIPES, root_seed=3)
    scenes = [planner.plan(index).scene for index in range(8)]
    assert scenes[:4] == [scenes[0]] * 4
    assert scenes[4:] == [scenes[4]] * 4 != scenes[:4]


def test_points_of_a_grid():
    points = grid_points({"a.x": [1, 2], "b.y": [3, 4]})
    assert [tuple(point.values()) for point in points] == [(1, 3), (1, 4), (2, 3), (2, 4)]


def test_a_tail_lies_below_the_threshold_of_an_independent_sample(splits):
    split = splits("tail: {of: joint, below: 0.01}", "chain-halfnormal", 40)["other"]
    table = columns(split, 40)
    others = SCM.from_yaml("chain-halfnormal").sample(400_000, seed=99, split="elsewhere")
    # The 1.1 % quantile of other draws: the threshold itself is known to about 1 % of 1 %.
    assert (table["log_density"] <= np.quantile(others.log_density, 0.011)).all()
    share = (others.log_density <= table["log_density"].max()).mean()
    assert share < 0.011


def test_a_tail_of_one_node(splits):
    split = splits("tail: {of: gamma, below: 0.02}", "tree-halfnormal", 40)["other"]
    h = columns(split, 40)["gamma.noise.h"]
    assert (h > 2.2).all()  # P(|N(0, 1)| > 2.326) is 0.02


def test_out_of_distribution_values_are_uniform_in_the_box(splits):
    split = splits("ood: {gamma.gamma: [4, 5]}", "tree-uniform", 300)["other"]
    gamma = columns(split, 300)["gamma.gamma"]
    assert (gamma >= 4).all() and (gamma <= 5).all()
    assert abs(gamma.mean() - 4.5) < 4 * np.sqrt(1 / 12 / 300)
    assert len(np.unique(gamma)) == 300


def test_what_cannot_be_drawn_says_why_and_where(splits):
    for change, dag, words in (
        ("ood: {gamma.gamma: [1.5, 2.0]}", "tree-uniform", "2.98"),
        ("ood: {gamma.gamma: [4, 5]}", "tree-halfnormal", "do"),
        ("tail: {of: joint, below: 0.01}", "tree-uniform", "same density"),
        ("shift: {gamma.u: DiscreteUniform(100)}", "tree-uniform", "must change something"),
    ):
        split = splits(change, dag)["other"]
        with pytest.raises(SpecError) as caught:
            SplitDraws(split, root_seed=3)
        assert words in str(caught.value)
        assert "spec.yaml:7: splits.other." in str(caught.value)


def test_candidates_of_a_worst_case_come_from_the_model(splits):
    change = "worst_case: {metric: ssim, over: [gaussian_blur.size, gamma.gamma], budget: 6}"
    split = splits(change, samples=4)["other"]
    planner = Planner(split, RECIPES, root_seed=3)
    assert planner.must_choose
    plan, candidates = planner.probe(1)
    assert [image.variant for image in plan.images] == ["clean"] + [
        f"candidate-{number}" for number in range(6)
    ]
    assert candidates[0] == {}
    for values in candidates[1:]:
        assert set(values) == {"gaussian_blur.size", "gamma.gamma"}
        assert 1 <= values["gaussian_blur.size"] <= 9
        assert 1 <= values["gamma.gamma"] < 2
    choice = planner.choose(candidates, [0.9, 0.5, 0.2, 0.7, 0.2, 0.8])
    assert choice.chosen == 2
    chosen = planner.plan(1, choice)
    assert chosen.choice == choice
    for name, value in candidates[2].items():
        node, parameter = name.split(".")
        assert chosen.draw.nodes[node].parameters[parameter] == value
    held = SplitDraws(split, root_seed=3).table(1, 1, held=[candidates[2]]).draw(0)
    assert dataclasses.replace(held, interventions={}).nodes == chosen.draw.nodes
