"""Runs the command line inside the test process, as a shell would see it."""

from dataclasses import dataclass

import pytest

from robustclevr.cli.main import main


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str


@pytest.fixture
def robustclevr(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as leave:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Finished(leave.value.code, captured.out, captured.err)

    return run
