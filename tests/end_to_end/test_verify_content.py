"""Datasets whose checksums are right and whose content is not: each change is found and named."""

import io
import json
import shutil
import tarfile
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from robustclevr.imaging import encode_npz
from robustclevr.plan import SplitDraws
from robustclevr.recipe import load_recipes
from robustclevr.records import to_json
from robustclevr.run.generate import GenerateOptions, generate
from robustclevr.run.index import rebuild_index
from robustclevr.spec import load_dataset
from robustclevr.store.dataset import Dataset
from robustclevr.store.jsonbytes import sealed_json, stable_json
from robustclevr.store.receipts import file_sha256, read_receipt, write_receipt
from robustclevr.store.shard import iter_samples, write_shard
from robustclevr.verify import VerifyOptions, verify_dataset
from robustclevr.verify.kinds import load_split

SPEC = """\
family: vmds
dag: {nodes: {gamma: {noise: {h: HalfNormal(0.3)}, set: {gamma: 1 + h}}}}
video: {height: 64, width: 64, frames: 2}
shard_size: 4
splits:
  test: {samples: 4}
  train: {samples: 4}
  twins: {samples: 4, twin_of: test, do: {gamma.gamma: 1}}
"""
RECIPES = load_recipes()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("content")
    (folder / "spec.yaml").write_text(SPEC)
    spec = load_dataset(folder / "spec.yaml", RECIPES)
    events = []
    generate(spec, RECIPES, folder / "out", GenerateOptions(workers=1), events.append)
    return folder / "out"


@pytest.fixture
def copy(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copy")


def samples_of(root, split):
    return dict(iter_samples(root / split / "shard-00000.tar"))


def seal(root, split, samples):
    """Write a shard with other samples, and make receipt, tables and index right again."""
    layout = Dataset.open(root).layout
    sha256, size = write_shard(layout.tar(split, 0), sorted(samples.items()), layout)
    receipt = read_receipt(split, 0, layout)
    write_receipt(replace(receipt, sha256=sha256, size_bytes=size), layout)
    rebuild_index(root)


def changed(members, change):
    """Return a sample with a function applied to its record."""
    record = json.loads(members["json"])
    change(record)
    return {**members, "json": stable_json(record)}


def problems(root, **options):
    """All that is wrong, one text for each check and sample."""
    found = {}
    for result in verify_dataset(root, RECIPES, VerifyOptions(**options)).results:
        for problem in result.problems:
            found.setdefault((result.check, problem.sample), []).append(str(problem))
    return {key: "\n".join(texts) for key, texts in found.items()}


def test_it_is_sound_and_its_twins_are_no_duplicates(made):
    assert problems(made, rerender=2) == {}


def test_two_samples_in_each_others_place(copy):
    samples = samples_of(copy, "test")
    samples["000000"], samples["000002"] = samples["000002"], samples["000000"]
    seal(copy, "test", samples)
    found = problems(copy)
    assert "is ('test', 2, 0), expected ('test', 0, 0)" in found["schema", "test/000000"]
    assert ("schema", "test/000002") in found
    assert ("schema", "test/000001") not in found


def test_pixels_of_another_sample(copy):
    samples = samples_of(copy, "test")
    samples["000001"] = {**samples["000001"], "npz": samples["000002"]["npz"]}
    seal(copy, "test", samples)
    assert {key for key in problems(copy) if key[0] == "labels"} == {("labels", "test/000001")}


def test_a_sample_of_train_in_test_under_anothers_name(copy):
    train, test = samples_of(copy, "train"), samples_of(copy, "test")

    def renamed(record):
        for part in (record, record["plan"], record["plan"]["clip"]):
            part |= {"split": "test", "index": 3}

    test["000003"] = changed(train["000001"], renamed)
    seal(copy, "test", test)
    found = problems(copy)
    duplicate = found["duplicates", "train/000001"]
    assert "has the same scene and the same picture, byte for byte" in duplicate
    assert "and the same noise as test/000003" in duplicate
    assert ("records", "test/000003") in found


def test_draws_of_a_scale_that_is_a_tenth_off_in_records_and_table(copy):
    samples = samples_of(copy, "test")
    noise = {"gamma": {"h": np.array([_noise(samples[key]) * 1.1 for key in sorted(samples)])}}
    draws = _draws(copy, "test")
    table = draws.recomputed(noise, 4)
    for row, key in enumerate(sorted(samples)):
        draw = to_json(table.draw(row))

        def replaced(record, draw=draw):
            record["nodes"], record["log_density"] = draw["nodes"], draw["log_density"]
            record["plan"]["draw"] |= {name: draw[name] for name in ("nodes", "log_density")}

        samples[key] = changed(samples[key], replaced)
    seal(copy, "test", samples)
    stored = pq.read_table(copy / "test" / "draws.parquet")
    assert stored.column("gamma.noise.h").to_pylist() == noise["gamma"]["h"].tolist()
    found = problems(copy)
    assert {check for check, _ in found} == {"records", "draws"}
    assert "gamma.noise.h" in " ".join(found.values())


def test_a_parameter_that_does_not_follow_from_its_noise(copy):
    samples = samples_of(copy, "test")

    def wrong(record):
        for nodes in (record["nodes"], record["plan"]["draw"]["nodes"]):
            nodes["gamma"]["parameters"]["gamma"] += 0.01

    samples["000002"] = changed(samples["000002"], wrong)
    seal(copy, "test", samples)
    found = problems(copy)
    assert "which follows from its noise" in found["recomputed", "test/000002"]


def test_a_table_that_is_not_that_of_the_records(copy):
    path = copy / "train" / "draws.parquet"
    table = pq.read_table(path)
    other = table.column("gamma.noise.h").to_numpy() * 1.1
    place = table.column_names.index("gamma.noise.h")
    pq.write_table(table.set_column(place, "gamma.noise.h", [other]), path)
    _vouch(copy, "train", path)
    (found,) = problems(copy).values()
    assert "'gamma.noise.h' of sample 0" in found
    assert "robustclevr index" in found


def test_a_record_with_one_field_more(copy):
    samples = samples_of(copy, "test")
    samples["000000"] = changed(samples["000000"], lambda record: record.update(mine=1))
    seal(copy, "test", samples)
    assert "does not fit the schema 'clip-record'" in problems(copy)["schema", "test/000000"]


def test_a_member_more_and_a_member_less(copy):
    samples = samples_of(copy, "test")
    samples["000000"]["notes.txt"] = b"mine"
    del samples["000001"]["gamma.npz"]
    seal(copy, "test", samples)
    found = problems(copy)
    assert "has notes.txt, which is not planned" in found["labels", "test/000000"]
    assert "lacks gamma.npz" in found["labels", "test/000001"]


def test_a_tar_that_another_program_wrote(copy):
    samples = samples_of(copy, "test")
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for key, members in samples.items():
            for name, content in sorted(members.items(), reverse=True):
                info = tarfile.TarInfo(f"{key}.{name}")
                info.size, info.mtime = len(content), 12
                tar.addfile(info, io.BytesIO(content))
    layout = Dataset.open(copy).layout
    path = layout.tar("test", 0)
    path.write_bytes(data.getvalue())
    receipt = read_receipt("test", 0, layout)
    size = path.stat().st_size
    write_receipt(replace(receipt, sha256=file_sha256(path), size_bytes=size), layout)
    rebuild_index(copy)
    text = [str(p) for r in verify_dataset(copy, RECIPES).results for p in r.problems]
    assert any("mtime of member '000000.npz' is 12, expected 0" in line for line in text)
    assert any("not in the order of their names" in line for line in text)


def test_pixels_that_only_making_again_shows(copy):
    samples = samples_of(copy, "test")
    arrays = dict(np.load(io.BytesIO(samples["000001"]["gamma.npz"])))
    arrays["video"] = 255 - arrays["video"]
    samples["000001"] = {**samples["000001"], "gamma.npz": encode_npz(**arrays)}
    seal(copy, "test", samples)
    assert problems(copy) == {}
    found = problems(copy, rerender=4)
    assert "'video' differs by" in found["rerender", "test/000001"]


def _noise(members):
    return json.loads(members["json"])["nodes"]["gamma"]["noise"]["h"]


def _draws(root, split):
    return SplitDraws(load_split(Dataset.open(root), split, RECIPES), root_seed=0)


def _vouch(root, split, path):
    """Make the index say that a file is as it should be."""
    index = json.loads((root / "index.json").read_text())
    index["splits"][split][path.name] = file_sha256(path)
    (root / "index.json").write_bytes(sealed_json(index))
