"""Tests against a second Blender, collected only where one is named: ``make test-blender5``."""

import os

import pytest

PYTHON = os.environ.get("ROBUSTCLEVR_BLENDER5", "")

collect_ignore = [] if PYTHON else ["test_versions.py"]


@pytest.fixture(scope="session")
def other_python():
    """Interpreter that has bpy 5.2 or newer."""
    return PYTHON
