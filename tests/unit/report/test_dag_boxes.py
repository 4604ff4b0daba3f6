"""What a drawing says: texts of boxes, and which edges an intervention cuts."""

import pytest

from robustclevr.recipe import load_recipes
from robustclevr.report.dag_boxes import Changes, boxes, edges
from robustclevr.spec import load_dag, read_document
from robustclevr.spec.dag import build_dag

RECIPES = load_recipes()

TEXT = """\
name: small
nodes:
  light:
    latent: true
    noise:
      w: Normal(0, 1)
    set:
      level: w
  dark:
    recipe: gamma
    parents: [light]
    when: light.level < 0
    noise:
      h: HalfNormal(1)
    set:
      gamma: 1 + h
  lens_distortion:
    parents: [light, dark]
    set:
      distort: 0.1 * dark.severity
      dispersion: max(light.level, 0)
      fit: true
  clouds:
    parents: [dark]
    set:
      factor: 0.5
"""


@pytest.fixture(scope="module")
def dag():
    return build_dag(read_document(TEXT), RECIPES, name="small")


def texts(box, style=None):
    return [line.text for line in box.lines if style in (None, line.style)]


def test_boxes_name_what_is_applied_and_every_formula(dag):
    found = boxes(dag, Changes())
    assert list(found) == ["light", "dark", "lens_distortion", "clouds"]
    assert texts(found["light"]) == ["light", "latent", "w ~ Normal(0, 1)", "level = w"]
    assert found["light"].latent
    assert texts(found["dark"]) == [
        "dark",
        "applies gamma",
        "when light.level < 0",
        "h ~ HalfNormal(1)",
        "gamma = 1 + h",
    ]
    assert texts(found["lens_distortion"], "constant") == [
        "fit\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}true"
    ]
    assert not any(box.changed for box in found.values())


def test_every_formula_of_every_shipped_dag_is_drawn_whole():
    for name in ("chain-uniform", "code-tree-v2", "rare"):
        dag = load_dag(name, RECIPES)
        for node, box in boxes(dag, Changes()).items():
            drawn = "".join("".join(texts(box)).split())
            spec = dag.node(node)
            for item in (*spec.assignments, *spec.noise):
                assert "".join(item.text.split()) in drawn


def cut(dag, **do):
    changes = Changes({name.replace("__", "."): value for name, value in do.items()})
    return {(edge.parent, edge.child) for edge in edges(dag, changes) if edge.cut}


def test_an_edge_is_cut_where_nothing_reads_the_parent_any_more(dag):
    assert len(edges(dag, Changes())) == 4
    assert cut(dag) == set()
    assert cut(dag, lens_distortion__distort=0.2) == {("dark", "lens_distortion")}
    assert cut(dag, lens_distortion__distort=0.2, lens_distortion__dispersion=0) == {
        ("dark", "lens_distortion"),
        ("light", "lens_distortion"),
    }


def test_a_condition_still_reads_its_parent(dag):
    assert cut(dag, dark__gamma=1.5) == set()


def test_an_edge_that_nothing_read_before_is_not_cut(dag):
    assert cut(dag, clouds__factor=0.1) == set()


def test_changes_are_marked(dag):
    found = boxes(
        dag, Changes({"lens_distortion.fit": False}, frozenset({"light.w", "dark.gamma"}))
    )
    assert texts(found["lens_distortion"], "changed") == ["do(fit = false)"]
    assert texts(found["light"], "changed") == ["w ~ Normal(0, 1)"]
    assert texts(found["dark"], "changed") == ["gamma = 1 + h"]
    assert [name for name, box in found.items() if box.changed] == [
        "light",
        "dark",
        "lens_distortion",
    ]
