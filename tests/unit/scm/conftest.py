"""DAGs from short texts, without YAML and without the shipped recipe files."""

from types import SimpleNamespace

import pytest

from robustclevr.recipe import Parameter, Recipe
from robustclevr.spec.formula import parse_distribution, parse_formula
from robustclevr.spec.model import Assignment, DagSpec, NodeSpec, NoiseSpec


def number(name, clean, worst, **more):
    return Parameter(name, clean, worst=worst, source="test", **more)


def nuisance(name, clean, **more):
    return Parameter(name, clean, role="nuisance", source="test", **more)


def recipe(name, *parameters):
    return Recipe(name, "test", "image", "keeps", parameters)


# Clean and worst values are chosen here; the models under test do not depend on them.
RECIPES = {
    item.id: item
    for item in (
        recipe("gaussian_blur", number("size", 0, 20.0, low=0.0, high=40.0)),
        recipe("defocus", number("z", 0.0, 10.0, low=0.0), nuisance("f_stop", 128.0, high=128.0)),
        recipe(
            "motion_blur",
            number("distance", 0.0, 0.5, low=0.0),
            number("zoom", 0.0, 0.5, low=0.0),
            nuisance("angle", 0.0),
            nuisance("iterations", 12, low=1, high=12),
        ),
        recipe("gamma", number("gamma", 1.0, 4.0, low=0.1, high=8.0)),
        recipe("clouds", number("factor", 0.0, 1.0, low=0.0, high=1.0)),
        recipe("white_noise", number("factor", 0.0, 1.0, low=0.0, high=1.0)),
        recipe(
            "glare",
            number("mix", -1.0, 1.0, low=-1.0, high=1.0),
            nuisance("angle_offset", 0.0),
            nuisance("kind", "simple_star", choices=("simple_star", "streaks")),
        ),
        recipe(
            "lens_distortion",
            number("distort", 0.0, 1.0, low=-1.0, high=1.0),
            number("dispersion", 0.0, 1.0, low=0.0, high=1.0),
            nuisance("fit", False),
        ),
    )
}


def build_node(node_id, line, noise=None, parents=(), when=None, latent=False, **more):
    chosen = None if latent else RECIPES[more.pop("recipe", node_id)]
    assignments, level = more.pop("set", {}), more.pop("severity", None)
    assert not more
    return NodeSpec(
        id=node_id,
        recipe=chosen,
        parents=tuple(parents),
        when=None if when is None else parse_formula(when),
        when_text=when or "",
        noise=tuple(
            NoiseSpec(name, parse_distribution(text), text, line + 1)
            for name, text in (noise or {}).items()
        ),
        assignments=tuple(_assign(*item, line + 2) for item in assignments.items()),
        severity=None if level is None else _assign("severity", level, line + 2),
        line=line,
    )


def _assign(name, value, line):
    if isinstance(value, bool) or value in ("simple_star", "streaks"):
        return Assignment(name, None, value, str(value), line)
    return Assignment(name, parse_formula(str(value)), None, str(value), line)


def build_dag(nodes, file="test.yaml"):
    built = tuple(build_node(name, 10 * i, **node) for i, (name, node) in enumerate(nodes.items()))
    return DagSpec("test", "", "", built, file, {})


@pytest.fixture(scope="session")
def dags():
    return SimpleNamespace(build=build_dag, recipes=RECIPES, assign=_assign)
