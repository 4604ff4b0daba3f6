"""Choosing among devices that a stand-in for Cycles lists, and what the real one says here."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import pytest

from robustclevr.blender import devices
from robustclevr.blender.devices import choose, enable, reasons, survey_devices
from robustclevr.errors import DeviceLostError, SetupError
from robustclevr.records import from_json, to_json
from robustclevr.records.device import BACKENDS, DEVICES, DeviceSurvey, Gpu

CARDS = ("NVIDIA A", "0000:01:00"), ("NVIDIA B", "0000:c1:00")
AMD = ("AMD C", "HIP", "HIP_AMD C_0000:02:00")


def nvidia(backend):
    end = "_OptiX" if backend == "OPTIX" else ""
    return [(name, backend, f"CUDA_{name}_{place}{end}") for name, place in CARDS]


class Preferences:
    """The part of Cycles' preferences that is used: offers back ends, lists devices."""

    def __init__(self, offered, found):
        self._offered, self._found = offered, found
        self._type = "NONE"
        # As if another machine's had been saved.
        self.devices = [SimpleNamespace(type="CUDA", id="CUDA_gone_0000:09:00", use=True)]

    @property
    def compute_device_type(self):
        return self._type

    @compute_device_type.setter
    def compute_device_type(self, value):
        if value != "NONE" and value not in self._offered:
            raise TypeError(f"enum {value} not found")
        self._type = value

    def get_device_list(self, backend):
        listed = [*self._found.get(backend, ()), ("Processor", "CPU", "CPU")]
        for _, kind, identifier in listed:
            if not any((kind, identifier) == (entry.type, entry.id) for entry in self.devices):
                self.devices.append(SimpleNamespace(type=kind, id=identifier, use=kind != "CPU"))
        return listed


@pytest.fixture
def kernels(tmp_path):
    for name in ("sm_86.cubin.zst", "compute_75.ptx.zst", "gfx1030.fatbin.zst", "optix.ptx.zst"):
        (tmp_path / f"kernel_{name}").touch()
    return tmp_path


@pytest.fixture
def rig():
    return Preferences(
        ("OPTIX", "CUDA", "HIP"),
        {"OPTIX": nvidia("OPTIX"), "CUDA": nvidia("CUDA"), "HIP": [AMD]},
    )


def survey_of(*backends, absent=None):
    found = tuple(
        Gpu(backend, name, f"{backend}_{name}_{place}")
        for backend in BACKENDS
        if backend in backends
        for name, place in CARDS
    )
    return DeviceSurvey(found, absent or {})


def test_survey_lists_every_gpu_of_every_back_end_and_no_other_device(rig, kernels):
    survey = survey_devices(rig, kernels)
    assert [(gpu.backend, gpu.name, gpu.address) for gpu in survey.gpus] == [
        ("optix", "NVIDIA A", "0000:01:00"),
        ("optix", "NVIDIA B", "0000:c1:00"),
        ("cuda", "NVIDIA A", "0000:01:00"),
        ("cuda", "NVIDIA B", "0000:c1:00"),
        ("hip", "AMD C", "0000:02:00"),
    ]
    assert survey.absent == {"metal": "not in this Blender", "oneapi": "not in this Blender"}
    assert survey.kernels == ("compute_75", "sm_86")
    assert rig.compute_device_type == "NONE"
    assert from_json(DeviceSurvey, to_json(survey)) == survey


@pytest.mark.parametrize("best", range(len(BACKENDS)))
def test_auto_takes_the_first_back_end_that_has_a_gpu_and_says_why_not_a_better_one(best):
    absent = {backend: f"no {backend}" for backend in BACKENDS[:best]}
    choice = choose("auto", survey_of(*BACKENDS[best:], absent=absent))
    assert choice.gpu is not None
    assert choice.gpu.backend == BACKENDS[best]
    assert choice.label == f"{BACKENDS[best]} (NVIDIA A)"
    assert all(reason in choice.why for reason in absent.values())
    assert (choice.why == "") == (best == 0)


def test_auto_without_a_gpu_is_the_processor_with_every_reason_in_one_line():
    absent = dict.fromkeys(("optix", "cuda"), "no driver") | {"metal": "not in this Blender"}
    choice = choose("auto", DeviceSurvey((), absent))
    assert choice.label == "cpu"
    assert (
        choice.why == "OptiX, CUDA: no driver; HIP, oneAPI: no device; Metal: not in this Blender"
    )


@pytest.mark.parametrize("wanted", BACKENDS)
def test_what_is_asked_for_is_taken_or_missed_with_the_reason(wanted):
    assert choose(wanted, survey_of(*BACKENDS)).label == f"{wanted} (NVIDIA A)"
    assert choose(wanted, survey_of(*BACKENDS)).why == ""
    others = survey_of(*(set(BACKENDS) - {wanted}), absent={wanted: "its driver is on holiday"})
    with pytest.raises(SetupError, match=rf"'{wanted}' is not here.*on holiday.*doctor.*auto"):
        choose(wanted, others)


def test_the_processor_is_taken_though_there_are_gpus():
    assert choose("cpu", survey_of(*BACKENDS)) == devices.Choice(None)


def test_another_word_is_an_error_with_the_nearest_spelling():
    with pytest.raises(SetupError, match=r"'optx'.*did you mean 'optix'"):
        choose("optx", survey_of())
    assert DEVICES[:2] == ("auto", "cpu")


def test_one_gpu_of_several_by_its_id():
    survey = survey_of("optix", "cuda")
    for wanted in ("auto", "cuda"):
        assert choose(wanted, survey, "cuda_NVIDIA B_0000:c1:00").label == "cuda (NVIDIA B)"
    with pytest.raises(DeviceLostError, match=r"GPU 'cuda_gone' is not there any more"):
        choose("auto", survey, "cuda_gone")


def test_exactly_the_chosen_gpu_is_switched_on(rig, kernels):
    survey = survey_devices(rig, kernels)
    for gpu in survey.gpus:
        enable(rig, gpu)
        assert rig.compute_device_type == gpu.backend.upper()
        assert [device.id for device in rig.devices if device.use] == [gpu.id]
    enable(rig, None)
    assert rig.compute_device_type == "NONE"


def test_a_gpu_that_cycles_does_not_list_is_never_replaced_by_the_processor(rig):
    with pytest.raises(DeviceLostError, match="not there any more"):
        enable(rig, Gpu("cuda", "NVIDIA D", "CUDA_NVIDIA D_0000:05:00"))


def test_why_there_is_no_cuda(monkeypatch, kernels):
    rig = Preferences(("OPTIX", "CUDA"), {})

    def driver(code):
        def get_error_name(_code, name):
            name._obj.value = b"CUDA_ERROR_NO_DEVICE"

        return SimpleNamespace(cuInit=lambda _flags: code, cuGetErrorName=get_error_name)

    monkeypatch.setattr(ctypes, "CDLL", lambda _name: driver(100))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    survey = survey_devices(rig, kernels)
    assert survey.absent["cuda"] == survey.absent["optix"]
    assert "CUDA_ERROR_NO_DEVICE" in survey.absent["cuda"]
    assert "CUDA_VISIBLE_DEVICES is ''" in survey.absent["cuda"]

    monkeypatch.setattr(ctypes, "CDLL", lambda _name: driver(0))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert "shows no GPU" in survey_devices(rig, kernels).absent["cuda"]

    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert "libcuda.so.1" in survey_devices(rig, kernels).absent["cuda"]


def test_why_there_is_cuda_but_no_optix(monkeypatch, kernels):
    rig = Preferences(("OPTIX", "CUDA"), {"CUDA": nvidia("CUDA")})
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: SimpleNamespace())
    assert "too old" in survey_devices(rig, kernels).absent["optix"]

    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    survey = survey_devices(rig, kernels)
    assert "NVIDIA_DRIVER_CAPABILITIES" in survey.absent["optix"]
    choice = choose("auto", survey)
    assert choice.label == "cuda (NVIDIA A)"
    assert choice.why.startswith("OptiX: libnvoptix.so.1")


def test_reasons_of_nothing_are_empty():
    assert reasons([], {}) == ""


@pytest.mark.blender
def test_the_real_cycles_is_asked_and_its_choice_survives_an_emptied_session():
    import bpy

    from robustclevr.blender import session
    from robustclevr.blender.devices import take_device

    session.reset()
    assert take_device("cpu") == (devices.Choice(None), DeviceSurvey((), {}))
    choice, survey = take_device("auto")
    assert (choice.gpu is None) == (survey.gpus == ())
    assert set(survey.absent) | {gpu.backend for gpu in survey.gpus} == set(BACKENDS)
    assert "compute_75" in survey.kernels
    preferences = bpy.context.preferences.addons["cycles"].preferences
    preferences.compute_device_type = "CUDA"
    session.reset()
    preferences = bpy.context.preferences.addons["cycles"].preferences
    assert preferences.compute_device_type == "CUDA"
    enable(preferences, choice.gpu)
