"""The maker of clips, and what a run of clips shares among cores."""

import os

import numpy as np
import pytest

from robustclevr.errors import SpecError
from robustclevr.imaging import EncodedContext, linear_to_srgb8, srgb8_to_linear
from robustclevr.recipe import load_recipes
from robustclevr.run.clip_preview import drawn_clips, holds_clips_at, stored_clips
from robustclevr.run.clips import ClipMaker
from robustclevr.run.cores import share_cores
from robustclevr.run.estimate import MEASURED_CLIPS, estimate
from robustclevr.run.forecast import relative_cost
from robustclevr.run.generate import GenerateOptions, generate
from robustclevr.run.job import SampleFailure, SampleStarted
from robustclevr.run.makers import holds_clips
from robustclevr.spec import load_dataset
from robustclevr.store import Dataset, Sample


@pytest.fixture
def load(tmp_path):
    def load(text):
        file = tmp_path / "clips.yaml"
        file.write_text(text)
        return load_dataset(file, load_recipes())

    return load


SMALL = "family: vmds\nvideo: {frames: 3}\nshard_size: 4\nsplits: {test: {samples: 6}}\n"


@pytest.mark.parametrize(
    ("asked", "shards", "cores", "workers"),
    [(None, 100, 2, 2), (None, 100, 8, 8), (None, 3, 8, 3), (5, 100, 2, 5), (None, 0, 2, 1)],
)
def test_each_core_makes_clips(monkeypatch, asked, shards, cores, workers):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    assert share_cores(asked, shards, clips=True)[0] == workers


def test_clips_are_made_in_order_and_say_so(load, make_job):
    spec, heard = load(SMALL), []
    assert holds_clips(spec.splits)
    with ClipMaker(make_job(spec), {}, heard.append) as maker:
        made = list(maker.make(spec.split("test"), [2, 0]))
    assert [sample.index for sample in made] == [2, 0]
    assert heard == [SampleStarted("test", 2), SampleStarted("test", 0)]
    for sample in made:
        seconds = sample.provenance.seconds
        assert sorted(sample.members) == ["json", "npz"]
        assert sample.provenance.renders == 0
        assert seconds["total"] == pytest.approx(seconds["encode"] + seconds["other"])
        assert seconds["cycles"] == 0
        assert "blender" not in sample.provenance.versions


def test_a_clip_that_cannot_be_drawn_does_not_stop_the_others(load, make_job):
    spec = load(
        "family: vmds\nvideo: {margin_px: 31.5, tries: 64, sprites: [0, 1]}\n"
        "splits: {test: {samples: 4}}\n"
    )
    with ClipMaker(make_job(spec), {}, lambda _: None) as maker:
        made = list(maker.make(spec.split("test"), range(4)))
    failed = [one for one in made if isinstance(one, SampleFailure)]
    assert len(failed) == 2  # the others have no sprite
    assert "64" in failed[0].reason


def test_the_cost_of_a_clip_is_its_pixels(load):
    spec = load(SMALL)
    assert relative_cost(spec.split("test")) == 3 * 64 * 64


def test_the_estimate_measures_several_clips(load, tmp_path):
    spec = load(f"family: vmds\nvideo: {{frames: 3}}\nsplits: {{test: {{samples: {10**6}}}}}\n")
    estimated = estimate(spec, {}, tmp_path / "d", GenerateOptions(workers=2))
    assert MEASURED_CLIPS > 1
    assert (estimated.samples, estimated.renders, estimated.workers) == (10**6, 0, 2)
    assert 1e9 < estimated.size_bytes < 2e10
    assert estimated.seconds == pytest.approx(estimated.splits[0].seconds_per_sample * 10**6 / 2)
    assert not (tmp_path / "d").exists()


def test_stored_clips_are_the_drawn_ones(load, tmp_path):
    spec, out = load(SMALL), tmp_path / "d"
    assert generate(spec, {}, out, GenerateOptions(workers=1), lambda _: None).exit_code == 0
    assert holds_clips_at(out)
    drawn = list(drawn_clips(spec.split("test"), {}, root_seed=0, count=6))
    stored = list(stored_clips(out, None, 9))
    assert [name for name, _ in drawn] == [name for name, _ in stored]
    for (_, one), (_, two) in zip(drawn, stored, strict=True):
        np.testing.assert_array_equal(one, two)
    samples = list(Dataset.open(out).samples("test"))
    assert [sample.record["index"] for sample in samples] == list(range(6))


def test_a_lost_source_stops_the_run(load, tmp_path):
    (tmp_path / "sprites.npz").write_bytes(b"no archive")
    spec = load("family: vmds\nvideo: {dsprites: sprites.npz}\nsplits: {test: {samples: 2}}\n")
    with pytest.raises(SpecError, match=r"sprites\.npz is not a whole NPZ file"):
        generate(spec, {}, tmp_path / "d", GenerateOptions(workers=1), lambda _: None)


def test_what_a_file_format_does_comes_last(load, make_job):
    recipes = load_recipes()
    spec = load(
        "family: vmds\nvideo: {frames: 2}\nemit: [clean, joint]\n"
        "dag: {nodes: {jpeg: {set: {quality: 20}}, gamma: {set: {gamma: 2}}}}\n"
        "splits: {test: {samples: 1}}\n"
    )
    with ClipMaker(make_job(spec), recipes, lambda _: None) as maker:
        (made,) = maker.make(spec.split("test"), [0])
    sample = Sample("test", "000000", made.members)
    darker = linear_to_srgb8(srgb8_to_linear(sample.array("video")[1]) ** 2)
    settings = {**recipes["jpeg"].recipe.clean_parameters(), "quality": 20.0}
    expected = recipes["jpeg"].build(EncodedContext(darker, settings, 0, 64, 64))
    np.testing.assert_array_equal(sample.array("video", "joint")[1], expected)
    np.testing.assert_array_equal(sample.array("masks", "joint"), sample.array("masks"))
