"""What a sampled model promises: streams, branches, densities, errors, kinds of values."""

import hashlib
import math
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustclevr import seeds
from robustclevr.errors import SamplingError, SpecError
from robustclevr.records import canonical_json, from_json, to_json
from robustclevr.records.draw import Draw
from robustclevr.scm import SCM
from robustclevr.scm import model as model_module

CURVED = {
    "clouds": {
        "noise": {"h": "LogNormal(0, 0.5)", "b": "Beta(2, 3)", "p": "Poisson(3)"},
        "set": {"factor": "exp(-h) * sin(b) + log(1 + p) ** 1.3 - cos(h) * tanh(b) + sigmoid(h)"},
    },
    "gamma": {
        "parents": ["clouds"],
        "noise": {"q": "Uniform(0.1, 0.9)", "g": "Gamma(2, 1)"},
        "set": {"gamma": "quantile(Beta(1 + abs(clouds.factor), 2), q) + sqrt(g) % 0.3"},
    },
}


def columns(table):
    return table.columns(noise=True)


def same(left, right):
    one, other = columns(left), columns(right)
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)


# --- streams ------------------------------------------------------------------------------------


def test_noise_is_the_quantile_function_at_the_stream(dags):
    scm = SCM(dags.build({"clouds": {"noise": {"u": "Uniform(2, 4)"}, "set": {"factor": "u"}}}))
    table = scm.sample(50, seed=9, split="train", start=3)
    expected = 2 + 2 * seeds.uniforms(9, "train", "clouds.u", start=3, count=50)
    np.testing.assert_array_equal(table.nodes["clouds"].noise["u"], expected)
    np.testing.assert_array_equal(table.nodes["clouds"].parameters["factor"], expected)


def test_seed_and_split_choose_the_stream(dags):
    scm = SCM(dags.build(CURVED))
    first = scm.sample(20, seed=0, split="test")
    assert same(first, scm.sample(20, seed=0, split="test"))
    for seed, split in ((1, "test"), (0, "train"), (-1, "test")):
        other = scm.sample(20, seed=seed, split=split)
        for name, column in columns(first).items():
            if ".noise." in name and name != "clouds.noise.p":
                assert not np.isin(columns(other)[name], column).any()


def test_longer_begins_with_shorter_and_any_part_stands_alone(dags):
    scm = SCM(dags.build(CURVED))
    longer = scm.sample(200, seed=4)
    for n, start in ((200, 0), (1, 0), (17, 0), (50, 13), (1, 199)):
        part = columns(scm.sample(n, seed=4, start=start))
        for name, column in columns(longer).items():
            np.testing.assert_array_equal(part[name], column[start : start + n])


def test_single_draw_equals_its_row_to_the_last_bit_also_across_blocks(dags, monkeypatch):
    monkeypatch.setattr(model_module, "_BLOCK", 64)
    scm = SCM(dags.build(CURVED))
    table = scm.sample(200, seed=4, start=5)
    for row in (0, 1, 2, 3, 62, 63, 64, 65, 127, 128, 199):
        assert scm.draw(seed=4, split="test", index=5 + row) == table.draw(row)
    monkeypatch.undo()
    assert same(table, scm.sample(200, seed=4, start=5))


def test_rows_do_not_depend_on_the_vector_units_of_the_processor(dags):
    """numpy's vectorized exp and log differ in the last bit from its scalar ones."""
    script = textwrap.dedent(
        """
        import hashlib, importlib.util, sys
        spec = importlib.util.spec_from_file_location("built", sys.argv[1])
        built = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(built)
        from robustclevr.scm import SCM
        table = SCM(built.build_dag(eval(sys.argv[2]))).sample(4000, seed=1)
        digest = hashlib.sha256()
        for name, column in table.columns(noise=True).items():
            digest.update(column.tobytes())
        print(digest.hexdigest())
        """
    )
    slow = {"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512_SKX AVX2 FMA3"}
    conftest = str(Path(__file__).with_name("conftest.py"))
    run = subprocess.run(
        [sys.executable, "-c", script, conftest, repr(CURVED)],
        env=os.environ | slow,
        capture_output=True,
        text=True,
        check=True,
    )
    digest = hashlib.sha256()
    for column in columns(SCM(dags.build(CURVED)).sample(4000, seed=1)).values():
        digest.update(column.tobytes())
    assert run.stdout.split()[-1] == digest.hexdigest()


NODE_NAMES = ("clouds", "gamma", "white_noise", "defocus")
TARGETS = {"clouds": "factor", "gamma": "gamma", "white_noise": "factor", "defocus": "z"}
LAWS = ["Normal(0, 1)", "HalfNormal(0.5)", "Categorical(4)", "DiscreteUniform(7)", "Beta(2, 3)"]


@st.composite
def graphs(draw):
    """Random DAGs: each node reads some of those before it, under a condition now and then."""
    nodes, before = {}, []
    for name in draw(st.permutations(NODE_NAMES)):
        parents = draw(st.lists(st.sampled_from(before), unique=True)) if before else []
        noise = {f"n{i}": draw(st.sampled_from(LAWS)) for i in range(draw(st.integers(1, 3)))}
        terms = [*noise, *(f"{p}.{TARGETS[p]}" for p in parents)]
        formula = " + ".join(draw(st.lists(st.sampled_from(terms), min_size=1, max_size=4)))
        if draw(st.booleans()):
            formula = f"where({draw(st.sampled_from(terms))} > 0.3, {formula}, n0)"
        node = {"parents": parents, "noise": noise, "set": {TARGETS[name]: formula}}
        if draw(st.booleans()):
            node["when"] = f"{draw(st.sampled_from(terms))} > 0.2"
        nodes[name] = node
        before.append(name)
    return nodes


@settings(max_examples=40, deadline=None)
@given(nodes=graphs(), seed=st.integers(0, 3), data=st.data())
def test_random_dags(dags, nodes, seed, data):
    table = SCM(dags.build(nodes)).sample(40, seed=seed)
    row = data.draw(st.integers(0, 39))
    draw = table.draw(row)
    assert SCM(dags.build(nodes)).draw(seed=seed, split="test", index=row) == draw
    assert draw.log_density == pytest.approx(sum(n.log_density for n in draw.nodes.values()))
    assert np.isfinite(table.log_density).all()
    for node in draw.nodes.values():
        assert 0.0 <= node.severity <= 1.0
        assert node.active or node.severity == 0.0

    # A node without the last one, or with the others in another order, draws the same.
    last = list(nodes)[-1]
    fewer = SCM(dags.build({k: v for k, v in nodes.items() if k != last})).sample(40, seed=seed)
    for name, node in fewer.nodes.items():
        for key, column in node.noise.items():
            np.testing.assert_array_equal(column, table.nodes[name].noise[key])
        for key, column in node.parameters.items():
            np.testing.assert_array_equal(column, table.nodes[name].parameters[key])


# --- inactive nodes and densities ---------------------------------------------------------------

GATED = {
    "weather": {"latent": True, "noise": {"w": "Normal(0, 1)"}, "set": {"value": "w"}},
    "gamma": {
        "parents": ["weather"],
        "when": "weather.value > 0",
        "noise": {"h": "HalfNormal(1)"},
        "set": {"gamma": "1 + h"},
    },
    "clouds": {
        "parents": ["gamma"],
        "noise": {"h": "HalfNormal(0.3)", "g": "HalfNormal(0.1)"},
        "set": {"factor": "where(gamma.active, h, g + gamma.severity)"},
    },
}


def half_normal_log(x, scale):
    return math.log(2) - 0.5 * math.log(2 * math.pi) - math.log(scale) - 0.5 * (x / scale) ** 2


def test_an_inactive_node_is_clean_and_out_of_the_density(dags):
    table = SCM(dags.build(GATED)).sample(400, seed=2)
    weather, gamma, clouds = (table.nodes[name] for name in GATED)
    assert (gamma.active == (weather.noise["w"] > 0)).all()
    assert 150 < gamma.active.sum() < 250
    off = ~gamma.active
    assert (gamma.parameters["gamma"][off] == 1.0).all()
    assert (gamma.severity[off] == 0.0).all()
    assert (gamma.log_density[off] == 0.0).all()
    on = gamma.active
    np.testing.assert_array_equal(gamma.parameters["gamma"][on], 1 + gamma.noise["h"][on])
    np.testing.assert_allclose(gamma.severity[on], np.minimum(gamma.noise["h"][on] / 3, 1))
    np.testing.assert_allclose(gamma.log_density[on], half_normal_log(gamma.noise["h"][on], 1))
    # A child reads `active`, and its density counts the branch that was taken.
    h, g = clouds.noise["h"], clouds.noise["g"]
    np.testing.assert_array_equal(clouds.parameters["factor"], np.where(on, h, g))
    expected = np.where(on, half_normal_log(h, 0.3), half_normal_log(g, 0.1))
    np.testing.assert_allclose(clouds.log_density, expected, rtol=1e-12)
    # Noise is recorded also where nothing reads it.
    assert (gamma.noise["h"][off] > 0).all()


def test_a_latent_node_touches_no_pixels(dags):
    table = SCM(dags.build(GATED)).sample(3, seed=0)
    weather = table.draw(1).nodes["weather"]
    assert (weather.active, weather.severity, weather.clamped) == (True, 0.0, {})
    assert weather.parameters == {"value": weather.noise["w"]}
    expected = -0.5 * weather.noise["w"] ** 2 - 0.5 * math.log(2 * math.pi)
    assert weather.log_density == pytest.approx(expected, rel=1e-12)


def test_the_joint_is_the_sum_of_the_nodes(dags):
    table = SCM(dags.build(GATED)).sample(100, seed=2)
    total = sum(node.log_density for node in table.nodes.values())
    np.testing.assert_array_equal(table.log_density, total)


def test_the_noise_of_when_counts_also_where_it_is_false(dags):
    node = {"when": "u < 0.25", "noise": {"u": "DiscreteUniform(4)", "h": "HalfNormal(1)"}}
    table = SCM(dags.build({"clouds": node | {"set": {"factor": "h"}}})).sample(200, seed=2)
    clouds = table.nodes["clouds"]
    active = clouds.noise["u"] == 0
    assert (clouds.active == active).all()
    expected = -math.log(4) + np.where(active, half_normal_log(clouds.noise["h"], 1), 0.0)
    np.testing.assert_allclose(clouds.log_density, expected, rtol=1e-12)


def test_a_chance_node_that_is_read_in_one_branch_only(dags):
    node = {
        "noise": {"u": "DiscreteUniform(100)", "h": "HalfNormal(0.3)", "unread": "Normal(0, 1)"}
    }
    scm = SCM(dags.build({"clouds": node | {"set": {"factor": "where(u > 0.75, h, 0)"}}}))
    clouds = scm.sample(500, seed=2).nodes["clouds"]
    on = clouds.noise["u"] > 0.75
    expected = -math.log(100) + np.where(on, half_normal_log(clouds.noise["h"], 0.3), 0.0)
    np.testing.assert_allclose(clouds.log_density, expected, rtol=1e-12)


def test_a_constant_condition(dags):
    node = {"noise": {"h": "HalfNormal(1)"}, "set": {"factor": "1 / (h - h)"}, "when": "1 > 2"}
    clouds = SCM(dags.build({"clouds": node})).sample(5, seed=0).nodes["clouds"]
    assert not clouds.active.any()
    assert not clouds.parameters["factor"].any()


# --- values -------------------------------------------------------------------------------------


def test_kinds_of_values(dags):
    nodes = {
        "gaussian_blur": {"noise": {"k": "Categorical(11)"}, "set": {"size": "1 + k"}},
        "glare": {"set": {"kind": "streaks", "mix": "0.5"}},
        "lens_distortion": {
            "noise": {"u": "DiscreteUniform(2)"},
            "set": {"distort": "u", "fit": "distort > 0"},
        },
    }
    scm = SCM(dags.build(nodes))
    table = scm.sample(30, seed=0)
    draw = table.draw(0)
    size = draw.nodes["gaussian_blur"].parameters["size"]
    assert type(size) is int
    assert size == 1 + draw.nodes["gaussian_blur"].noise["k"]
    assert table.nodes["gaussian_blur"].parameters["size"].dtype == np.float64
    assert draw.nodes["glare"].parameters == {"mix": 0.5, "angle_offset": 0.0, "kind": "streaks"}
    lens = table.nodes["lens_distortion"]
    assert lens.parameters["fit"].dtype == np.bool_
    assert (lens.parameters["fit"] == (lens.noise["u"] > 0)).all()
    assert {type(d.nodes["lens_distortion"].parameters["fit"]) for d in table.draws()} == {bool}
    assert from_json(Draw, to_json(draw)) == draw
    canonical_json(draw)  # JSON-safe


def test_clamped_says_what_is_applied(dags):
    nodes = {
        "gaussian_blur": {"noise": {"h": "Uniform(2, 3)"}, "set": {"size": "h"}},
        "gamma": {"noise": {"g": "Uniform(7, 9)"}, "set": {"gamma": "g"}},
    }
    for draw in SCM(dags.build(nodes)).sample(50, seed=0).draws():
        blur, gamma = draw.nodes["gaussian_blur"], draw.nodes["gamma"]
        assert blur.parameters["size"] == blur.noise["h"]  # as drawn
        assert blur.clamped == {"size": 2}  # an integer parameter is rounded down when applied
        drawn = gamma.noise["g"]
        assert gamma.parameters["gamma"] == drawn
        assert gamma.clamped == ({"gamma": 8.0} if drawn > 8 else {})
        assert gamma.severity == 1.0


def test_severity_in_place_of_parameters(dags):
    nodes = {
        "motion_blur": {"noise": {"s": "Uniform(0, 1.5)"}, "severity": "s"},
        "gamma": {
            "parents": ["motion_blur"],
            "when": "motion_blur.severity < 1",
            "severity": "motion_blur.severity",
        },
    }
    table = SCM(dags.build(nodes)).sample(100, seed=1)
    blur, gamma = table.nodes["motion_blur"], table.nodes["gamma"]
    level = np.minimum(blur.noise["s"], 1)
    np.testing.assert_array_equal(blur.severity, level)
    np.testing.assert_allclose(blur.parameters["distance"], 0.5 * level)
    np.testing.assert_allclose(blur.parameters["zoom"], 0.5 * level)
    assert (blur.parameters["iterations"] == 12).all()
    on = level < 1
    assert (gamma.active == on).all()
    np.testing.assert_allclose(gamma.severity, np.where(on, level, 0))
    np.testing.assert_allclose(gamma.parameters["gamma"], np.where(on, 1 + 3 * level, 1))


def test_a_formula_reads_what_was_set_above_it(dags):
    nodes = {
        "defocus": {
            "noise": {"k": "Categorical(10)"},
            "set": {"z": "1 + k", "f_stop": "128 - 6.4 * z"},
        }
    }
    defocus = SCM(dags.build(nodes)).sample(20, seed=0).nodes["defocus"]
    np.testing.assert_array_equal(defocus.parameters["f_stop"], 128 - 6.4 * defocus.parameters["z"])


# --- edges and errors ---------------------------------------------------------------------------


def test_no_rows(dags):
    table = SCM(dags.build(GATED)).sample(0, seed=0)
    assert len(table) == 0
    assert list(table.draws()) == []
    assert all(column.shape == (0,) for column in columns(table).values())


def test_columns_are_read_only(dags):
    table = SCM(dags.build(GATED)).sample(5, seed=0)
    for column in columns(table).values():
        assert not column.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        table.nodes["clouds"].severity[0] = 1


def test_a_value_that_is_not_finite_names_everything(dags):
    nodes = {
        "gamma": {"set": {"gamma": "2"}},
        "clouds": {"noise": {"u": "DiscreteUniform(5)"}, "set": {"factor": "log(u)"}},
    }
    scm = SCM(dags.build(nodes, file="my.yaml"))
    u = seeds.uniforms(3, "test", "clouds.u", start=0, count=100)
    first = int(np.argmax(u < 0.2))
    with pytest.raises(SamplingError) as caught:
        scm.sample(100, seed=3)
    text = str(caught.value)
    assert text.startswith("my.yaml:12: clouds.factor: 'log(u)' gives no finite number")
    assert f"in sample {first}: log(0) = -inf" in text
    # The sample is named by its index also when it is drawn alone, and others can be drawn.
    with pytest.raises(SamplingError, match=f"in sample {first}:"):
        scm.draw(seed=3, split="test", index=first)
    scm.draw(seed=3, split="test", index=int(np.argmax(u > 0.2)))


def test_a_condition_that_is_not_finite_names_when(dags):
    nodes = {"gamma": {"when": "1 / (2 - 2) > 0", "set": {"gamma": "2"}}}
    with pytest.raises(SamplingError, match=r"test\.yaml:0: gamma\.when: '1 / \(2 - 2\) > 0'"):
        SCM(dags.build(nodes)).sample(1, seed=0)


def test_noise_that_overflows_is_named(dags):
    nodes = {"clouds": {"noise": {"x": "LogNormal(0, 2000)"}, "set": {"factor": "0"}}}
    with pytest.raises(SamplingError, match=r"test\.yaml:1: clouds\.x: 'LogNormal\(0, 2000\)'"):
        SCM(dags.build(nodes)).sample(100, seed=0)


@pytest.mark.parametrize("name", ["n", "start"])
def test_negative_counts_are_refused(dags, name):
    arguments = {"n": 1, "seed": 0} | {name: -1}
    with pytest.raises(SpecError, match=f"{name} must be at least 0, got -1"):
        SCM(dags.build(GATED)).sample(**arguments)


def test_propagate_is_a_function_of_the_noise_alone(dags):
    scm = SCM(dags.build(CURVED))
    table = scm.sample(30, seed=8)
    noise = {name: node.noise for name, node in table.nodes.items()}
    assert same(scm.propagate(table.index, noise), table)


@pytest.mark.slow
def test_a_sample_alone_equals_its_row_of_a_million():
    scm = SCM.from_yaml("tree-halfnormal")
    assert len(scm.dag.nodes) == 8
    table = scm.sample(1_000_000, seed=0)
    assert scm.draw(seed=0, split="test", index=123_456) == table.draw(123_456)
