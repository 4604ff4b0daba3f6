"""What the doctor says of machines that are faked at their edges, and of the real Blender here."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robustclevr.records import LinearImage, Render
from robustclevr.records.device import DeviceSurvey, Gpu
from robustclevr.run.blender_process import RendererCommand, RendererSetup
from robustclevr.run.doctor import examine
from robustclevr.run.doctor.caches import Cache, cache_findings, caches
from robustclevr.run.doctor.examine import numpy_for
from robustclevr.run.doctor.gpus import Surroundings, gpu_findings, hints
from robustclevr.run.doctor.machine import machine_findings, processor_name
from robustclevr.run.doctor.trial import judge, prewarm_plan, trial_plan
from robustclevr.run.nvidia import Card

KERNELS = ("sm_86", "sm_89", "compute_75")
GPUS = RendererCommand(bootstrap=str(Path(__file__).with_name("stand_in_gpus.py")))
FILES = frozenset({"nvidia0", "nvidiactl", "nvidia-uvm"})


def survey(*backends, **absent):
    gpus = tuple(
        Gpu(backend, "NVIDIA X", f"CUDA_NVIDIA X_0000:c1:00{'_OptiX' * (backend == 'optix')}")
        for backend in backends
    )
    return DeviceSurvey(gpus, absent, KERNELS)


def card(driver="570.1", capability="9.0"):
    return Card("0000:c1:00", "GPU-1", "NVIDIA X", driver, 143360, capability)


def setup_of(command, recipes=()):
    files = tuple((str(item.path), item.shipped) for item in dict(recipes).values())
    return RendererSetup(files, command=command)


@pytest.mark.parametrize(
    ("backends", "capability", "kernels"),
    [
        (("cuda",), "8.9", "CUDA kernels precompiled (sm_89)"),
        (("cuda",), "8.0", "CUDA kernels compiled at first use"),
        (("optix", "cuda"), "8.6", "precompiled (sm_86), OptiX compiled at first use"),
        (("optix", "cuda"), "9.0", "CUDA and OptiX kernels compiled at first use"),
        (("cuda",), "", "is not known"),
    ],
)
def test_a_card_with_what_is_known_of_it(backends, capability, kernels):
    around = Surroundings((card(capability=capability),), files=FILES)
    gpu, driver, *_ = gpu_findings(survey(*backends), around)
    assert gpu.what == "gpu" and gpu.works
    assert gpu.state.startswith("NVIDIA X at 0000:c1:00: ")
    assert kernels in gpu.state
    assert gpu.facts["backends"] == list(backends)
    assert gpu.facts["compute_capability"] == capability
    assert gpu.facts["driver"] == "570.1"
    assert (driver.what, driver.works) == ("driver", True)


def test_a_driver_too_old_for_optix():
    around = Surroundings((card(driver="470.82"),), files=FILES)
    found = {item.what: item for item in gpu_findings(survey("cuda", optix="too old"), around)}
    assert not found["driver"].works and not found["driver"].needed
    assert "535" in found["driver"].advice
    assert "too old" in found["driver"].state


def test_a_card_of_another_maker_has_no_driver_line():
    amd = DeviceSurvey((Gpu("hip", "AMD C", "HIP_AMD C_0000:02:00"),), {}, KERNELS)
    (gpu,) = gpu_findings(amd, Surroundings())
    assert gpu.state == "AMD C at 0000:02:00: HIP"


NO_DRIVER = {"optix": "no driver (libcuda.so.1)", "cuda": "no driver (libcuda.so.1)"}


@pytest.mark.parametrize(
    ("seen", "around", "what", "advice"),
    [
        pytest.param(survey(**NO_DRIVER), {}, None, None, id="no-gpu"),
        pytest.param(
            survey(**NO_DRIVER),
            {"host_driver": "570.1", "in_container": True},
            "host has NVIDIA driver 570.1",
            "--gpus all",
            id="container-without-gpus",
        ),
        pytest.param(
            survey(**NO_DRIVER),
            {"in_container": True, "environment": {"NVIDIA_VISIBLE_DEVICES": "all"}},
            "a GPU is asked for",
            "Container Toolkit",
            id="gpu-image-without-gpus",
        ),
        pytest.param(
            survey(**NO_DRIVER),
            {"in_container": True, "environment": {"NVIDIA_VISIBLE_DEVICES": "void"}},
            None,
            None,
            id="none-asked-for",
        ),
        pytest.param(
            survey(**NO_DRIVER), {"host_driver": "570.1"}, "no /dev/nvidia", "modprobe", id="nodes"
        ),
        pytest.param(
            survey(cuda="CUDA_ERROR_UNKNOWN"),
            {"files": frozenset({"nvidia0"})},
            "nvidia-uvm",
            "modprobe",
            id="uvm",
        ),
        pytest.param(
            survey(**NO_DRIVER),
            {"files": FILES, "in_container": True},
            "libraries are not in the container",
            "NVIDIA_DRIVER_CAPABILITIES",
            id="capability-compute",
        ),
        pytest.param(
            survey(**NO_DRIVER), {"files": FILES}, "not installed", "libcuda", id="libraries"
        ),
        pytest.param(
            survey(cuda="the driver says X"), {"files": FILES}, "says X", "nvidia-smi", id="broken"
        ),
        pytest.param(
            survey("cuda", optix="libnvoptix"),
            {
                "files": FILES,
                "cards": (card(),),
                "environment": {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"},
            },
            "without 'graphics'",
            "graphics",
            id="capability-graphics",
        ),
        pytest.param(
            survey("cuda", optix="too old"),
            {
                "files": FILES,
                "cards": (card(),),
                "environment": {"NVIDIA_DRIVER_CAPABILITIES": "all"},
            },
            None,
            None,
            id="all-capabilities",
        ),
        pytest.param(
            survey("optix", "cuda"), {"files": FILES}, "nvidia-smi", "utility", id="tool-missing"
        ),
    ],
)
def test_why_a_gpu_is_out_of_reach(seen, around, what, advice):
    found = list(hints(seen, Surroundings(**around)))
    if what is None:
        assert found == []
        return
    ((said, to_do),) = found
    assert what in said
    assert advice in to_do


def test_surroundings_are_read_from_the_files_of_the_system(tmp_path):
    version = tmp_path / "proc/driver/nvidia/version"
    version.parent.mkdir(parents=True)
    version.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu Jan 23\n")
    for name in ("dev/nvidia0", "dev/nvidia-uvm", "dev/null", "run/.containerenv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    around = Surroundings.here(tmp_path, tool=str(tmp_path / "none"))
    assert (around.driver, around.in_container) == ("570.86.15", True)
    assert around.files == {"nvidia0", "nvidia-uvm"}
    nothing = Surroundings.here(tmp_path / "none", tool=str(tmp_path / "none"))
    assert (nothing.driver, nothing.in_container, nothing.files) == ("", False, frozenset())


def test_caches_are_where_the_environment_says():
    found = {cache.of: cache for cache in caches({}, Path("/home/me"))}
    assert found["CUDA"].folder == Path("/home/me/.nv/ComputeCache")
    assert found["Cycles"].folder == Path("/home/me/.cache/cycles/kernels")
    assert found["OptiX"].folder.name.startswith("OptixCache_")
    told = {
        "CUDA_CACHE_PATH": "/c",
        "OPTIX_CACHE_PATH": "/o",
        "XDG_CACHE_HOME": "/x",
        "CUDA_CACHE_DISABLE": "1",
    }
    found = {cache.of: cache for cache in caches(told, Path("/home/me"))}
    assert [str(cache.folder) for cache in found.values()] == ["/c", "/o", "/x/cycles/kernels"]
    assert found["CUDA"].off


def test_a_cache_that_keeps_nothing_matters_only_to_a_gpu(tmp_path):
    kept = Cache("CUDA", tmp_path / "not/made/yet", "CUDA_CACHE_PATH")
    off = replace(kept, off="CUDA_CACHE_DISABLE is 1")
    for cache, matter, works in ((off, True, False), (off, False, True)):
        (finding,) = cache_findings((cache,), matter=matter)
        assert (finding.works, finding.needed) == (works, False)
        assert "CUDA_CACHE_DISABLE" in finding.state
        assert "GiB free" in finding.facts["on"]
    (finding,) = cache_findings((kept,), matter=False)
    assert str(tmp_path) in finding.state


def test_a_cache_on_a_file_system_that_does_not_stay(tmp_path, monkeypatch):
    from types import SimpleNamespace

    import psutil

    mounts = [
        SimpleNamespace(mountpoint="/", fstype="ext4", device="/dev/sda"),
        SimpleNamespace(mountpoint=str(tmp_path), fstype="overlay", device="overlay"),
    ]
    monkeypatch.setattr(psutil, "disk_partitions", lambda **_all: mounts)
    cache = Cache("CUDA", tmp_path / "cache", "CUDA_CACHE_PATH")
    (finding,) = cache_findings((cache,), matter=True)
    assert not finding.works
    assert "does not stay" in finding.state and "overlay" in finding.state


@pytest.mark.parametrize(
    ("blender", "numpy"), [("4.5.15", "1"), ("4.2.0", "1"), ("5.0.1", ""), ("5.3.0", "2")]
)
def test_which_numpy_a_blender_is_built_for(blender, numpy):
    assert numpy_for(blender) == numpy


def test_the_machine_is_found_to_work(tmp_path):
    found = {finding.what: finding for finding in machine_findings(tmp_path)}
    assert set(found) == {"python", "numpy", "cores", "memory", "disk"}
    assert found["cores"].facts["usable"] <= len(os.sched_getaffinity(0))
    assert processor_name()
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n")
    assert processor_name(tmp_path) == "Some CPU @ 2 GHz"


def picture(pixels, labels):
    image = LinearImage("clean", pixels.astype(np.float32), None)
    return Render((image,), labels, None, None, None, {}, 1, {}, "cpu")


def test_a_picture_is_judged():
    noise = np.random.Generator(np.random.Philox(key=[0, 0])).random((8, 8, 3))
    some, none = np.ones((8, 8), np.uint8), np.zeros((8, 8), np.uint8)
    assert judge(picture(noise, some)) == ""
    assert "black" in judge(picture(noise * 0, some))
    assert "one color" in judge(picture(noise * 0 + 0.5, some))
    assert "no object" in judge(picture(noise, none))
    broken = noise.copy()
    broken[3, 3] = np.nan
    broken[4, 4, 0] = np.inf
    assert judge(picture(broken, some)) == "4 of 192 values are not numbers"


def test_the_warm_up_uses_every_scene_stage_recipe_and_every_output(recipes):
    plan = prewarm_plan(recipes)
    staged = {name for name, loaded in recipes.items() if loaded.recipe.stage == "scene"}
    assert {"camera_motion_blur", "depth_of_field", "fog_volume"} <= staged
    alone = [{step.recipe for step in rendered.steps} for rendered in plan.renders]
    assert set() in alone and staged in alone
    assert all({name} in alone for name in staged)
    assert {"amodal", "depth", "normal"} <= set(plan.outputs)
    assert trial_plan(recipes).renders == (plan.renders[alone.index(set())],)


@pytest.fixture
def two_gpus(monkeypatch, tmp_path):
    document = {"count": 2, "witness": str(tmp_path / "witness")}
    monkeypatch.setenv("STAND_IN_GPUS", json.dumps(document))
    return lambda: [json.loads(line) for line in (tmp_path / "witness").read_text().splitlines()]


def test_a_machine_with_two_gpus(two_gpus, recipes, tmp_path):
    found = list(examine(setup_of(GPUS), recipes, tmp_path, prewarm=True))
    assert all(item.works for item in found if item.needed), found
    lines = {item.what: item for item in found}
    assert [item.facts["address"] for item in found if item.what == "gpu"] == [
        "0000:01:00",
        "0000:02:00",
    ]
    assert lines["device"].state == "optix (Fake)"
    assert "on optix (Fake)" in lines["render"].state
    assert "kernels are compiled: 8 renders on optix (Fake)" in lines["prewarm"].state
    # Both are of one kind, so the first is warmed up for both.
    assert [seen["gpu"] for seen in two_gpus()] == [None, "CUDA_Fake_0000:01:00_OptiX"]


@pytest.mark.usefixtures("two_gpus")
def test_a_device_that_is_asked_for_is_tried(recipes, tmp_path):
    setup = replace(setup_of(GPUS), device="cuda")
    lines = {item.what: item for item in examine(setup, recipes, tmp_path)}
    assert lines["device"].state == "cuda (Fake)"
    assert "on cuda (Fake)" in lines["render"].state
    setup = replace(setup, device="hip")
    lines = {item.what: item for item in examine(setup, recipes, tmp_path)}
    assert not lines["device"].works and lines["device"].needed
    assert lines["device"].state == "hip is not here: no device"


def test_a_driver_that_crashes_when_asked_leaves_the_processor(
    two_gpus, recipes, tmp_path, monkeypatch
):
    document = {"count": 2, "witness": str(tmp_path / "witness"), "broken": True}
    monkeypatch.setenv("STAND_IN_GPUS", json.dumps(document))
    found = list(examine(setup_of(GPUS), recipes, tmp_path))
    assert all(item.works for item in found if item.needed), found
    lines = {item.what: item for item in found}
    assert not lines["gpu access"].works
    assert "SIGABRT" in lines["gpu access"].state
    assert "on cpu" in lines["render"].state
    assert [seen["device"] for seen in two_gpus()] == ["cpu"]
    *_, device, _, _, _, _ = examine(replace(setup_of(GPUS), device="cuda"), recipes, tmp_path)
    assert (device.what, device.works, device.needed) == ("device", False, True)


def test_a_blender_that_dies_or_is_missing(tmp_path, recipes):
    crash = tmp_path / "crash.py"
    crash.write_text("import os; os.abort()")
    *_, last = examine(setup_of(RendererCommand(bootstrap=str(crash))), recipes, tmp_path)
    assert (last.what, last.works, last.needed) == ("blender", False, True)
    assert "SIGABRT" in last.advice
    *_, last = examine(setup_of(RendererCommand(python="/none")), recipes, tmp_path)
    assert "cannot start /none" in last.advice


@pytest.mark.blender
def test_the_real_blender_renders_its_trial(recipes, tmp_path):
    setup = setup_of(RendererCommand(), recipes)
    found = list(examine(setup, recipes, tmp_path, prewarm=True))
    assert all(item.works for item in found if item.needed), found
    lines = {item.what: item for item in found}
    device, render = lines["device"], lines["render"]
    assert render.facts["device"] in device.state
    if render.facts["device"] == "cpu":
        assert device.state.startswith(f"cpu ({processor_name()}); ")
        assert "\n" not in device.state
        assert "CUDA" in device.facts["why"] and "OptiX" in device.facts["why"]
    assert lines["prewarm"].facts["renders"] == 8
