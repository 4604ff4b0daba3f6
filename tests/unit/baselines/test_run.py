"""Baselines over datasets: what they write, and that nothing but the seed decides it."""

import json

import numpy as np
import pytest

from robustclevr.baselines import Baseline, default_segments, kmeans_labels, run_baseline
from robustclevr.errors import SpecError
from robustclevr.imaging import decode_npz, decode_png
from robustclevr.predictions import open_split, targets
from robustclevr.seeds import stream


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_truth_of_images(image_dataset, tmp_path):
    assert run_baseline(image_dataset, ["test"], "truth", tmp_path, workers=1) == 20 * 9
    assert len(contents(tmp_path)) == 180
    sample = image_dataset.sample("test", 7)
    file = tmp_path / "test" / "000007.lens_distortion.png"
    np.testing.assert_array_equal(decode_png(file.read_bytes()), sample.labels("lens_distortion"))


def test_kmeans_of_clips_whatever_the_workers(clip_dataset, tmp_path):
    seen = []
    for workers in (1, 2):
        out = tmp_path / str(workers)
        made = run_baseline(
            *(clip_dataset, ["val"], "kmeans", out), workers=workers, on_progress=seen.append
        )
        assert made == 3
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert sum(seen) == 6
    (target,) = targets(clip_dataset.sample("val", 2))
    rng = stream(0, "val", "baseline.kmeans.clean", 2)
    masks = decode_npz((tmp_path / "1" / "val" / "000002.npz").read_bytes())["masks"]
    np.testing.assert_array_equal(masks, kmeans_labels(target.pixels, 6, rng=rng))


def test_random_is_uniform_and_its_seed_decides(image_dataset):
    sample = image_dataset.sample("test", 0)
    clean, gamma = targets(sample)[:2]
    baseline = Baseline("random", 4, seed=5)
    counts = np.bincount(baseline.predictor()(clean).ravel(), minlength=5)
    assert counts[0] == 0 and counts.sum() == 24 * 32
    # Within five standard deviations of a binomial.
    assert np.abs(counts[1:] - 192).max() < 5 * (768 * 0.25 * 0.75) ** 0.5
    np.testing.assert_array_equal(baseline.predictor()(clean), baseline.predictor()(clean))
    assert (baseline.predictor()(clean) != baseline.predictor()(gamma)).any()
    assert (baseline.predictor()(clean) != Baseline("random", 4, seed=6).predictor()(clean)).any()


def test_empty_is_no_object(image_dataset):
    clean = targets(image_dataset.sample("test", 0))[0]
    assert not Baseline("empty", 4, seed=0).predictor()(clean).any()


def test_clips_as_one_json(clip_dataset, tmp_path):
    file = tmp_path / "truth.json"
    assert run_baseline(clip_dataset, ["test"], "truth", file) == 12
    videos = json.loads(file.read_text())
    ids = [{i for frame in video for i in frame["ids"]} for video in videos]
    assert len(set.union(*ids)) == sum(map(len, ids))  # no id in two videos
    files = open_split(file, clip_dataset, "test")
    for index in (0, 11):
        (target,) = targets(clip_dataset.sample("test", index))
        found = files.read(target).labels
        pairs = set(zip(target.labels.ravel().tolist(), found.ravel().tolist(), strict=True))
        assert len(pairs) == len(np.unique(target.labels))
        assert (0, 0) in pairs


def test_segments_fit_the_dataset(image_dataset, clip_dataset):
    assert default_segments(image_dataset.split("test").document) == 6
    assert default_segments(clip_dataset.split("test").document) == 6
    assert default_segments({"family": "spmot"}) == 5


def test_wrong_choices_are_named(image_dataset, clip_dataset, tmp_path):
    with pytest.raises(SpecError, match="no baseline 'kmean'; did you mean 'kmeans'"):
        run_baseline(image_dataset, ["test"], "kmean", tmp_path)
    with pytest.raises(SpecError, match="300 segments; 1 to 255 are possible"):
        run_baseline(image_dataset, ["test"], "random", tmp_path, segments=300)
    with pytest.raises(SpecError, match="one file for 2 splits; choose one with --split"):
        run_baseline(clip_dataset, ["test", "val"], "truth", tmp_path / "a.json")
    with pytest.raises(SpecError, match="the video benchmark's form is for clips"):
        run_baseline(image_dataset, ["test"], "truth", tmp_path / "a.json")
