"""Disks that refuse, files that were damaged: said in one line, and mended by the same command."""

import json
import resource
import signal
import subprocess
import time

import pytest

from .conftest import command, digests, run

SPEC = """\
family: vmds
video: {frames: 8, height: 48, width: 48}
shard_size: 4
splits:
  test: {samples: 10}
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    file = tmp_path_factory.mktemp("spec") / "spec.yaml"
    file.write_text(SPEC)
    return file


@pytest.fixture(scope="module")
def undisturbed(spec):
    run("generate", spec, "-o", spec.with_name("undisturbed"))
    return spec.with_name("undisturbed")


@pytest.fixture
def out(undisturbed, tmp_path):
    """A finished dataset to be damaged."""
    subprocess.run(["cp", "-a", undisturbed, tmp_path / "out"], check=True)
    return tmp_path / "out"


def test_a_disk_that_takes_no_more_is_named_with_file_and_sample(spec, undisturbed, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    out = tmp_path / "out"
    finished = subprocess.run(
        command("generate", spec, "-o", out, "--workers", 1),
        capture_output=True,
        text=True,
        timeout=600,
        preexec_fn=limit,
    )
    assert finished.returncode == 1
    assert "File too large; raise the limit on file sizes" in finished.stderr
    assert "sample test/000000 could not be kept" in finished.stderr
    assert "Traceback" not in finished.stderr
    assert not list(out.rglob("*.tmp"))
    run("generate", spec, "-o", out)
    assert digests(out) == digests(undisturbed)


@pytest.mark.parametrize("place", ["/proc/out", "/dev/null/out"])
def test_a_place_that_cannot_be_written_is_an_error_of_one_line(spec, place):
    finished = run("generate", spec, "-o", place, code=1)
    line = finished.stderr.splitlines()[-1]
    assert line.startswith(f"error: {place}")
    assert "cannot" in line


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [truncate, flip, lambda path: path.unlink()])
@pytest.mark.parametrize("name", ["shard-00001.tar", "shard-00001.receipt.json"])
def test_a_damaged_shard_is_made_again_and_no_other(spec, undisturbed, out, tmp_path, name, damage):
    damage(out / "test" / name)
    log = tmp_path / "log"
    run("generate", spec, "-o", out, "--log-file", log)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["shard"] for line in lines if line["event"] == "shard_done"] == [1]
    assert digests(out) == digests(undisturbed)
    assert not (out / ".work").exists()


def test_sigterm_ends_all_and_the_same_command_goes_on(spec, tmp_path):
    out, log = tmp_path / "out", tmp_path / "log"
    process = subprocess.Popen(
        command("generate", spec, "-o", out, "--log-file", log, "--set", "splits.test.samples=400"),
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 300
    while not list(out.glob("test/*.receipt.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "same command" in stderr.splitlines()[-1]
    assert not list(out.rglob("*.tmp"))
    assert not list(out.rglob("*.lease"))
    last = json.loads(log.read_text().splitlines()[-1])
    assert (last["event"], last["reason"]) == ("run_stopped", "KeyboardInterrupt")
    status = json.loads(run("status", out, "--json", code=1).stdout)
    assert status["workers"] == 0
    assert 0 < status["splits"][0]["samples_done"] < 400
