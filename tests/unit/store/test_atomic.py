import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robustclevr.errors import StoreError
from robustclevr.store.atomic import (
    FOREIGN_TEMP_AGE_S,
    remove_empty_dirs,
    remove_stale_temps,
    replacing,
    write_atomic,
)
from robustclevr.store.layout import Layout
from robustclevr.store.owner import Owner


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_replaces_and_leaves_no_other_file(layout: Layout) -> None:
    path = layout.root / "test" / "a"
    write_atomic(path, b"one", layout)
    write_atomic(path, b"two", layout)
    assert path.read_bytes() == b"two"
    assert files(layout.root) == ["test/a"]


def test_an_interrupted_writer_leaves_the_old_file(layout: Layout) -> None:
    path = layout.root / "a"
    write_atomic(path, b"old", layout)

    def write() -> None:
        with replacing(path, layout) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_bytes() == b"old"
    assert files(layout.root) == ["a"]


WRITE_BEYOND_LIMIT = """
import resource, sys
from pathlib import Path
from robustclevr.errors import StoreError
from robustclevr.store.atomic import write_atomic
from robustclevr.store.layout import Layout
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
root = Path(sys.argv[1])
try:
    write_atomic(root / "big", b"x" * 5000, Layout(root))
except StoreError as error:
    print(error)
"""


def test_a_refused_write_names_the_file_and_leaves_nothing(layout: Layout) -> None:
    command = [sys.executable, "-c", WRITE_BEYOND_LIMIT, str(layout.root)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.startswith(f"{layout.root / 'big'}: cannot write: File too large")
    assert files(layout.root) == []


def test_a_full_disk_says_what_to_do(layout: Layout) -> None:
    path = layout.root / "a"

    def write() -> None:
        with replacing(path, layout) as file, Path("/dev/full").open("wb", buffering=0) as full:
            file.write(b"x")
            full.write(b"x")  # the kernel's own ENOSPC

    with pytest.raises(StoreError, match="No space left on device; free some space"):
        write()
    assert files(layout.root) == []


def test_a_file_in_the_way_of_the_folder(layout: Layout) -> None:
    (layout.root / "test").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot write"):
        write_atomic(layout.root / "test" / "a", b"", layout)


def test_stale_temps_go_and_living_ones_stay(layout: Layout) -> None:
    layout.temp.mkdir(parents=True)
    me = Owner.current()
    dead = Owner(me.host, me.pid, me.started_ms - 60_000)  # the number was ours, the process not
    far = Owner("elsewhere", 1, 1)
    old = layout.temp / f"{far}~2~a.tmp"
    for owner in (me, dead, far):
        (layout.temp / f"{owner}~1~a.tmp").write_bytes(b"")
    old.write_bytes(b"")
    long_ago = time.time() - FOREIGN_TEMP_AGE_S - 60
    os.utime(old, (long_ago, long_ago))
    assert remove_stale_temps(layout) == 2
    assert sorted(path.name for path in layout.temp.iterdir()) == sorted(
        [f"{me}~1~a.tmp", f"{far}~1~a.tmp"]
    )


def test_only_empty_folders_are_removed(layout: Layout) -> None:
    (layout.work / "a" / "b").mkdir(parents=True)
    (layout.work / "c").mkdir()
    (layout.work / "c" / "kept").write_bytes(b"")
    remove_empty_dirs(layout.work)
    assert files(layout.root) == [".work/c/kept"]
    assert not (layout.work / "a").exists()
    (layout.work / "c" / "kept").unlink()
    remove_empty_dirs(layout.work)
    assert not layout.work.exists()


def test_owner_survives_a_file_name() -> None:
    me = Owner.current()
    assert Owner.from_text(f"{me}~123~shard-00000.tar.tmp") == me
    assert not me.is_dead()
    assert Owner.from_text("shard-00000.tar") is None
