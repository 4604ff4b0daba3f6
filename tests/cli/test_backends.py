"""What the command line says of back ends and outputs that cannot be."""

import pytest


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(("--backend", "rya"), ("--backend", "did you mean 'ray'"), id="unknown"),
        pytest.param(("--slurm", "time=1"), ("--slurm", "--backend local"), id="settings"),
        pytest.param(("--backend", "ray", "--workers", 0), ("--workers", ">= 1"), id="workers"),
    ],
)
def test_a_wrong_back_end_is_a_usage_error(robustclevr, tmp_path, options, words):
    finished = robustclevr("generate", "vmds", "-o", tmp_path / "out", *options)
    assert finished.code == 2
    assert all(word in finished.err for word in words)
    assert not (tmp_path / "out").exists()


def test_an_object_store_takes_parts_only(robustclevr):
    finished = robustclevr("generate", "vmds", "-o", "memory://bucket/x")
    assert finished.code == 2
    assert "memory://bucket/x" in finished.err
    assert "--shards i/n" in finished.err


@pytest.mark.parametrize("command", ["status", "verify", "index"])
def test_other_commands_say_to_copy_an_object_store(robustclevr, command):
    finished = robustclevr(command, "s3://bucket/x")
    assert finished.code == 2
    assert "copy it into a folder first" in finished.err
