import os
import sys
from pathlib import Path

import pytest

from robustclevr.run import renderer_log
from robustclevr.run.renderer_log import RendererLog


@pytest.fixture
def log(tmp_path: Path):
    log = RendererLog(tmp_path / "log")
    yield log
    log.close()


def say(log: RendererLog, text: str) -> None:
    os.write(log.fileno(), text.encode())


@pytest.mark.parametrize(
    "line",
    [
        "Error: Cannot read 'wood.png': No such file or directory",
        "ERROR (bke.image): image.cc:123 load: no memory",
        "00:01.234  bke.image        | ERROR no memory",
        "Out of memory in cuStreamCreate(&cuda_stream_, CU_STREAM_NON_BLOCKING) (queue.cpp:21)",
        "Invalid value in cuCtxPushCurrent(device->cuContext) (cuda/util.cpp:26)",
        "System is out of GPU and shared host memory",
        "Illegal address in CUDA queue copy_from_device (integrator_shade_surface)",
        "Unknown error in optixLaunch(pipeline) (optix/queue.cpp:100)",
        "Illegal address in hipDeviceSynchronize() (hip/device.cpp:9)",
    ],
)
def test_lines_after_which_a_picture_is_not_trusted(log, line):
    say(log, f"Fra:1 Mem:0.1M\n{line}\nFra:1 Finished\n")
    assert log.distrust() == line


@pytest.mark.parametrize(
    "line",
    [
        "Fra:1 Mem:165.43M (Peak 165.43M) | Time:00:00.12 | Sample 64/64",
        "Warning: region type 4 missing in space type",
        "Saved: '/dev/shm/x/render.exr'",
        "the mean error in cut scenes is small",
        "no error: all is well",
    ],
)
def test_lines_that_mean_nothing(log, line):
    say(log, line + "\n")
    assert log.distrust() == ""


def test_only_what_was_printed_since_the_mark_counts(log):
    say(log, "Error: of the sample before\n")
    log.mark()
    assert log.distrust() == ""
    assert "of the sample before" in log.tail()


def test_a_large_file_is_emptied_at_a_mark(log, monkeypatch):
    monkeypatch.setattr(renderer_log, "_LIMIT_BYTES", 100)
    say(log, "x" * 101)
    log.mark()
    say(log, "Error: new\n")
    assert log.path.stat().st_size == 11
    assert log.distrust() == "Error: new"


def test_the_tail_is_short_and_says_when_there_is_none(log):
    assert log.tail() == "    (it printed nothing)"
    say(log, "\n".join(map(str, range(5000))))
    assert log.tail().split() == [str(number) for number in range(4994, 5000)]


def test_frames_are_the_innermost_of_a_stack(log):
    import faulthandler

    say(log, 'File "not-a-frame"\n')
    faulthandler.dump_traceback(log.fileno(), all_threads=False)
    first, *rest = log.frames().splitlines()
    assert f"{Path(__file__).name}" in first
    assert sys._getframe().f_code.co_name in first
    assert len(rest) == 2
