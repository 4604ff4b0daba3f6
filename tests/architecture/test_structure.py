"""Rules about the code itself: module length, top level, what importing the command line costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted([*ROOT.glob("robustclevr/**/*.py"), *ROOT.glob("recipes/*.py")])
RECIPES = [path for path in sorted(ROOT.glob("recipes/*.py")) if path.name != "__init__.py"]


def test_there_are_modules():
    assert len(MODULES) > 50
    assert len(RECIPES) >= 8


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_is_longer_than_400_lines(path):
    assert len(path.read_text().splitlines()) <= 400


def test_median_module_is_short():
    lengths = sorted(len(path.read_text().splitlines()) for path in MODULES)
    assert lengths[len(lengths) // 2] <= 150


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_recipe_files_import_only_what_a_recipe_may(path):
    tree = ast.parse(path.read_text())
    at_module_level, anywhere = _imported(tree.body), _imported(ast.walk(tree))
    allowed = {"__future__", "collections.abc", "math", "typing", "numpy", "numpy.typing", "scipy"}
    project = {"robustclevr.recipe", "robustclevr.records", "robustclevr.errors"}
    # The type of the context is named for type checkers only.
    typing_only = {
        "robustclevr.blender.context",
        "robustclevr.blender.scene_context",
        "robustclevr.imaging.encoded",
        "bpy",
    }
    guarded = _imported(_type_checking_bodies(tree))
    # A Blender process has no scipy: it loads every recipe, and needs no twin.
    assert at_module_level <= (allowed - {"scipy"}) | project
    assert guarded <= typing_only | allowed
    assert anywhere <= allowed | project | typing_only


def test_import_contracts_hold():
    run = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_help_imports_neither_torch_nor_bpy_nor_pyro():
    script = (
        "import sys\n"
        "from robustclevr.cli.main import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit as leave:\n    assert leave.code == 0\n"
        "heavy = {'torch', 'bpy', 'pyro', 'numpy', 'scipy', 'pyarrow'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "generate" in run.stdout


def _imported(nodes):
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return names


def _type_checking_bodies(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from node.body
