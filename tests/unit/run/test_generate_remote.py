"""A dataset in an object store: here fsspec's own in memory, and one that fails at will."""

import shutil

import fsspec
import pytest

from robustclevr.errors import SetupError, SpecError, StoreError
from robustclevr.run import object_store
from robustclevr.run.generate import GenerateOptions, generate
from robustclevr.run.generate_remote import generate_remote, scratch_of
from robustclevr.run.index import rebuild_index
from robustclevr.run.job import RunStarted, ShardBroken
from robustclevr.run.object_store import ObjectStore
from robustclevr.run.shards import Selection
from robustclevr.spec import load_dataset
from robustclevr.store.layout import Layout

CLIPS = """
family: vmds
video: {frames: 2, height: 16, width: 16, sprites: [1, 2]}
shard_size: 2
splits:
  test: {samples: 7}
"""
URL = "memory://bucket/clips"


@pytest.fixture(autouse=True)
def empty_store(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(object_store, "FIRST_PAUSE_S", 0.0)
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    return store


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "clips.yaml").write_text(CLIPS)
    return load_dataset(str(tmp_path / "clips.yaml"), {})


@pytest.fixture
def part(spec):
    """Make one part in the store; return the summary and the events."""

    def make(part=0, parts=1, url=URL, **options):
        events = []
        settings = GenerateOptions(workers=1, selection=Selection(part, parts), **options)
        return generate_remote(spec, {}, url, settings, events.append), events

    return make


def stored(store):
    """Return the files of the store by their path in the dataset."""
    return {path.removeprefix("/bucket/clips/"): store.cat_file(path) for path in store.store}


def without_receipts(files):
    return {name: data for name, data in files.items() if not name.endswith(".receipt.json")}


def test_two_parts_and_an_index_are_the_dataset_of_one_run(spec, part, empty_store, tmp_path):
    options = GenerateOptions(workers=1)
    assert generate(spec, {}, tmp_path / "local", options, lambda _: None).exit_code == 0
    for number in (1, 0):
        summary, _ = part(number, 2)
        assert summary.exit_code == 0 and summary.missing_shards == 2
        assert not scratch_of(URL, Selection(number, 2)).exists()
    copy = tmp_path / "copy"
    empty_store.get("/bucket/clips", str(copy), recursive=True)
    assert all(state.whole for state in rebuild_index(copy))
    local, copied = (
        {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.*")}
        for root in (tmp_path / "local", copy)
    )
    assert without_receipts(local) == without_receipts(copied)


def test_what_is_there_is_not_made_again(part, empty_store):
    part()
    before = stored(empty_store)
    summary, events = part()
    assert summary.nothing_to_do and summary.exit_code == 0
    assert stored(empty_store) == before
    (started,) = [event for event in events if isinstance(event, RunStarted)]
    assert (started.samples, started.samples_done, started.shards_done) == (7, 7, 4)


@pytest.mark.parametrize("name", ["shard-00002.tar", "shard-00002.receipt.json"])
def test_a_shard_that_is_cut_short_or_altered_is_made_again(part, empty_store, name):
    part()
    before = without_receipts(stored(empty_store))
    path = f"/bucket/clips/test/{name}"
    empty_store.pipe_file(path, empty_store.cat_file(path)[:-1])
    summary, events = part()
    assert (summary.missing_shards, summary.exit_code) == (1, 0)
    (broken,) = [event for event in events if isinstance(event, ShardBroken)]
    assert (broken.split, broken.shard) == ("test", 2)
    assert without_receipts(stored(empty_store)) == before


def test_the_receipt_comes_last(part, empty_store, monkeypatch):
    order = []
    put = type(empty_store).put_file

    def recorded(self, local, remote, **options):
        order.append(remote.rpartition("/")[2])
        return put(self, local, remote, **options)

    monkeypatch.setattr(type(empty_store), "put_file", recorded)
    part(0, 4)
    assert order == ["dataset.json", "shard-00000.tar", "shard-00000.receipt.json"]


def test_an_upload_that_fails_is_tried_again_and_read_back(part, empty_store, monkeypatch):
    put, failures = type(empty_store).put_file, ["refused", "cut short"]

    def shaky(self, local, remote, **options):
        if remote.endswith(".tar") and failures:
            if failures.pop(0) == "refused":
                raise OSError("the wire is cut")
            self.pipe_file(remote, b"half")
            return
        put(self, local, remote, **options)

    monkeypatch.setattr(type(empty_store), "put_file", shaky)
    summary, _ = part()
    assert summary.exit_code == 0 and not failures


def test_an_upload_that_never_works_ends_the_run_and_the_next_one_makes_nothing_anew(
    part, empty_store, monkeypatch
):
    with monkeypatch.context() as broken:
        put = type(empty_store).put_file

        def refuse(self, local, remote, **options):
            if remote.endswith(".tar"):
                raise OSError("no room")
            put(self, local, remote, **options)

        broken.setattr(type(empty_store), "put_file", refuse)
        with pytest.raises(
            StoreError, match=r"shard-0000\d.tar: cannot be uploaded, 5 times: .*no room"
        ):
            part()
    kept = sorted(path.name for path in scratch_of(URL, Selection(0, 1)).glob("test/*.tar"))
    assert "shard-00000.tar" in kept
    summary, _ = part()
    assert summary.exit_code == 0
    assert not scratch_of(URL, Selection(0, 1)).exists()


def test_another_spec_is_refused_as_in_a_folder(part, tmp_path):
    part()
    (tmp_path / "clips.yaml").write_text(CLIPS.replace("height: 16", "height: 32"))
    other = load_dataset(str(tmp_path / "clips.yaml"), {})
    options = GenerateOptions(workers=1, selection=Selection(0, 1))
    with pytest.raises(SpecError, match=f"^{URL}/dataset.json: .*height"):
        generate_remote(other, {}, URL, options, lambda _: None)


def test_a_part_must_be_named_and_says_why(spec):
    options = GenerateOptions(backend="ray", samples="test:1")
    with pytest.raises(SpecError) as caught:
        generate_remote(spec, {}, URL, options, lambda _: None)
    first, second, third = map(str, caught.value.problems)
    assert "--output" in first and "leases" in first and "--shards i/n" in first
    assert "--backend" in second and "'ray'" in second
    assert "--samples" in third


def test_an_unknown_protocol_is_named_with_the_nearest(part):
    with pytest.raises(SpecError, match="did you mean 'memory'"):
        part(url="memry://bucket")


def test_a_missing_package_is_named_with_the_install_line():
    with pytest.raises(SetupError, match=r"pip install 'robustclevr\[remote\]' gcsfs"):
        ObjectStore("gs://bucket/x")


def test_file_urls_work_as_folders_do(part, tmp_path):
    url = f"file://{tmp_path}/store/deep"
    assert part(url=url)[0].exit_code == 0
    assert Layout(tmp_path / "store/deep").tar("test", 3).is_file()
    shutil.rmtree(tmp_path / "store")
