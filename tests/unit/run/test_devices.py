"""Devices of a machine with GPUs, faked at the edge: Blender, nvidia-smi, device files."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from robustclevr.errors import RendererLostError, SetupError, SpecError
from robustclevr.records.device import Gpu
from robustclevr.run import devices
from robustclevr.run.blender_process import (
    COMPILING_S,
    BlenderProcess,
    RendererCommand,
    RendererSetup,
)
from robustclevr.run.devices import (
    NO_SIGN,
    Devices,
    check_device,
    find_devices,
    has_sign_of_gpu,
    local_seats,
    near_cores,
)
from robustclevr.run.job import Notice, SampleRetried, WorkerGaveUp
from robustclevr.run.seats import keep_to
from robustclevr.store.layout import Layout
from robustclevr.store.receipts import read_receipt

COMMAND = RendererCommand(bootstrap=str(Path(__file__).with_name("stand_in_gpus.py")))
UUIDS = {"0000:01:00": "GPU-one", "0000:02:00": "GPU-two", "0000:03:00": "GPU-three"}


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Make the tests' machine one with GPUs; return what its Blender processes wrote."""

    def make(count, **asked):
        witness = tmp_path / "witness"
        document = {"count": count, "witness": str(witness), **asked}
        monkeypatch.setenv("STAND_IN_GPUS", json.dumps(document))
        tool = tmp_path / "bin" / "nvidia-smi"
        tool.parent.mkdir(exist_ok=True)
        lines = [f"0000{place}.0, {uuid}, Fake, 570.1, 1024, 9.0" for place, uuid in UUIDS.items()]
        tool.write_text("#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines[:count]))
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
        monkeypatch.setattr(devices, "has_sign_of_gpu", lambda: count > 0)
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        return lambda: [json.loads(line) for line in witness.read_text().splitlines()]

    return make


def receipts(out, shards):
    found = [read_receipt("test", shard, Layout(out)) for shard in range(shards)]
    assert None not in found
    return found


def test_two_gpus_are_two_workers_each_with_its_own_gpu_and_cores(
    machine, run, make_spec, make_split, tmp_path
):
    witness = machine(2)
    spec = make_spec(make_split(samples=4, shard_size=1))
    summary, events = run(tmp_path / "d", spec, workers=None, device="auto", command=COMMAND)
    assert summary.exit_code == 0
    first, *workers = witness()
    assert (first["device"], first["gpu"]) == ("auto", None)  # it was asked what there is
    here = sorted(os.sched_getaffinity(0))
    half = len(here) // 2
    assert sorted((seen["gpu"], seen["visible"], seen["cores"]) for seen in workers) == [
        ("CUDA_Fake_0000:01:00_OptiX", "GPU-one", here[:half] or here),
        ("CUDA_Fake_0000:02:00_OptiX", "GPU-two", here[half:]),
    ]
    assert {seen["device"] for seen in workers} == {"optix"}
    assert len({seen["parent"] for seen in workers}) == 2
    assert all(seen["threads"] == max(1, half) for seen in workers)
    assert Notice("rendering on 2 x optix (Fake)") in events
    assert {receipt.device for receipt in receipts(tmp_path / "d", 4)} == {"optix (Fake)"}


def test_a_back_end_by_name_and_more_workers_than_gpus(
    machine, run, make_spec, make_split, tmp_path
):
    witness = machine(2)
    spec = make_spec(make_split(samples=6, shard_size=1))
    summary, _ = run(tmp_path / "d", spec, workers=3, device="cuda", command=COMMAND)
    assert summary.exit_code == 0
    _, *workers = witness()
    assert sorted(seen["gpu"][-5:-3] for seen in workers) == ["01", "01", "02"]
    assert {seen["device"] for seen in workers} == {"cuda"}


def test_a_single_gpu_keeps_the_users_choice_of_visible_devices(
    machine, run, make_spec, make_split, tmp_path, monkeypatch
):
    witness = machine(1)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-4f")
    spec = make_spec(make_split(samples=1, shard_size=1))
    run(tmp_path / "d", spec, workers=None, device="auto", command=COMMAND)
    assert [seen["visible"] for seen in witness()] == ["MIG-4f", "MIG-4f"]


def test_a_device_that_is_not_there_is_an_error_before_anything_is_written(
    machine, run, make_spec, tmp_path
):
    machine(0)
    with pytest.raises(SetupError, match="device 'cuda' is not here"):
        run(tmp_path / "d", make_spec(), device="cuda", command=COMMAND)
    assert not (tmp_path / "d").exists()


def test_auto_without_any_sign_of_a_gpu_asks_nobody(machine):
    machine(0)
    nobody = RendererCommand(python="/none")
    assert find_devices("auto", nobody) == Devices((), NO_SIGN)
    assert find_devices("cpu", nobody) == Devices(())
    assert str(Devices((), NO_SIGN)).startswith("the CPU; no GPU here")


def test_a_driver_that_crashes_when_asked_leaves_auto_with_the_processor(
    machine, run, make_spec, make_split, tmp_path
):
    machine(1, broken=True)
    spec = make_spec(make_split(samples=1))
    summary, events = run(tmp_path / "d", spec, device="auto", command=COMMAND)
    assert summary.exit_code == 0
    (said,) = [event.text for event in events if isinstance(event, Notice)]
    assert said.startswith("rendering on the CPU; Blender does not survive looking for GPUs: ")
    assert "SIGABRT" in said
    with pytest.raises(RendererLostError, match="SIGABRT"):
        find_devices("cuda", COMMAND)


def test_on_the_processor_no_worker_looks_for_gpus(machine, run, make_spec, make_split, tmp_path):
    witness = machine(0)
    spec = make_spec(make_split(samples=1))
    _, events = run(tmp_path / "d", spec, workers=None, device="auto", command=COMMAND)
    assert [seen["device"] for seen in witness()] == ["cpu"]
    assert Notice(f"rendering on the CPU; {NO_SIGN}") in events


@pytest.mark.parametrize(("word", "name"), [("auto", "auto"), ("OptiX", "optix"), ("CPU", "cpu")])
def test_devices_are_named_in_any_case(word, name):
    assert check_device(word) == name


@pytest.mark.parametrize(("word", "nearest"), [("optics", "optix"), ("cude", "cuda")])
def test_a_wrong_word_is_a_usage_error_with_the_nearest_one(word, nearest):
    with pytest.raises(SpecError, match=rf"--device: '{word}'.*'{nearest}'.*auto takes a GPU"):
        check_device(word)


@pytest.mark.parametrize(
    ("file", "sign"),
    [("nvidia0", True), ("nvidiactl", False), ("dri", True), ("kfd", True), ("null", False)],
)
def test_signs_of_a_gpu(tmp_path, file, sign):
    (tmp_path / file).touch()
    assert has_sign_of_gpu(tmp_path) == sign


def test_cores_near_a_gpu(tmp_path):
    file = tmp_path / "bus/pci/devices/0000:c1:00.0/local_cpulist"
    file.parent.mkdir(parents=True)
    file.write_text("0-3,8,10-11\n")
    assert near_cores("0000:c1:00", tmp_path) == {0, 1, 2, 3, 8, 10, 11}
    assert near_cores("0000:00:00", tmp_path) == frozenset()
    file.write_text("\n")
    assert near_cores("0000:c1:00", tmp_path) == frozenset()


def test_seats_without_a_gpu_are_as_before_and_anywhere():
    seats = local_seats(Devices(()), workers=2, shards=9)
    assert len(seats) == 2
    assert {(seat.gpu, seat.cores) for seat in seats} == {(None, ())}


def test_devices_in_words():
    cards = tuple(Gpu("cuda", name, name) for name in ("A", "B", "A"))
    assert str(Devices(cards, "OptiX: too old")) == "3 x cuda (A, B); OptiX: too old"
    assert str(Devices(cards[:1])) == "cuda (A)"


def test_a_process_keeps_to_its_cores():
    before = os.sched_getaffinity(0)
    try:
        keep_to([min(before)])
        assert os.sched_getaffinity(0) == {min(before)}
        keep_to(())
        keep_to([10**5])  # not of this machine
        assert os.sched_getaffinity(0) == {min(before)}
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize("how", ["says", "dies", "gone"])
def test_a_lost_gpu_is_tried_again_and_then_given_up(
    machine, run, make_spec, make_split, tmp_path, how
):
    machine(1, lost=[1], how=how)
    spec = make_spec(make_split(samples=6, shard_size=2))
    summary, events = run(tmp_path / "d", spec, workers=1, device="cuda", command=COMMAND)
    assert summary.exit_code == 1
    (retry, *_) = [event.retry for event in events if isinstance(event, SampleRetried)]
    assert (retry.sample, retry.attempt) == (1, 1)
    assert "the GPU was lost while rendering test/000001" in retry.reason
    assert "Illegal address in CUDA queue" in retry.reason
    failed = {failure.index: failure for failure in summary.failures}
    assert failed[1].tries == 2
    if how == "gone":
        assert "not there any more" in failed[1].reason
        (last,) = [event.reason for event in events if isinstance(event, WorkerGaveUp)]
        assert "--on-device-loss cpu" in last
    else:
        assert set(failed) == {1}
        assert read_receipt("test", 1, Layout(tmp_path / "d")) is not None


@pytest.mark.parametrize("how", ["says", "dies", "gone"])
def test_a_lost_gpu_is_left_for_the_processor_where_the_user_wants_that(
    machine, run, make_spec, make_split, tmp_path, tree, how
):
    witness = machine(1, lost=[1], how=how)
    spec = make_spec(make_split(samples=4, shard_size=2))
    summary, events = run(
        tmp_path / "d", spec, workers=1, device="cuda", on_device_loss="cpu", command=COMMAND
    )
    assert (summary.exit_code, summary.failures) == (0, ())
    assert [seen["device"] for seen in witness()][-1] == "cpu"
    reasons = [event.retry.reason for event in events if isinstance(event, SampleRetried)]
    assert len(reasons) == 2
    assert reasons[-1].endswith("; next on the CPU")
    mixed, after = receipts(tmp_path / "d", 2)
    assert mixed.device == "cpu, cuda (Fake)"
    assert [retry.reason for retry in mixed.retries] == reasons
    assert (after.device, after.retries) == ("cpu", ())
    plain = tmp_path / "plain"
    run(plain, spec, workers=1, device="cpu", command=COMMAND)
    assert tree(plain) == tree(tmp_path / "d")


def test_a_sample_that_the_processor_cannot_make_either_does_not_cost_the_gpu(
    machine, run, make_spec, make_split, tmp_path, monkeypatch
):
    witness = machine(1)
    monkeypatch.setenv("STAND_IN", "die:1")  # on any device, and without a word
    spec = make_spec(make_split(samples=3, shard_size=3))
    summary, _ = run(
        tmp_path / "d", spec, workers=1, device="cuda", on_device_loss="cpu", command=COMMAND
    )
    assert [(failure.index, failure.tries) for failure in summary.failures] == [(1, 3)]
    assert [seen["device"] for seen in witness()][-2:] == ["cpu", "cuda"]


def test_a_gpus_first_sample_has_time_for_kernels_to_compile(machine, plans):
    machine(1)
    setup = RendererSetup((), device="cuda", command=COMMAND)
    with BlenderProcess(setup, timeout_s=9.0) as process:
        limits_s = []
        for _ in range(2):
            process.submit(plans[0])
            limits_s.append(process._in_flight[2])
            process.collect()
    assert limits_s == [9.0 + COMPILING_S, 9.0]


def test_a_fresh_process_never_moves_to_another_device_unnoticed(machine, make_job):
    """As under Ray and Slurm, where each task's Blender chooses by itself."""
    from robustclevr.run.renderer import Renderer

    witness = machine(2)
    job = make_job(recycle_after=0)
    told = replace(job.renderer, device="auto", command=COMMAND)
    with Renderer(replace(job, renderer=told), lambda _event: None) as renderer:
        renderer.ready()
        renderer.ready()
    first, second = witness()
    assert (first["device"], first["gpu"]) == ("auto", None)
    assert (second["device"], second["gpu"]) == ("optix", "CUDA_Fake_0000:01:00_OptiX")
