import json
import shutil

import pytest
from click.testing import CliRunner

from robustclevr.cli.main import cli
from robustclevr.run.leases import Lease
from robustclevr.store.owner import Owner


@pytest.fixture
def root(clip_dataset, tmp_path):
    shutil.copytree(clip_dataset.layout.root, tmp_path / "d")
    return tmp_path / "d"


def status(root, *options):
    result = CliRunner().invoke(cli, ["status", str(root), *options], standalone_mode=False)
    return result.return_value, result.stdout


def test_a_whole_dataset(root):
    code, text = status(root)
    assert code == 0
    assert text.splitlines() == [
        "test: 3 of 3 shards, 12 of 12 samples",
        "val: 1 of 1 shards, 3 of 3 samples",
    ]


def test_files_of_whole_splits_count(root):
    (root / "test/draws.parquet").unlink(missing_ok=True)
    (root / "index.json").unlink()
    code, text = status(root)
    assert code == 1
    assert f"  missing or altered: index.json; 'robustclevr index {root}' makes it" in text
    assert "nobody is working on it" in text


def test_who_works_on_what_and_who_is_gone(root, clip_dataset):
    (root / "val/shard-00000.receipt.json").unlink()
    layout = type(clip_dataset.layout)(root)
    me = Owner.current()
    with Lease.acquire("val", 0, layout) as lease:
        code, text = status(root)
        document = json.loads(status(root, "--json")[1])
        gone = layout.lease("test", 1)
        gone.parent.mkdir(parents=True)
        dead = Owner(me.host, me.pid, me.started_ms - 60_000)
        gone.write_text(json.dumps({"owner": str(dead), "samples": 4, "seconds": 2.0}))
        _, after = status(root)
        assert lease is not None
    assert code == 1
    assert f"  val/shard-00000: process {me.pid} on {me.host}, 0 samples in 0 s, heard of" in text
    assert "1 worker at it" in text
    (worker,) = document["leases"]
    assert (worker["shard"], worker["pid"], worker["gone"]) == ("val/shard-00000", me.pid, False)
    assert document["splits"][1]["broken"]
    assert f"  test/shard-00001: process {me.pid} on {me.host} is gone" in after
