"""The wheel, also one built from the sdist, carries recipes, DAGs and the catalogue."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build the sdist from the checkout, and the wheel from that sdist."""
    out = tmp_path_factory.mktemp("dist")
    source = tmp_path_factory.mktemp("source") / "checkout"
    # From a copy of what git tracks, so that the checkout stays clean.
    source.mkdir()
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for name in filter(None, files):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return out


def test_the_wheel_holds_what_the_checkout_has(built):
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in (*ROOT.glob("recipes/*.py"), *ROOT.glob("dags/*.yaml")):
        assert f"robustclevr/{path.relative_to(ROOT)}" in names
    for path in (*ROOT.glob("robustclevr/**/*.py"), *ROOT.glob("robustclevr/catalog/*.yaml")):
        assert str(path.relative_to(ROOT)) in names
    assert "robustclevr/py.typed" in names
    assert not [name for name in names if name.startswith(("tests", "recipes", "dags"))]


def test_the_sdist_holds_licence_and_sources(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as tar:
        names = {name.split("/", 1)[-1] for name in tar.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "recipes/glare.py"} <= names


def test_an_installed_wheel_finds_its_data_from_anywhere(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")  # noqa: S202 - built a moment ago from our own files
    script = (
        "import robustclevr, sys\n"
        "from robustclevr.recipe import load_recipes\n"
        "from robustclevr.spec import list_dags, list_datasets, load_dataset\n"
        "assert robustclevr.__file__.startswith(sys.argv[1]), robustclevr.__file__\n"
        "recipes = load_recipes()\n"
        "assert all(str(r.path).startswith(sys.argv[1]) for r in recipes.values())\n"
        "print(len(recipes), len(dict(list_dags())), len(dict(list_datasets())))\n"
        "load_dataset('demo', recipes)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "site")],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    counts = [int(word) for word in run.stdout.split()]
    expected = [
        len(list(ROOT.glob(pattern)))
        for pattern in ("recipes/[!_]*.py", "dags/*.yaml", "robustclevr/catalog/*.yaml")
    ]
    assert counts == expected


def test_the_editable_install_finds_the_checkouts_folders(tmp_path):
    script = "import robustclevr.recipes, robustclevr.dags; print(robustclevr.recipes.__file__)"
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.stdout.strip() == str(ROOT / "recipes" / "__init__.py"), run.stderr
