"""--device, and what the doctor prints."""

import json

import pytest

from robustclevr.run.doctor.machine import processor_name

COMMANDS = pytest.mark.parametrize(
    "words",
    [
        ("generate", "demo", "-o", "out"),
        ("preview", "demo", "-o", "out.png"),
        ("verify", "out"),
        ("recipe", "sweep", "glare", "-o", "out"),
        ("doctor",),
    ],
    ids=lambda words: words[0],
)


@COMMANDS
def test_a_wrong_device_is_a_usage_error_with_the_nearest_one(robustclevr, words):
    finished = robustclevr(*words, "--device", "optics")
    assert finished.code == 2
    assert "--device: 'optics' is no device; did you mean 'optix'?" in finished.err
    assert "auto, cpu, cuda, hip, metal, oneapi, optix" in finished.err


def test_a_wrong_consequence_of_a_lost_device_is_a_usage_error(robustclevr):
    finished = robustclevr("generate", "demo", "-o", "out", "--on-device-loss", "gpu")
    assert finished.code == 2
    assert "'fail', 'cpu'" in finished.err


@pytest.mark.blender
def test_a_device_that_is_not_here_ends_the_run_before_it_begins(robustclevr, tmp_path):
    out = tmp_path / "out"
    finished = robustclevr("generate", "demo", "-o", out, "--device", "Metal")
    assert finished.code == 3
    assert "device 'metal' is not here: Metal: not in this Blender" in finished.err
    assert "--device auto" in finished.err
    assert not out.exists()


@pytest.mark.blender
def test_the_doctor_prints_a_line_a_finding_and_ends_with_0_where_all_that_is_needed_works(
    robustclevr,
):
    finished = robustclevr("doctor")
    assert finished.code == 0, finished.out
    lines = {line.split()[1]: line for line in finished.out.splitlines() if line[0] != " "}
    assert {"python", "numpy", "cores", "memory", "disk", "blender", "device", "render"} <= {*lines}
    assert "32x32 image" in lines["render"]
    if "cpu (" in lines["device"]:  # no GPU here: the line says so, and why
        assert processor_name() in lines["device"]
        assert "CUDA: " in lines["device"]


@pytest.mark.blender
def test_the_doctor_says_in_json_which_device_is_missing(robustclevr):
    finished = robustclevr("doctor", "--device", "metal", "--json")
    assert finished.code == 3
    document = json.loads(finished.out)
    assert document["works"] is False
    (device,) = [found for found in document["findings"] if found["what"] == "device"]
    assert device["state"] == "metal is not here: not in this Blender"
    assert device["advice"]
    assert all("advice" in found and "facts" in found for found in document["findings"])
