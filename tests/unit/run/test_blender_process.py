import re
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from robustclevr.errors import RecipeError, RendererLostError, RenderError, SetupError
from robustclevr.run.blender_process import (
    BlenderProcess,
    RendererCommand,
    RendererSetup,
    hung_after_s,
)
from robustclevr.run.scratch import make_scratch, sweep_scratch

STAND_IN = Path(__file__).with_name("stand_in_worker.py")


def test_a_render_has_the_plans_shapes_and_leaves_no_file(stand_in, plans):
    with BlenderProcess(stand_in) as process:
        scratch = process._scratch
        render = process.render(plans[0])
        again = process.render(plans[0])
        assert [path.name for path in scratch.iterdir()] == ["renderer.log"]
        assert process.rss_bytes == 1000
        assert process.device == "cpu"
    assert not scratch.exists()
    count = len(plans[0].scene.objects)
    assert [image.variant for image in render.images] == [i.variant for i in plans[0].images]
    assert render.images[0].pixels.shape == (24, 32, 3)
    assert render.amodal.shape == (count, 24, 32)
    assert render.depth.dtype == np.float32
    assert render.normal.shape == (24, 32, 3)
    np.testing.assert_array_equal(render.images[3].pixels, again.images[3].pixels)


def test_a_sample_is_in_flight_while_the_caller_works(stand_in, plans, monkeypatch):
    monkeypatch.setenv("STAND_IN", "slow:0.3")
    with BlenderProcess(stand_in) as process:
        started = time.monotonic()
        process.submit(plans[0])
        submitted = time.monotonic() - started
        with pytest.raises(RenderError, match="in flight already"):
            process.submit(plans[1])
        process.collect()
        total = time.monotonic() - started
        assert total > 0.3  # the stand-in's own time
        assert submitted < total / 2
        with pytest.raises(RenderError, match="no sample is in flight"):
            process.collect()


@pytest.mark.parametrize(("behavior", "reason"), [("die:1", "SIGKILL"), ("exit:1", "exit code 3")])
def test_death_names_sample_reason_and_last_lines(stand_in, plans, monkeypatch, behavior, reason):
    monkeypatch.setenv("STAND_IN", behavior)
    with BlenderProcess(stand_in) as process:
        process.render(plans[0])
        with pytest.raises(RenderError, match=f"(?s){reason}.*test/000001.*rendering 1"):
            process.render(plans[1])
        assert not process.alive


def test_death_between_samples_belongs_to_the_next(stand_in, plans):
    with BlenderProcess(stand_in) as process:
        psutil.Process(process.pid).kill()
        while process.alive:
            time.sleep(0.01)
        with pytest.raises(RenderError, match="SIGKILL while rendering test/000002"):
            process.render(plans[2])


def test_a_hung_renderer_is_ended(stand_in, plans, monkeypatch):
    monkeypatch.setenv("STAND_IN", "hang:0")
    with BlenderProcess(stand_in, timeout_s=0.5) as process:
        pid = process.pid
        with pytest.raises(RendererLostError, match=r"not answer within 0\.5 s") as caught:
            process.render(plans[0])
    assert re.search(r"it was at\n +File .*stand_in_worker\.py.* in misbehave", caught.value.tail)
    assert not psutil.pid_exists(pid)


def test_a_hung_program_that_a_script_started_is_ended_too(plans, tmp_path, monkeypatch):
    script = tmp_path / "blender"
    pid_file = tmp_path / "pid"
    script.write_text(
        '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\n'
        f'"{sys.executable}" "{STAND_IN}" "$@" &\necho $! > "{pid_file}"\nwait\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("STAND_IN", "hang:0")
    setup = RendererSetup((), command=RendererCommand(blender=str(script)))
    with (
        BlenderProcess(setup, timeout_s=0.5) as process,
        pytest.raises(RendererLostError, match="did not answer"),
    ):
        process.render(plans[0])
    deadline = time.monotonic() + 30
    while psutil.pid_exists(int(pid_file.read_text())) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not psutil.pid_exists(int(pid_file.read_text()))


def test_one_that_reports_an_error_and_goes_on_is_not_trusted(stand_in, plans, monkeypatch):
    monkeypatch.setenv("STAND_IN", "print:1")
    with BlenderProcess(stand_in) as process:
        process.render(plans[0])
        with pytest.raises(RendererLostError) as caught:
            process.render(plans[1])
        assert not process.alive
    assert caught.value.reason == (
        "Blender reported an error while rendering test/000001: Error: no such texture"
    )
    assert "it will be pink" in caught.value.tail


def test_one_that_eats_memory_is_ended_within_its_limit(stand_in, plans, monkeypatch):
    monkeypatch.setenv("STAND_IN", "eat:1")
    with BlenderProcess(replace(stand_in, memory_limit_bytes=300 << 20)) as process:
        process.render(plans[0])
        with pytest.raises(
            RendererLostError,
            match=r"SIGKILL while rendering test/000001: it took 0\.\d GiB of memory and may "
            r"take 0\.3; --memory-limit",
        ):
            process.render(plans[1])


def test_a_failure_leaves_the_process_usable(stand_in, plans, monkeypatch):
    monkeypatch.setenv("STAND_IN", "fail:0")
    with BlenderProcess(stand_in) as process:
        with pytest.raises(RecipeError, match=r"glare\.py:7"):
            process.render(plans[0])
        assert process.render(plans[1]).renders == 1


def test_no_bpy_says_what_to_install(stand_in, monkeypatch):
    monkeypatch.setenv("STAND_IN", "no-bpy:0")
    with pytest.raises(SetupError, match=r'pip install "robustclevr\[blender\]"') as caught:
        BlenderProcess(stand_in)
    assert caught.value.exit_code == 3


def test_a_missing_program_says_how_to_name_one():
    command = RendererCommand(blender="/nowhere/blender")
    with pytest.raises(SetupError, match=r"/nowhere/blender.*--blender PATH"):
        BlenderProcess(RendererSetup((), command=command))


def test_a_program_that_is_no_renderer():
    command = RendererCommand(python=sys.executable, bootstrap="/nowhere/bootstrap.py")
    with pytest.raises(RenderError, match=r"(?s)exit code 2 while starting.*No such file"):
        BlenderProcess(RendererSetup((), command=command))


def test_the_child_ends_with_an_exception_of_the_caller(stand_in):
    class StopError(Exception):
        pass

    def use(pids: list[int]) -> None:
        with BlenderProcess(stand_in) as process:
            pids.append(process.pid)
            raise StopError

    pids: list[int] = []
    with pytest.raises(StopError):
        use(pids)
    assert not psutil.pid_exists(pids[0])


def test_command_lines():
    script = str(Path("b.py"))
    assert RendererCommand("py", None, script).arguments(3, 4) == [
        "py",
        "b.py",
        "--in-fd",
        "3",
        "--out-fd",
        "4",
    ]
    assert RendererCommand("py", "blender", script).arguments(3, 4) == [
        "blender",
        "--background",
        "--factory-startup",
        "--python",
        "b.py",
        "--",
        "--in-fd",
        "3",
        "--out-fd",
        "4",
    ]


def test_time_limit_grows_with_the_work(plans):
    settings = plans[0].settings
    assert hung_after_s(settings, 1) == pytest.approx(600 + 24 * 32 / 16_000)
    assert hung_after_s(settings, 3) > hung_after_s(settings, 1)


def test_folders_of_dead_processes_are_swept(tmp_path, monkeypatch):
    monkeypatch.setattr("robustclevr.run.scratch._roots", lambda: [tmp_path])
    mine = make_scratch()
    me, _, rest = mine.name.rpartition("~")
    dead = mine.with_name(f"{me[:-3]}000~{rest}")  # started at another time: another process
    dead.mkdir()
    other = tmp_path / "robustclevr-notes"
    other.mkdir()
    sweep_scratch()
    assert sorted(tmp_path.iterdir()) == sorted([mine, other])
