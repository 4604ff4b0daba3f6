"""DAG files: what a valid one means, and what each kind of wrong one says, with its line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from robustclevr.errors import SpecError
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import canonical_json
from robustclevr.records.curve import Curve
from robustclevr.spec import DagSpec, dag_from_document, load_dag, parse_formula

Recipes = Mapping[str, LoadedRecipe]

GOOD = """\
name: good
summary: Every part of the grammar.
source: hand
nodes:
  glare:
    parents: [clouds, weather]
    when: weather.value > 0 and clouds.active
    noise:
      u: DiscreteUniform(100)
      b: Bernoulli(0.5)
    set:
      mix: u - 0.5
      kind: streaks
      fit: mix > 0 or b
  clouds:
    noise: {u: DiscreteUniform(100), h: HalfNormal(0.3)}
    set: {factor: 'where(u > 0.75, h, 0)'}
  weather:
    latent: true
    noise:
      w: Normal(0, 1)
    set:
      value: w
      storm: value > 1
  rain:
    recipe: clouds
    parents: [weather]
    when: weather.storm
    set:
      factor: 1e-1
"""


@pytest.fixture
def write(tmp_path: Path):
    def write_file(text: str) -> Path:
        path = tmp_path / "x.yaml"
        path.write_text(text)
        return path

    return write_file


@pytest.fixture
def good(write, recipes: Recipes) -> DagSpec:
    return load_dag(write(GOOD), recipes)


def problems(path: Path, recipes: Recipes) -> list[str]:
    """Return the lines of the error without the folder."""
    with pytest.raises(SpecError) as caught:
        load_dag(path, recipes)
    assert caught.value.exit_code == 2
    return [line.replace(f"{path.parent}/", "") for line in str(caught.value).splitlines()]


def test_nodes_stand_in_topological_order(good: DagSpec) -> None:
    assert [node.id for node in good.nodes] == ["clouds", "weather", "glare", "rain"]
    assert (good.name, good.summary, good.source) == ("good", "Every part of the grammar.", "hand")
    assert good.leaves() == ("glare", "rain")
    assert good.ancestors("glare") == {"clouds", "weather"}


def test_a_node_holds_what_is_written(good: DagSpec, recipes: Recipes) -> None:
    glare = good.node("glare")
    assert glare.recipe is recipes["glare"].recipe
    assert glare.line == 5
    assert glare.when == parse_formula("weather.value > 0 and clouds.active")
    assert glare.when_text == "weather.value > 0 and clouds.active"
    assert [(n.name, n.distribution.name, n.text, n.line) for n in glare.noise] == [
        ("u", "DiscreteUniform", "DiscreteUniform(100)", 9),
        ("b", "Bernoulli", "Bernoulli(0.5)", 10),
    ]
    mix, kind, fit = glare.assignments
    assert (mix.formula, mix.literal, mix.line) == (parse_formula("u - 0.5"), None, 12)
    assert (kind.formula, kind.literal) == (None, "streaks")
    assert fit.formula == parse_formula("mix > 0 or b")


def test_recipe_and_latent(good: DagSpec, recipes: Recipes) -> None:
    assert good.node("weather").latent
    assert good.node("rain").recipe is recipes["clouds"].recipe
    (factor,) = good.node("rain").assignments
    assert (factor.formula, factor.text) == (parse_formula("0.1"), "0.1")


def test_a_boolean_literal_is_kept(write, recipes: Recipes) -> None:
    dag = load_dag(write("nodes:\n  glare:\n    set: {fit: false}\n"), recipes)
    (fit,) = dag.nodes[0].assignments
    assert (fit.literal, fit.formula, dag.name) == (False, None, "x")


def test_order_settles_ties(write, recipes: Recipes) -> None:
    dag = load_dag(write(GOOD + "order: [weather, rain, clouds]\n"), recipes)
    assert [node.id for node in dag.nodes] == ["weather", "rain", "clouds", "glare"]


@pytest.mark.parametrize("order", ["", "order: [weather, rain, clouds]\n"])
def test_the_document_survives_json_with_sorted_keys(write, recipes: Recipes, order: str) -> None:
    dag = load_dag(write(GOOD + order), recipes)
    document = json.loads(canonical_json(dag.document))
    again = dag_from_document(document, recipes, file="dataset.json")
    assert again.document == dag.document
    assert [node.id for node in again.nodes] == [node.id for node in dag.nodes]
    for old, new in zip(dag.nodes, again.nodes, strict=True):
        assert [item.parameter for item in new.assignments] == [
            item.parameter for item in old.assignments
        ]
        assert [item.formula for item in new.assignments] == [
            item.formula for item in old.assignments
        ]
        assert [(n.name, n.distribution) for n in new.noise] == [
            (n.name, n.distribution) for n in old.noise
        ]


def test_a_path_starts_at_the_given_folder(write, recipes: Recipes) -> None:
    path = write(GOOD)
    assert load_dag(path.name, recipes, relative_to=path.parent).name == "good"


def node(body: str, name: str = "gamma") -> str:
    return f"nodes:\n  {name}:\n" + "".join(f"    {row}\n" for row in body.splitlines())


KNOWN = "allowed: clouds, gamma, gaussian_blur, glare; a recipe of your own needs --recipes DIR"

ERRORS = {
    "unknown recipe": (
        node("set: {gamma: 1}", "gama"),
        "x.yaml:2: nodes.gama: unknown recipe 'gama'; did you mean 'gamma'? "
        + KNOWN
        + "; a node without a recipe says 'latent: true'",
    ),
    "unknown recipe by key": (
        node("recipe: glar", "sun"),
        "x.yaml:3: nodes.sun.recipe: unknown recipe 'glar'; did you mean 'glare'? " + KNOWN,
    ),
    "unknown parameter": (
        node("set:\n  gama: 1"),
        (
            "x.yaml:4: nodes.gamma.set.gama: recipe 'gamma' has no parameter 'gama'; "
            "did you mean 'gamma'? allowed: gamma"
        ),
    ),
    "not a parent": (
        node("set:\n  gamma: 1 + clouds.factor") + "  clouds: {}\n",
        (
            "x.yaml:4: nodes.gamma.set.gamma: "
            "'clouds.factor' is read, but 'clouds' is not a parent; "
            "add clouds to the parents of gamma"
        ),
    ),
    "no such node in a formula": (
        node("parents: [clouds]\nset:\n  gamma: cloud.factor") + "  clouds: {}\n",
        (
            "x.yaml:5: nodes.gamma.set.gamma: "
            "'cloud.factor' is read, but there is no node 'cloud'; "
            "did you mean 'clouds'? allowed: clouds"
        ),
    ),
    "no such field of a parent": (
        node("parents: [clouds]\nset:\n  gamma: clouds.facto") + "  clouds: {}\n",
        (
            "x.yaml:5: nodes.gamma.set.gamma: node 'clouds' has no 'facto' to read; "
            "did you mean 'factor'? allowed: active, factor, severity"
        ),
    ),
    "a word of a parent": (
        node("parents: [glare]\nset:\n  gamma: glare.kind") + "  glare: {}\n",
        "x.yaml:5: nodes.gamma.set.gamma: 'glare.kind' is a word, not a number",
    ),
    "own value by node": (
        node("noise: {u: HalfNormal(1)}\nset:\n  gamma: gamma.u"),
        "x.yaml:5: nodes.gamma.set.gamma: 'gamma.u' is the node's own; write 'u' without the node",
    ),
    "a parent without its field": (
        node("parents: [clouds]\nset:\n  gamma: clouds") + "  clouds: {}\n",
        "x.yaml:5: nodes.gamma.set.gamma: 'clouds' is a node, not a number; write clouds.factor",
    ),
    "unknown noise": (
        node("noise: {jolt: HalfNormal(1)}\nset:\n  gamma: 1 + jlt"),
        "x.yaml:5: nodes.gamma.set.gamma: unknown name 'jlt'; did you mean 'jolt'? allowed: jolt",
    ),
    "read before set": (
        node("set:\n  fit: mix > 0\n  mix: 1", "glare"),
        (
            "x.yaml:4: nodes.glare.set.fit: 'mix' is read before it is set; "
            "a formula reads the noise of its node and the parameters set above it"
        ),
    ),
    "read itself": (
        node("set:\n  mix: mix + 1", "glare"),
        (
            "x.yaml:4: nodes.glare.set.mix: 'mix' is read before it is set; "
            "a formula reads the noise of its node and the parameters set above it"
        ),
    ),
    "own parameter in when": (
        node("when: gamma > 1\nset:\n  gamma: 2"),
        (
            "x.yaml:3: nodes.gamma.when: 'gamma' is read before it is set; "
            "a formula reads the noise of its node and the parameters set above it"
        ),
    ),
    "formula syntax": (
        node("set:\n  gamma: 1 +* 2"),
        (
            "x.yaml:4: nodes.gamma.set.gamma: unexpected '*' at column 4 of '1 +* 2'; "
            "a number, a name or a parenthesis may stand here"
        ),
    ),
    "formula is nothing": (
        node("set:\n  gamma:"),
        "x.yaml:4: nodes.gamma.set.gamma: has no value; write a formula, such as 1 + k",
    ),
    "formula is a list": (
        node("set:\n  gamma: [1, 2]"),
        "x.yaml:4: nodes.gamma.set.gamma: must be a formula, got [1, 2]",
    ),
    "unknown distribution argument": (
        node("noise:\n  h: HalfNormal(scal=1)"),
        (
            "x.yaml:4: nodes.gamma.noise.h: HalfNormal has no argument 'scal' at column 1 of "
            "'HalfNormal(scal=1)'; did you mean 'scale'? allowed: scale"
        ),
    ),
    "distribution out of its domain": (
        node("noise:\n  h: HalfNormal(-1)"),
        (
            "x.yaml:4: nodes.gamma.noise.h: HalfNormal: scale must be a number above 0, got -1 "
            "at column 1 of 'HalfNormal(-1)'"
        ),
    ),
    "a constant as noise": (
        node("noise:\n  h: 5"),
        (
            "x.yaml:4: nodes.gamma.noise.h: "
            "must be a distribution, such as HalfNormal(0.3), got 5; "
            "a constant stands under 'set'"
        ),
    ),
    "a comma in braces": (
        node("noise: {h: Normal(0, 1)}\nset:\n  gamma: 1 + h"),
        (
            "x.yaml:3: nodes.gamma.noise.h: "
            "a comma cut the formula: only 'Normal(0' is left of it; "
            "inside { } a comma ends the entry: put the formula in quotes, or "
            "write it in block style"
        ),
    ),
    "noise named like a parameter": (
        node("noise:\n  gamma: HalfNormal(1)"),
        (
            "x.yaml:4: nodes.gamma.noise.gamma: "
            "the noise 'gamma' has the name of a parameter of this "
            "node; rename the noise"
        ),
    ),
    "noise with a reserved name": (
        node("noise:\n  exp: HalfNormal(1)"),
        "x.yaml:4: nodes.gamma.noise.exp: the name 'exp' is reserved; choose another",
    ),
    "node with a reserved name": (
        node("recipe: gamma", "clean"),
        "x.yaml:2: nodes.clean: the name 'clean' is reserved; choose another",
    ),
    "node with a bad name": (
        node("recipe: gamma", "My-Gamma"),
        (
            "x.yaml:2: nodes.My-Gamma: 'My-Gamma' is not a valid name; "
            "lower-case letters, digits and underscores, a letter first"
        ),
    ),
    "unknown parent": (
        node("parents: [cloud]") + "  clouds: {}\n",
        (
            "x.yaml:3: nodes.gamma.parents.0: there is no node 'cloud'; did you mean 'clouds'? "
            "allowed: clouds"
        ),
    ),
    "a parent twice": (
        node("parents: [clouds, clouds]") + "  clouds: {}\n",
        "x.yaml:3: nodes.gamma.parents.1: 'clouds' stands twice",
    ),
    "its own parent": (
        node("parents: [gamma]"),
        (
            "x.yaml:3: nodes.gamma.parents: cycle: gamma -> gamma; "
            "a DAG has none: remove one of these parents"
        ),
    ),
    "a cycle": (
        (
            "nodes:\n  gamma: {parents: [clouds]}\n  glare: {parents: [gamma]}\n"
            "  clouds: {parents: [glare]}\n"
        ),
        (
            "x.yaml:2: nodes.gamma.parents: cycle: gamma -> glare -> clouds -> gamma; "
            "a DAG has none: remove one of these parents"
        ),
    ),
    "order against an edge": (
        "nodes:\n  gamma: {parents: [clouds]}\n  clouds: {}\norder: [gamma, clouds]\n",
        (
            "x.yaml:4: order: contradicts the edges of the DAG: gamma -> clouds -> gamma; "
            "parents come first"
        ),
    ),
    "order of an unknown node": (
        "nodes:\n  gamma: {}\norder: [gama]\n",
        "x.yaml:3: order.0: there is no node 'gama'; did you mean 'gamma'? allowed: gamma",
    ),
    "unknown key of a node": (
        node("parent: [gamma]"),
        (
            "x.yaml:3: nodes.gamma.parent: unknown key 'parent'; did you mean 'parents'? "
            "allowed: latent, noise, parents, recipe, set, severity, when"
        ),
    ),
    "unknown key of the file": (
        "nodez: 1\nnodes: {gamma: {}}\n",
        (
            "x.yaml:1: nodez: unknown key 'nodez'; did you mean 'nodes'? "
            "allowed: name, nodes, order, source, summary"
        ),
    ),
    "a word that is no choice": (
        node("set:\n  kind: streak", "glare"),
        (
            "x.yaml:4: nodes.glare.set.kind: 'streak' is not a choice of kind; "
            "did you mean 'streaks'? allowed: star, streaks"
        ),
    ),
    "a truth value for a number": (
        node("set:\n  mix: true", "glare"),
        "x.yaml:4: nodes.glare.set.mix: mix is a number, got true",
    ),
    "a number for a truth value": (
        node("set:\n  fit: 2 + 1", "glare"),
        (
            "x.yaml:4: nodes.glare.set.fit: '2 + 1' is a number, not a yes or no; "
            "write a comparison, such as u > 0.5"
        ),
    ),
    "a number for when": (
        node("noise: {u: HalfNormal(1)}\nwhen: u"),
        (
            "x.yaml:4: nodes.gamma.when: 'u' is a number, not a yes or no; "
            "write a comparison, such as u > 0.5"
        ),
    ),
    "a latent node with a recipe": (
        node("latent: true\nrecipe: gamma", "fog"),
        (
            "x.yaml:4: nodes.fog.recipe: a latent node has no recipe; "
            "remove 'recipe' or 'latent: true'"
        ),
    ),
    "a latent node with when": (
        node("latent: true\nnoise: {w: HalfNormal(1)}\nwhen: w > 1", "fog"),
        (
            "x.yaml:5: nodes.fog.when: "
            "a latent node has no clean value to fall back to, so it cannot "
            "be inactive; put the condition into its formula: where(…, …, …)"
        ),
    ),
    "a latent value with a reserved name": (
        node("latent: true\nset: {log_density: 1}", "fog"),
        "x.yaml:4: nodes.fog.set.log_density: the name 'log_density' is reserved; choose another",
    ),
    "severity without a curve": (
        node("severity: 0.5"),
        (
            "x.yaml:3: nodes.gamma.severity: recipe 'gamma' has no measured curve yet; "
            "set its parameters, or measure one: robustclevr recipe sweep gamma"
        ),
    ),
    "no nodes": (
        "name: a\n",
        "x.yaml: nodes: the DAG has no nodes; write at least one under 'nodes:'",
    ),
    "a node that is nothing": (
        "nodes:\n  gamma:\n",
        "x.yaml:2: nodes.gamma: must be a mapping of 'key: value', got nothing",
    ),
    "parents that are no list": (
        node("parents: clouds\nset:\n  gamma: clouds.factor"),
        "x.yaml:3: nodes.gamma.parents: must be a list, such as [a, b], got 'clouds'",
    ),
    "latent that is no truth value": (
        node("latent: yes"),
        "x.yaml:3: nodes.gamma.latent: must be true or false, got 'yes'",
    ),
}


@pytest.mark.parametrize(("text", "expected"), ERRORS.values(), ids=ERRORS)
def test_a_wrong_file_has_one_exact_message(
    write, recipes: Recipes, text: str, expected: str
) -> None:
    assert problems(write(text), recipes) == [expected]


def test_every_error_of_a_file_is_named_in_the_order_of_its_lines(write, recipes: Recipes) -> None:
    text = """\
nodes:
  gama:
    set: {gamma: 1}
  clouds:
    parents: [glare]
    noise:
      h: HalfNormal(0)
    set:
      facter: h
      factor: 1 + glare.mix + k
  glare:
    parents: [clouds]
    wen: 1
    set: {mix: clip(1, 2, 3), fit: 5 }
"""
    lines = [int(line.split(":")[1]) for line in problems(write(text), recipes)]
    assert lines == [2, 5, 7, 9, 10, 13, 14, 14]


def test_an_error_does_not_echo_through_the_formulas_that_depend_on_it(
    write, recipes: Recipes
) -> None:
    text = """\
nodes:
  rain:
    recipe: cloud
  gamma:
    parents: [rain, missing, fog]
    noise: {h: Normal(0, 1), g: HalfNormal(-1)}
    set:
      gamma: rain.factor + missing.value + h + g + fog.w
  fog: 5
"""
    found = problems(write(text), recipes)
    assert [line.split(": ")[1] for line in found] == [
        "nodes.rain.recipe",
        "nodes.gamma.parents.1",
        "nodes.gamma.noise.h",
        "nodes.gamma.noise.g",
        "nodes.fog",
    ]


def test_severity_needs_the_curve_beside_the_recipe(write, recipes: Recipes) -> None:
    curved = replace(recipes["glare"].recipe, curve=Curve((0.0, 1.0), (0.0, 1.0)))
    with_curve = {**recipes, "glare": replace(recipes["glare"], recipe=curved)}
    body = "noise: {u: HalfNormal(1)}\nseverity: min(u, 1)\nset:\n  kind: star"
    glare = load_dag(write(node(body, "glare")), with_curve).node("glare")
    assert glare.severity is not None
    assert glare.severity.formula == parse_formula("min(u, 1)")
    both = node(body + "\n  mix: u", "glare")
    assert problems(write(both), with_curve) == [
        (
            "x.yaml:7: nodes.glare.set.mix: 'severity' sets the parameter 'mix' already; "
            "keep one of the two"
        )
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "tree-unform",
            "there is no DAG called 'tree-unform'; did you mean 'tree-uniform'? allowed: ",
        ),
        ("missing.yaml", "missing.yaml: no such file"),
        ("./tree-uniform", "tree-uniform: no such file"),
    ],
)
def test_a_dag_that_does_not_exist(recipes: Recipes, name: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_dag(name, recipes)
    assert str(caught.value).startswith(message)


def test_a_thousand_nodes_load_within_seconds(write, recipes: Recipes) -> None:
    rows = ["nodes:"]
    for index in range(1000):
        rows += [f"  n{index}:", "    recipe: gamma"]
        if index:
            rows += [f"    parents: [n{index - 1}]", f"    set: {{gamma: n{index - 1}.gamma + 1}}"]
    dag = load_dag(write("\n".join(rows)), recipes)
    assert [node.id for node in dag.nodes] == [f"n{index}" for index in range(1000)]
