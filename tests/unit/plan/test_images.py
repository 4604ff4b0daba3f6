"""Which images and steps a draw calls for, on a hand-made DAG of every kind of node."""

from dataclasses import replace

import pytest

from robustclevr.plan import plan_images, steps_of, variants_of
from robustclevr.recipe import LoadedRecipe, Parameter, Recipe
from robustclevr.records import Draw, NodeDraw, RenderPass
from robustclevr.seeds import pixel_seed
from robustclevr.spec import DagSpec
from robustclevr.spec.model import NodeSpec


def recipe(recipe_id, stage="image"):
    strength = Parameter("strength", clean=0.0, worst=1.0, source="chosen")
    return Recipe(recipe_id, "x", stage, "keeps", (strength,))


def node(node_id, parents=(), stage="image", latent=False):
    return NodeSpec(
        id=node_id,
        recipe=None if latent else recipe(f"r_{node_id}", stage),
        parents=parents,
        when=None,
        when_text="",
        noise=(),
        assignments=(),
        severity=None,
        line=1,
    )


#   weather (latent) ─> fog ─> blur ─> noise        shake (scene stage) is on its own
DAG = DagSpec(
    name="d",
    summary="",
    source="",
    nodes=(
        node("weather", latent=True),
        node("fog", ("weather",)),
        node("shake", stage="scene"),
        node("blur", ("fog", "shake")),
        node("noise", ("blur",)),
    ),
    file="d.yaml",
    document={},
)
RECIPES = {
    n.recipe.id: LoadedRecipe(n.recipe, None, "0", build=lambda context: context)
    for n in DAG.nodes
    if n.recipe is not None
}


def draw(inactive=()):
    nodes = {
        n.id: NodeDraw(n.id not in inactive, {"strength": 2.0}, 1.0, {}, 0.0, {"strength": 1.0})
        for n in DAG.nodes
    }
    return Draw(3, nodes, 0.0, {})


def names(steps):
    return [step.node for step in steps]


def steps(variant, index=3, **kwargs):
    return steps_of(DAG, draw(**kwargs), variant, root_seed=7, split="test", index=index)


def test_variants_follow_the_order_of_the_dag_and_leave_latent_nodes_out():
    assert variants_of(DAG, "every-node") == ("clean", "fog", "shake", "blur", "noise")
    assert variants_of(DAG, ("leaves", "clean")) == ("clean", "noise")
    assert variants_of(DAG, ("joint", "fog")) == ("fog", "joint")
    assert variants_of(None, ("clean",)) == ("clean",)


def test_an_image_shows_its_node_and_ancestors():
    assert names(steps("clean")) == []
    assert names(steps("fog")) == ["fog"]
    assert names(steps("blur")) == ["fog", "shake", "blur"]
    assert names(steps("joint")) == ["fog", "shake", "blur", "noise"]


def test_inactive_nodes_are_left_out_of_every_image():
    assert names(steps("fog", inactive={"fog"})) == []
    assert names(steps("noise", inactive={"fog"})) == ["shake", "blur", "noise"]


def test_a_step_carries_clamped_values_and_its_own_seed():
    (step,) = steps("fog")
    assert step.parameters == {"strength": 1.0}
    assert step.seed == pixel_seed(7, "test", "fog", 3)
    assert step.seed != steps("fog", index=4)[0].seed


def test_images_share_renders_with_equal_scene_steps():
    by_variant = {name: steps(name) for name in ("clean", "fog", "shake", "blur", "noise")}
    renders, images = plan_images(by_variant, RECIPES)
    assert [names(render.steps) for render in renders] == [[], ["shake"]]
    assert [(image.variant, image.render, names(image.steps)) for image in images] == [
        ("clean", 0, []),
        ("fog", 0, ["fog"]),
        ("shake", 1, []),
        ("blur", 1, ["fog", "blur"]),
        ("noise", 1, ["fog", "blur", "noise"]),
    ]


def test_scene_steps_of_severity_zero_share_the_clean_render():
    still = tuple(replace(step, severity=0.0) for step in steps("shake"))
    renders, images = plan_images({"clean": (), "shake": still}, RECIPES)
    assert renders == (RenderPass(()),)
    assert [image.render for image in images] == [0, 0]


def test_a_tree_of_three_image_and_two_scene_recipes_costs_three_renders():
    rendered = [node(name, stage="scene") for name in "de"]
    assert count_renders(*map(node, "abc"), *rendered) == 3


def test_a_chain_of_image_scene_and_image_recipes_costs_two_renders():
    assert count_renders(node("a"), node("b", ("a",), "scene"), node("c", ("b",))) == 2


def all_steps(*nodes):
    dag = replace(DAG, nodes=nodes)
    drawn = NodeDraw(True, {"strength": 0.5}, 0.5, {}, 0.0, {})
    everything = Draw(0, {n.id: drawn for n in nodes}, 0.0, {})
    return {
        name: steps_of(dag, everything, name, root_seed=7, split="test", index=0)
        for name in variants_of(dag, "every-node")
    }


def count_renders(*nodes):
    recipes = {n.recipe.id: LoadedRecipe(n.recipe, None, "0", build=None) for n in nodes}
    return len(plan_images(all_steps(*nodes), recipes)[0])


def test_a_step_says_which_instant_labels_show():
    smear = replace(node("a"), recipe=replace(recipe("r_a"), mask_instant="shutter center"))
    (step,) = all_steps(smear)["a"]
    assert step.mask_instant == "shutter center"


def test_encoded_steps_come_last_whatever_the_order():
    recipes = {
        **RECIPES,
        "r_fog": LoadedRecipe(recipe("r_fog", "encoded"), None, "0", build=lambda context: context),
    }
    _, (image,) = plan_images({"noise": steps("noise")}, recipes)
    assert names(image.steps) == ["blur", "noise"]
    assert names(image.encoded) == ["fog"]


def test_leaves_below_a_latent_node_only():
    assert DAG.leaves() == ("noise",)
    with pytest.raises(KeyError):
        steps("nothing")
