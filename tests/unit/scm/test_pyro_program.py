"""The pyro program and the sampler are one model: same values, same densities, same law."""

import builtins
import sys

import numpy as np
import pyro
import pytest
import torch
from scipy import stats

from robustclevr.errors import SetupError
from robustclevr.scm import SCM

NODES = {
    "weather": {"latent": True, "noise": {"w": "Normal(0, 1)"}, "set": {"value": "w"}},
    "clouds": {
        "parents": ["weather"],
        "when": "weather.value > -0.3 and not weather.value > 2",
        "noise": {"h": "HalfNormal(0.3)", "b": "Bernoulli(0.4)", "p": "Poisson(2)"},
        "set": {"factor": "where(b, clip(h, 0.05, 0.9), 0.01 * p)"},
    },
    "gamma": {
        "parents": ["clouds"],
        "noise": {"q": "Uniform(0, 1)", "e": "Beta(2, 3)"},
        "set": {
            "gamma": "1 + quantile(Beta(1 + clouds.factor, 2), q) + e ** 2 * sigmoid(-q) % 0.4"
        },
    },
    "motion_blur": {"parents": ["gamma"], "severity": "0.5 * gamma.severity"},
    "lens_distortion": {
        "noise": {"u": "DiscreteUniform(10)", "k": "Categorical(probs=[0.2, 0.8])"},
        "set": {"distort": "round(3 * u) / 10 - exp(-k) + cos(k)", "fit": "distort > 0.2"},
    },
    "glare": {"set": {"kind": "streaks"}},
}
SHIPPED = ("tree-uniform", "tree-halfnormal", "chain-uniform", "chain-halfnormal")


def replay(scm, draw):
    """Run the program on a recorded draw's noise; return its trace and values."""
    recorded = {
        f"{node}.{name}": torch.tensor(value, dtype=torch.float64)
        for node, part in draw.nodes.items()
        for name, value in part.noise.items()
    }
    model = pyro.poutine.condition(scm.pyro_model(), data=recorded)
    trace = pyro.poutine.trace(model).get_trace()
    return trace, trace.nodes["_RETURN"]["value"]


def assert_agrees(scm, rows, seed):
    for draw in scm.sample(rows, seed=seed).draws():
        trace, values = replay(scm, draw)
        assert float(trace.log_prob_sum()) == pytest.approx(draw.log_density, rel=1e-9, abs=1e-9)
        for name, node in draw.nodes.items():
            assert float(values[f"{name}.severity"]) == pytest.approx(node.severity, abs=1e-9)
            assert bool(values[f"{name}.active"]) == node.active
            for key, value in node.parameters.items():
                found = values[f"{name}.{key}"]
                if isinstance(value, str):
                    assert found == value
                else:
                    assert float(found) == pytest.approx(float(value), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_models_on_recorded_noise(name):
    assert_agrees(SCM.from_yaml(name), 30, 4)


def test_every_kind_of_node(dags):
    scm = SCM(dags.build(NODES))
    table = scm.sample(60, seed=1)
    assert 0 < table.nodes["clouds"].active.sum() < 60
    assert_agrees(scm, 60, 1)
    assert_agrees(scm.do({"clouds.factor": 0.4, "glare.kind": "simple_star"}), 20, 1)
    assert_agrees(scm.shift({"clouds.h": "HalfNormal(0.6)"}), 20, 1)


def test_sites_are_the_noise_that_is_read(dags):
    scm = SCM(dags.build(NODES))
    pyro.set_rng_seed(0)
    seen = set()
    for _ in range(20):
        trace = pyro.poutine.trace(scm.pyro_model()).get_trace()
        sites = set(trace.stochastic_nodes)
        active = bool(trace.nodes["_RETURN"]["value"]["clouds.active"])
        assert ("clouds.b" in sites) == active
        assert not {"clouds.h", "clouds.p"} <= sites
        seen.add(active)
    assert seen == {True, False}


def test_the_two_agree_in_distribution():
    scm = SCM.from_yaml("chain-halfnormal")
    pyro.set_rng_seed(20240117)
    model = scm.pyro_model()
    ours = scm.sample(20_000, seed=20240117).columns(noise=False)
    theirs = [model() for _ in range(400)]
    for name in ("gamma.gamma", "white_noise.factor", "motion_blur.zoom", "defocus.z"):
        sample = np.array([float(values[name]) for values in theirs])
        assert stats.ks_2samp(sample, ours[name]).pvalue > 0.001 / 4


def test_a_condition_weighs_traces():
    scm = SCM.from_yaml("chain-uniform").given("clouds.factor > 0")
    pyro.set_rng_seed(1)
    for _ in range(20):
        trace = pyro.poutine.trace(scm.pyro_model()).get_trace()
        met = bool(trace.nodes["_RETURN"]["value"]["clouds.factor"] > 0)
        assert bool(torch.isfinite(trace.log_prob_sum())) == met


def test_gradients_flow():
    scm = SCM.from_yaml("tree-halfnormal")
    h = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    values = pyro.poutine.condition(scm.pyro_model(), data={"gamma.h": h})()
    values["gamma.gamma"].backward()
    assert h.grad == 1.0


def test_posterior_of_a_parent_given_its_child():
    """P(clouds | blur of size 1), by importance sampling and by rejection."""
    model = SCM.from_yaml("chain-uniform").pyro_model()

    def observed():
        values = model()
        seen = (values["gaussian_blur.size"] == 1).double()
        pyro.sample("seen", pyro.distributions.Bernoulli(0.001 + 0.998 * seen), obs=torch.ones(()))
        return float(values["clouds.factor"] > 0.2)

    pyro.set_rng_seed(20240117)
    run = pyro.infer.Importance(observed, num_samples=800).run()
    weights = torch.tensor(run.log_weights).softmax(0).numpy()
    cloudy = np.array([trace.nodes["_RETURN"]["value"] for trace in run.exec_traces])
    given = SCM.from_yaml("chain-uniform").given("gaussian_blur.size == 1").sample(20_000, seed=1)
    expected = (given.nodes["clouds"].parameters["factor"] > 0.2).mean()
    assert weights @ cloudy == pytest.approx(expected, abs=0.15)
    assert expected > 0.4  # a tenth without the observation


def test_without_pyro_the_message_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "robustclevr.scm.pyro_program", raising=False)
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name == "pyro":
            raise ImportError("No module named 'pyro'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(SetupError, match=r"pip install 'robustclevr\[pyro\]'"):
        SCM.from_yaml("tree-uniform").pyro_model()
