"""100,000 draws of every shipped DAG against closed forms, and against its formulas row by row.

The closed forms are written out here from the authors' models (ndrenkow/robustclevr custom_scm)
and from the paper, once more and in other terms than the YAML: a law is a mixture of values with
weights and of continuous distributions with weights.
"""

from __future__ import annotations

import ast
import functools
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from robustclevr.recipe import load_recipes
from robustclevr.scm import SCM
from robustclevr.spec import dag_text, list_dags, read_document
from robustclevr.spec.dag import build_dag

COUNT = 100_000
SEED = 20_240_108  # chosen before the first run
ALPHA = 0.001
RECIPES = load_recipes()
TURN = 2 * np.pi


class Law:
    """A mixture: weight of each value, and of each continuous distribution."""

    def __init__(self, values=None, continuous=()):
        self.values = {}
        for value, weight in (values or {}).items():
            self.values[round(value, 9)] = self.values.get(round(value, 9), 0.0) + weight
        self.continuous = tuple(continuous)
        total = sum(self.values.values()) + sum(weight for weight, _ in self.continuous)
        assert total == pytest.approx(1)

    def p_values(self, column):
        """Yield one p-value for how the mass lies on the values, one for the rest."""
        column = np.round(column, 9)
        values = np.array(sorted(self.values))
        place = np.searchsorted(values, column).clip(max=max(len(values) - 1, 0))
        on_values = values[place] == column if len(values) else np.zeros(len(column), bool)
        cells = {value: weight for value, weight in self.values.items() if weight > 0}
        observed = [np.count_nonzero(column == value) for value in cells]
        expected = [weight * len(column) for weight in cells.values()]
        rest = sum(weight for weight, _ in self.continuous)
        if rest > 0:
            observed.append(np.count_nonzero(~on_values))
            expected.append(rest * len(column))
            yield stats.kstest(column[~on_values], self._continuous_cdf).pvalue
        elif not on_values.all():
            yield 0.0
        if len(observed) > 1:
            yield _chi_square(np.array(observed, float), np.array(expected))

    def _continuous_cdf(self, x):
        parts = [weight * law.cdf(x) for weight, law in self.continuous]
        return sum(parts) / sum(weight for weight, _ in self.continuous)


def _chi_square(observed, expected):
    """Pool the cells that expect less than five, as the approximation needs."""
    rare = expected < 5
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    return stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue


def always(value):
    return Law({value: 1.0})


def grid(scale, offset=0.0, count=100, weight=1.0):
    """Return the values offset + scale * k / count, k = 0 … count - 1, with equal weights."""
    values = {}
    for k in range(count):
        value = round(offset + scale * k / count, 9)
        values[value] = values.get(value, 0.0) + weight / count
    return values


def uniform(scale, offset=0.0):
    return Law(grid(scale, offset))


def whole(first, count, weight=1.0):
    return {first + k: weight / count for k in range(count)}


def half(scale, offset=0.0):
    return stats.halfnorm(offset, scale)


def only(law):
    return Law(continuous=[(1.0, law)])


def mixed(*parts):
    """Add up dicts of weighted values."""
    total = {}
    for part in parts:
        for value, weight in part.items():
            total[round(value, 9)] = total.get(round(value, 9), 0.0) + weight
    return total


def floored(law, first=1, last=200):
    """Return first + floor of a law on [0, inf)."""
    masses = {first + k: law.cdf(k + 1) - law.cdf(k) for k in range(last)}
    return {**masses, first + last: law.sf(last)}


def _logits():
    weights = np.exp(np.arange(11, 0, -1.0))
    return Law({1 + k: weight for k, weight in enumerate(weights / weights.sum())})


F_STOP = Law(whole(64, 64))
STILL = {f"motion_blur.{name}": always(0.0) for name in ("zoom", "spin")}
TREE_UNIFORM = {
    "gamma.gamma": uniform(2, 1),
    "gaussian_blur.size": Law(whole(1, 11)),
    "defocus.z": Law(whole(1, 10)),
    "defocus.f_stop": F_STOP,
    "lens_distortion.distort": uniform(0.1),
    "lens_distortion.dispersion": uniform(0.5),
    "motion_blur.distance": uniform(0.1),
    "motion_blur.angle": uniform(TURN),
    **STILL,
    "white_noise.factor": uniform(0.25),
    "clouds.factor": uniform(0.3),
    "glare.mix": uniform(1, -0.5),
    "glare.angle_offset": uniform(TURN),
}
TREE_HALFNORMAL = {
    **TREE_UNIFORM,
    "gamma.gamma": only(half(1, 1)),
    "gaussian_blur.size": _logits(),
    "defocus.z": only(half(3, 1)),
    "lens_distortion.distort": only(half(0.1)),
    "lens_distortion.dispersion": only(half(0.5)),
    "motion_blur.distance": only(half(0.1)),
    "white_noise.factor": only(half(0.25)),
    "clouds.factor": only(half(0.3)),
    "glare.mix": only(stats.norm(0, 0.5)),
}
CODE_TREE_V1 = {
    **TREE_UNIFORM,
    "displace.scale": uniform(100),
    "bright_contrast.bright": uniform(4, -20),
    "bright_contrast.contrast": uniform(20, -100),
}
CODE_TREE_V2 = {
    **TREE_HALFNORMAL,
    "displace.scale": only(half(100)),
    "bright_contrast.bright": only(stats.norm(-18, 2)),
    "bright_contrast.contrast": only(stats.norm(-90, 10)),
}
CODE_TREE_V3 = {
    **CODE_TREE_V2,
    "gaussian_blur.size": Law(floored(half(11))),
    "lens_distortion.distort": only(half(0.2)),
    "lens_distortion.dispersion": only(half(0.7)),
    "motion_blur.distance": only(half(0.2)),
    "displace.scale": only(half(150)),
}


def chain_uniform():
    cloudy = 0.24 * half(0.3).sf(0.2)
    small = cloudy + (1 - cloudy) * 3 / 9
    bent = (1 - small) * 0.79
    fringed = small * 0.99 + (1 - small) * 0.20
    straight = 1 - bent + bent / 100
    still = 1 - straight * 0.99**2
    weak = still * 0.7 * 37 / 64
    return {
        "clouds.factor": Law({0.0: 0.76}, [(0.24, half(0.3))]),
        "gaussian_blur.size": Law(mixed({1: cloudy}, whole(1, 9, 1 - cloudy))),
        "gamma.gamma": Law(mixed(grid(0.1, 1, weight=small), grid(1, 1, weight=1 - small))),
        "lens_distortion.distort": Law(mixed({0: 1 - bent}, grid(0.05, weight=bent))),
        "lens_distortion.dispersion": Law(mixed({0: 1 - fringed}, grid(0.5, weight=fringed))),
        "motion_blur.zoom": Law(mixed({0: 1 - straight}, grid(0.1, weight=straight))),
        "motion_blur.distance": Law(mixed({0: 1 - straight}, grid(0.05, weight=straight))),
        "defocus.z": Law(mixed({1: 1 - still}, whole(1, 10, still))),
        "defocus.f_stop": Law(mixed({128: 1 - still}, whole(64, 64, still))),
        "white_noise.factor": Law(mixed(grid(0.05, weight=weak), grid(0.2, weight=1 - weak))),
    }


def chain_halfnormal():
    cloudy = 0.24 * 0.33
    small = cloudy + (1 - cloudy) * half(4).cdf(3)
    bent = small * half(0.05).sf(0.2) + (1 - small) * half(0.5).sf(0.2)
    weak = bent * half(3).sf(3) * 37 / 64
    return {
        "clouds.factor": Law(mixed({0: 0.76}, grid(0.3, weight=0.24))),
        "gaussian_blur.size": Law(
            mixed({1: cloudy}, {k: (1 - cloudy) * m for k, m in floored(half(4)).items()})
        ),
        "gamma.gamma": Law(continuous=[(small, half(0.05, 1)), (1 - small, half(0.5, 1))]),
        "lens_distortion.distort": Law({0: 1 - bent}, [(bent, half(0.025))]),
        "lens_distortion.dispersion": Law({0: bent}, [(1 - bent, half(0.25))]),
        "motion_blur.zoom": Law({0: bent}, [(1 - bent, half(0.05))]),
        "motion_blur.distance": Law({0: bent}, [(1 - bent, half(0.025))]),
        "defocus.z": Law({1: 1 - bent}, [(bent, half(3, 1))]),
        "defocus.f_stop": Law(mixed({128: 1 - bent}, whole(64, 64, bent))),
        "white_noise.factor": Law(continuous=[(weak, half(0.025)), (1 - weak, half(0.1))]),
    }


def chain_v2():
    stretched = 0.19 * 0.33
    slow = stretched * (1 - 0.81 * 0.01) + (1 - stretched) * (1 - 0.41 * 0.51)
    smeared = (1 - slow) * (1 - 0.51**2)
    sharp = smeared * 3 / 5 + (1 - smeared) * 3 / 11
    soft = smeared * 2 / 5 + (1 - smeared) * 4 / 11
    hazy = sharp * 0.49
    moved = Law(mixed(grid(0.02, weight=slow), grid(0.1, weight=1 - slow)))
    return {
        "gamma.gamma": uniform(1, 1),
        "lens_distortion.distort": always(0.0),
        "lens_distortion.dispersion": Law(mixed(grid(0.75, weight=0.19), grid(0.5, weight=0.81))),
        "defocus.z": Law(mixed(grid(5, 1, weight=stretched), grid(10, 1, weight=1 - stretched))),
        "defocus.f_stop": Law(
            mixed(grid(32, 96, weight=stretched), grid(64, 64, weight=1 - stretched))
        ),
        "motion_blur.zoom": moved,
        "motion_blur.distance": moved,
        "gaussian_blur.size": Law(mixed(whole(0, 5, smeared), whole(0, 11, 1 - smeared))),
        "clouds.factor": Law(
            mixed(grid(0.2, weight=sharp), grid(0.1, weight=soft), {0: 1 - sharp - soft})
        ),
        "white_noise.factor": Law(mixed(grid(0.01, weight=hazy), grid(0.2, weight=1 - hazy))),
    }


LAWS = {
    "tree-uniform": TREE_UNIFORM,
    "tree-halfnormal": TREE_HALFNORMAL,
    "code-tree-v1": CODE_TREE_V1,
    "code-tree-v2": CODE_TREE_V2,
    "code-tree-v3": CODE_TREE_V3,
    "chain-uniform": chain_uniform(),
    "chain-halfnormal": chain_halfnormal(),
    "code-chain-v1": chain_uniform(),
    "code-chain-v2": chain_v2(),
    "code-chain-v3": chain_halfnormal(),
}

CHANGED = {
    "tree-uniform": ("0.25 * u", "0.275 * u"),
    "tree-halfnormal": ("HalfNormal(0.25)", "HalfNormal(0.275)"),
    "code-tree-v1": ("100 * u", "110 * u"),
    "code-tree-v2": ("2 * x - 18", "2.2 * x - 18"),
    "code-tree-v3": ("floor(11 * h)", "floor(12.1 * h)"),
    "chain-uniform": ("HalfNormal(0.3)", "HalfNormal(0.33)"),
    "chain-halfnormal": ("HalfNormal(4)", "HalfNormal(4.4)"),
    "code-chain-v1": ("0.05 * v", "0.055 * v"),
    "code-chain-v2": ("0.5 * v", "0.55 * v"),
    "code-chain-v3": ("0.3 * v", "0.33 * v"),
}
"""One scale of each, changed by ten percent."""


def sample(text, name, count=COUNT):
    scm = SCM(build_dag(read_document(text, name=name), RECIPES, name=name))
    return scm, scm.sample(count, seed=SEED)


def smallest_p(table, laws):
    """Return the smallest p-value, times the number of tests (Bonferroni)."""
    found = []
    for path, law in laws.items():
        node, _, parameter = path.partition(".")
        column = np.asarray(table.nodes[node].parameters[parameter], dtype=float)
        found += law.p_values(column)
    return min(found) * len(found)


def drawn_numbers(scm):
    """Return the parameters that a formula with a noise or a parent in it sets."""
    return {
        f"{node.id}.{item.parameter}"
        for node in scm.dag.nodes
        if not node.latent
        for item in node.assignments
        if item.formula is not None and any(letter.isalpha() for letter in item.text)
    }


@pytest.mark.parametrize("name", LAWS)
def test_marginals_are_the_authors(name):
    scm, table = sample(dag_text(name), name)
    assert drawn_numbers(scm) - {"lens_distortion.fit"} <= LAWS[name].keys()
    assert smallest_p(table, LAWS[name]) > ALPHA


@pytest.mark.parametrize("name", LAWS)
def test_a_scale_changed_by_ten_percent_is_noticed(name):
    old, new = CHANGED[name]
    text = dag_text(name)
    assert text.count(old) == 1
    assert smallest_p(sample(text.replace(old, new), name)[1], LAWS[name]) < ALPHA


def rare_p(table):
    found = []
    for node in {path.partition(".")[0] for path in TREE_HALFNORMAL}:
        active = table.nodes[node].active
        found.append(stats.binomtest(np.count_nonzero(active), len(table), 0.01).pvalue)
    for path, law in TREE_HALFNORMAL.items():
        node, _, parameter = path.partition(".")
        columns = table.nodes[node]
        found += law.p_values(columns.parameters[parameter][columns.active])
    return min(found) * len(found)


def test_rare_is_one_corruption_at_most_with_the_severities_of_the_tree():
    _, table = sample(dag_text("rare"), "rare")
    corruptions = [columns for columns in table.nodes.values() if columns.recipe]
    together = sum(columns.active.astype(int) for columns in corruptions)
    assert together.max() == 1
    assert stats.binomtest(np.count_nonzero(together), COUNT, 0.08).pvalue > ALPHA
    assert rare_p(table) > ALPHA
    for columns in corruptions:
        assert (columns.severity[~columns.active] == 0).all()


@pytest.mark.parametrize(
    "change", [("0.92, 0.01, ", "0.919, 0.011, "), ("HalfNormal(3)", "HalfNormal(3.3)")]
)
def test_a_tenth_more_of_something_rare_is_noticed(change):
    # A hundredth of the rows shows a corruption: more rows are needed.
    text = dag_text("rare").replace(*change)
    assert text != dag_text("rare")
    assert rare_p(sample(text, "rare", count=20 * COUNT)[1]) < ALPHA


# -- formulas in plain numpy, as Python itself reads them ------------------------------------

FUNCTIONS = {
    "where": np.where,
    "clip": np.clip,
    "min": lambda *columns: functools.reduce(np.minimum, columns),
    "max": lambda *columns: functools.reduce(np.maximum, columns),
    "floor": np.floor,
    "both": np.logical_and,
    "either": np.logical_or,
    "opposite": np.logical_not,
}


class Columns(ast.NodeTransformer):
    """Turns what Python cannot do with columns, ``and or not`` and chains, into calls."""

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        name = "both" if isinstance(node.op, ast.And) else "either"
        return functools.reduce(lambda one, other: call(name, one, other), node.values)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return call("opposite", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node):
        self.generic_visit(node)
        lefts = [node.left, *node.comparators[:-1]]
        links = zip(lefts, node.ops, node.comparators, strict=True)
        links = [ast.Compare(left, [operator], [right]) for left, operator, right in links]
        return functools.reduce(lambda one, other: call("both", one, other), links)


def call(name, *arguments):
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def python(text, names):
    tree = ast.fix_missing_locations(Columns().visit(ast.parse(text, mode="eval")))
    return eval(compile(tree, text, "eval"), {}, names)  # noqa: S307 - texts of the shipped files


@pytest.mark.parametrize("name", list_dags())
def test_rows_follow_from_their_noise_by_the_formulas_of_the_file(name):
    """Every rule of the file holds on every row; precedence is Python's by definition."""
    scm, table = sample(dag_text(name), name)
    seen = {}
    for node in scm.dag.nodes:
        found = table.nodes[node.id]
        names = {**FUNCTIONS, **seen, **found.noise}
        active = python(node.when_text, names) if node.when_text else True
        np.testing.assert_array_equal(found.active, np.broadcast_to(active, COUNT))
        clean = {} if node.recipe is None else node.recipe.clean_parameters()
        values = dict(clean)
        for item in node.assignments:
            literal = item.literal is not None
            value = item.literal if literal else python(item.text, {**names, **values})
            off = clean.get(item.parameter)
            values[item.parameter] = value if active is True else np.where(active, value, off)
        for parameter, value in values.items():
            column = found.parameters[parameter]
            if column.dtype.kind == "f":
                np.testing.assert_allclose(column, value, rtol=1e-12, atol=0)
            else:
                np.testing.assert_array_equal(column, value)
        seen[node.id] = SimpleNamespace(severity=found.severity, active=active, **values)
