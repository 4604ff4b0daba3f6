"""The choice of a back end, and what a task asks of the nodes of a cluster."""

import socket
import subprocess
import sys

import pytest

from robustclevr.errors import SetupError, SpecError
from robustclevr.run.backends import backend_names, load_backend
from robustclevr.run.ray_need import Need, need_of
from robustclevr.run.renderer_command import RendererCommand
from robustclevr.run.slurm_commands import NodeShape, minutes_of
from robustclevr.run.slurm_settings import DEFAULT_MINUTES, job_shape, settings_from


def test_a_module_is_a_back_end():
    assert backend_names() == ("local", "ray", "slurm")


def test_an_unknown_one_is_named_with_the_nearest():
    with pytest.raises(
        SpecError, match=r"^--backend: unknown back end 'slrum'; did you mean 'slurm'\?"
    ):
        load_backend("slrum")


@pytest.mark.parametrize("name", ["local", "ray"])
def test_settings_of_slurm_are_refused_by_others(name):
    with pytest.raises(
        SpecError, match=rf"^--slurm: 'partition=x' is of no use to --backend {name}"
    ):
        load_backend(name, ["partition=x"])


def test_without_ray_the_error_names_the_install_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SetupError, match=r"pip install 'robustclevr\[ray\]'") as caught:
        load_backend("ray")
    assert caught.value.exit_code == 3


def test_a_cluster_that_does_not_answer_is_named_at_once(monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{port}")
    with load_backend("ray") as backend, pytest.raises(SetupError) as caught:
        backend.share(None, 1, clips=True, device="cpu", command=RendererCommand())
    assert f"no Ray cluster answers at RAY_ADDRESS=127.0.0.1:{port}" in str(caught.value)
    assert "ray start --head" in str(caught.value)


def test_no_library_of_another_back_end_is_loaded():
    script = (
        "import sys\n"
        "from robustclevr.run.backends import load_backend\n"
        "load_backend('local')\n"
        "loaded = {'ray', 'submitit', 'fsspec'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def node(cpus, gpus=0):
    return {"Resources": {"CPU": float(cpus), **({"GPU": float(gpus)} if gpus else {})}}


@pytest.mark.parametrize(
    ("nodes", "clips", "device", "need", "slots"),
    [
        pytest.param([node(8), node(5)], False, "auto", Need(2, 0), 6, id="cpu"),
        pytest.param([node(8)], True, "auto", Need(1, 0), 8, id="clips"),
        pytest.param([node(1), node(1)], False, "cpu", Need(1, 0), 2, id="one-core"),
        pytest.param([node(32, 4), node(8)], False, "auto", Need(8, 1), 4, id="gpu"),
        pytest.param([node(32, 4), node(6, 2)], False, "optix", Need(3, 1), 6, id="mixed"),
        pytest.param([node(32, 4)], False, "cpu", Need(2, 0), 16, id="cpu-of-gpu-nodes"),
        pytest.param([node(8)], False, "cuda", Need(2, 1), 0, id="gpu-is-not-there"),
        pytest.param([node(8, 1)], True, "auto", Need(1, 0), 8, id="clips-need-no-gpu"),
        pytest.param([], False, "auto", Need(1, 0), 0, id="no-node"),
    ],
)
def test_a_ray_task_takes_a_gpu_and_its_share_of_the_cores(nodes, clips, device, need, slots):
    assert need_of(nodes, clips=clips, device=device) == need
    assert sum(need.slots(one) for one in nodes) == slots


@pytest.mark.parametrize(
    ("settings", "nodes", "clips", "device", "cpus", "options"),
    [
        pytest.param([], [], False, "auto", 2, {}, id="slurm-does-not-tell"),
        pytest.param([], [NodeShape(64, 0)], False, "auto", 2, {}, id="cpu"),
        pytest.param([], [NodeShape(64, 4)], False, "auto", 16, {"gres": "gpu:1"}, id="gpu"),
        pytest.param([], [NodeShape(64, 4)], False, "cpu", 2, {}, id="cpu-of-gpu-nodes"),
        pytest.param([], [NodeShape(64, 0)], False, "cuda", 2, {"gres": "gpu:1"}, id="sbatch-says"),
        pytest.param([], [NodeShape(64, 4)], True, "auto", 1, {}, id="clips"),
        pytest.param(
            ["gres=gpu:a100:1", "cpus_per_task=6"],
            [NodeShape(64, 4)],
            False,
            "auto",
            6,
            {"gres": "gpu:a100:1"},
            id="the-user-says",
        ),
    ],
)
def test_a_slurm_task_asks_for_a_gpu_and_its_share_of_the_cores(
    settings, nodes, clips, device, cpus, options
):
    shape = job_shape(settings_from(settings), nodes, None, clips=clips, device=device)
    assert (shape.cpus, shape.options, shape.minutes) == (cpus, options, DEFAULT_MINUTES)


@pytest.mark.parametrize(
    ("settings", "limit", "minutes"),
    [
        ([], 30, 30),
        ([], 7 * 24 * 60, DEFAULT_MINUTES),
        (["time=2-00:00:00"], 30, 2880),
        (["time=90"], None, 90),
    ],
)
def test_the_time_limit_is_the_users_or_the_partitions(settings, limit, minutes):
    assert (
        job_shape(settings_from(settings), [], limit, clips=False, device="cpu").minutes == minutes
    )


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("0:30", 1),
        ("1-0", 1440),
        ("1-2:03:04", 1564),
        ("infinite", None),
        ("n/a", None),
        ("", None),
    ],
)
def test_times_as_sbatch_writes_them(text, minutes):
    assert minutes_of(text) == minutes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("partition", "'partition' is no setting; write KEY=VALUE"),
        ("=gpu", "'=gpu' is no setting"),
        ("array=0-3", "'array' is set by robustclevr itself"),
        ("signal=USR1", "'signal' is set by robustclevr itself"),
        ("cpus-per-task=0", "cpus-per-task=0 is no number of cores"),
        ("time=soon", "time=soon is no time limit"),
    ],
)
def test_wrong_settings_are_explained(text, message):
    with pytest.raises(SpecError) as caught:
        settings_from([text])
    assert str(caught.value).startswith("--slurm: ")
    assert message in str(caught.value)
