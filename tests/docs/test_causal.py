"""The page on causal models is a session that runs as it stands."""

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "causal.md"


def test_the_examples_run():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried > 40
