"""The pyro program and the sampler are one model: same values, same densities, same law."""

import builtins
import math
import sys

import numpy as np
import pyro
import pytest
import torch
from scipy import stats

from robustclevr.errors import SetupError
from robustclevr.scm import SCM
from robustclevr.scm.distributions import SMOOTH

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
    "white_noise": {
        "parents": ["gamma"],
        "noise": {"a": "Gamma(2, 1)", "t": "StudentT(4)"},
        "set": {"factor": "tanh(0.3 * sqrt(a) / gamma.gamma)"},
    },
    "defocus": {
        "noise": {"a": "Gamma(2, 1)", "t": "StudentT(4)"},
        "set": {"z": "2 / (1 + log(1 + a)) ** 1.5", "f_stop": "128 * sigmoid(t) + z"},
    },
}
SHIPPED = ("tree-uniform", "tree-halfnormal", "chain-uniform", "chain-halfnormal")


def replay(scm, draw):
    """Run the program on a recorded draw's noise; return its trace and values."""
    recorded = {
        f"{node.id}.{item.name}": torch.tensor(
            draw.nodes[node.id].noise[item.name],
            dtype=torch.float64,
            requires_grad=item.distribution.name in SMOOTH,
        )
        for node in scm.dag.nodes
        for item in node.noise
    }
    model = pyro.poutine.condition(scm.pyro_model(), data=recorded)
    trace = pyro.poutine.trace(model).get_trace()
    return trace, trace.nodes["_RETURN"]["value"]


def log_slopes(scm, draw, trace, values):
    """Sum log |d parameter / d noise| by torch's own derivatives, where a draw counts them."""
    total = 0.0
    for node in scm.dag.nodes:
        if draw.nodes[node.id].density_of == "noise":
            continue
        for item in node.noise:
            noise = trace.nodes.get(f"{node.id}.{item.name}", {}).get("value")
            if noise is None or not noise.requires_grad:
                continue
            parameters = [values[f"{node.id}.{a.parameter}"] for a in node.assignments]
            steep = [gradient(parameter, noise) for parameter in parameters]
            total += math.log(abs(next(slope for slope in steep if slope != 0)))
    return total


def gradient(parameter, noise):
    if isinstance(parameter, str) or not parameter.requires_grad:
        return 0.0
    (slope,) = torch.autograd.grad(parameter, noise, retain_graph=True, allow_unused=True)
    return 0.0 if slope is None else float(slope)


def assert_agrees(scm, rows, seed):
    for draw in scm.sample(rows, seed=seed).draws():
        trace, values = replay(scm, draw)
        density = float(trace.log_prob_sum().detach()) - log_slopes(scm, draw, trace, values)
        assert density == pytest.approx(draw.log_density, rel=1e-9, abs=1e-9)
        for name, node in draw.nodes.items():
            assert float(values[f"{name}.severity"].detach()) == pytest.approx(
                node.severity, abs=1e-9
            )
            assert bool(values[f"{name}.active"]) == node.active
            for key, value in node.parameters.items():
                found = values[f"{name}.{key}"]
                if isinstance(value, str):
                    assert found == value
                else:
                    assert float(found.detach()) == pytest.approx(float(value), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_models_on_recorded_noise(name):
    assert_agrees(SCM.from_yaml(name), 30, 4)


def test_every_kind_of_node(dags):
    scm = SCM(dags.build(NODES))
    table = scm.sample(60, seed=1)
    assert 0 < table.nodes["clouds"].active.sum() < 60
    exact = {name for name, node in table.nodes.items() if node.in_parameters.all()}
    assert exact == {"weather", "motion_blur", "glare", "white_noise", "defocus"}
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
