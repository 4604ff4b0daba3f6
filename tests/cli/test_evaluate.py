"""Baselines and their scores by the command line: truth, nothing, chance, curves, errors."""

import csv
import json
import math
import shutil

import numpy as np
import pytest

from robustclevr.imaging import boxes_and_fractions, decode_png, encode_png
from robustclevr.predictions import CATEGORIES, targets

NODES = ["gamma", "gaussian_blur", "defocus", "lens_distortion", "motion_blur", "white_noise"]


@pytest.fixture
def scores(robustclevr, tmp_path):
    """Evaluate; return scores.json, in which nothing may be NaN."""

    def scores(dataset, predictions, *arguments, out="out"):
        finished = robustclevr(
            *("evaluate", dataset.layout.root, predictions, "-o", tmp_path / out, "--workers", 1),
            *arguments,
        )
        assert finished.code == 0, finished.err
        text = (tmp_path / out / "scores.json").read_text()
        return json.loads(text, parse_constant=pytest.fail)

    return scores


@pytest.fixture
def predicted(robustclevr, tmp_path):
    """Run a baseline; return the folder of its predictions."""

    def predicted(method, dataset, *arguments):
        out = tmp_path / method
        finished = robustclevr(
            *("baseline", method, dataset.layout.root, "-o", out, "--workers", 1), *arguments
        )
        assert finished.code == 0, finished.err
        return out

    return predicted


def rows(file):
    with file.open() as lines:
        return list(csv.DictReader(lines))


def test_truth_of_images_scores_one(scores, predicted, image_dataset, tmp_path):
    found = scores(
        image_dataset, predicted("truth", image_dataset), "--metrics", "ari,miou,classes"
    )
    by_chance = {"class_miou_chance", "fb_iou_chance"}
    for scored in (found, *found["by_variant"].values()):
        assert {v for k, v in scored["aggregate"].items() if k not in by_chance} == {1.0}
        assert scored["undefined"] == {} and scored["missing"] == 0
    assert found["images"] == 180 and found["samples"] == 20
    assert list(found["by_severity"]) == [*NODES, "clouds", "glare"]
    assert len(rows(tmp_path / "out" / "per_sample.csv")) == 180
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        *("scores.json", "per_sample.csv", "scores.svg"),
        *("severity_fg_ari.svg", "severity_miou.svg", "severity_fb_iou.svg"),
    }


@pytest.mark.parametrize("preset", ["all-frames", "weis2021"])
def test_truth_of_clips_scores_one(scores, predicted, clip_dataset, preset):
    found = scores(clip_dataset, predicted("truth", clip_dataset), "--preset", preset)
    wrong = {"miss", "ids", "fp"}
    for scored in (found, *found["by_split"].values()):
        assert {v for k, v in scored["aggregate"].items() if k in wrong} == {0.0}
        assert {v for k, v in scored["aggregate"].items() if k not in wrong} == {1.0}
    assert found["metrics"] == ["mot", "ari", "miou"]
    assert found["splits"] == ["test", "val"] and found["samples"] == 15
    assert found["rules"]["start_frame"] == (2 if preset == "weis2021" else 0)


def test_nothing_predicted_by_hand(scores, predicted, image_dataset, clip_dataset, tmp_path):
    found = scores(clip_dataset, predicted("empty", clip_dataset), "--metrics", "mot,ari")
    aggregate = found["aggregate"]
    assert aggregate["mota"] == 0.0 and aggregate["miss"] == 1.0
    assert aggregate["match"] == aggregate["fp"] == aggregate["md"] == aggregate["ari"] == 0.0
    assert aggregate["arr"] == 1.0  # nothing is split
    assert (tmp_path / "out" / "scores.svg").read_text().count(">undefined<") == 0
    assert aggregate["motp"] is None and found["undefined"]["motp"] == 15
    assert rows(tmp_path / "out" / "per_sample.csv")[0]["motp"] == ""

    shutil.rmtree(tmp_path / "empty")
    found = scores(image_dataset, predicted("empty", image_dataset), "--metrics", "miou,classes")
    labels = [
        target.labels for sample in image_dataset.samples("test") for target in targets(sample)
    ]
    background = [(each == 0).mean() for each in labels]
    segments = [len(np.unique(each)) for each in labels]
    expected = np.mean([share / n for share, n in zip(background, segments, strict=True)])
    assert found["aggregate"]["miou"] == pytest.approx(expected)
    assert found["aggregate"]["fg_miou"] == found["aggregate"]["class_miou"] == 0.0
    # Each object is a query without an answer: the background alone is right.
    pixels = sum((n - 1) * each.size for n, each in zip(segments, labels, strict=True))
    objects = sum(int((each > 0).sum()) for each in labels)
    assert found["aggregate"]["fb_iou"] == pytest.approx((1 - objects / pixels) / 2)


def test_chance_is_near_zero_whatever_the_workers(scores, predicted, image_dataset, tmp_path):
    predictions = predicted("random", image_dataset)
    found = scores(image_dataset, predictions)
    low, high = found["intervals"]["ari"]
    assert low < found["aggregate"]["ari"] < high and abs(found["aggregate"]["ari"]) < 0.01
    again = scores(image_dataset, predictions, "--workers", 2, out="again")
    assert again == found
    for name in ("per_sample.csv", "severity_miou.svg"):
        files = [(tmp_path / out / name).read_bytes() for out in ("out", "again")]
        assert files[0] == files[1]


@pytest.fixture
def fading(image_dataset, tmp_path):
    """Predictions in which as large a share of pixels is lost as the image is corrupted."""
    out = tmp_path / "fading"
    rng = np.random.default_rng(0)
    for sample in image_dataset.samples("test"):
        for target in targets(sample):
            lost = rng.random(target.shape) < target.severity
            labels = np.where(lost, 9, target.labels).astype(np.uint8)
            file = out / "test" / f"{sample.key}.{target.variant}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(encode_png(labels))
    return out


def test_curves_over_severity(scores, fading, image_dataset, tmp_path):
    found = scores(image_dataset, fading, "--metrics", "miou,ari", "--bins", 5)
    table = rows(tmp_path / "out" / "per_sample.csv")
    for node in NODES:
        curve = found["by_severity"][node]
        mine = [row for row in table if row["variant"] == node]
        # Every bin by hand: the mean over the images whose severity lies in it.
        bins = [min(int(float(row["severity"]) * 5 + 1e-8), 4) for row in mine]
        assert curve["count"] == [bins.count(b) for b in range(5)]
        means = []
        for b in range(5):
            values = [float(r["fg_miou"]) for r, own in zip(mine, bins, strict=True) if own == b]
            mean = curve["scores"]["fg_miou"]["mean"][b]
            assert mean == (pytest.approx(np.mean(values)) if values else None)
            means += [mean] if values else []
        assert curve["scores"]["fg_miou"]["area"] == pytest.approx(np.mean(means))
        assert curve["covered"] == len(means) / 5
        if len(means) >= 3:
            assert means[0] > means[-1]
        # Of each object the share 1 - severity is right, and nothing else is predicted there.
        for row in mine:
            if float(row["severity"]) < 0.6:
                assert float(row["fg_miou"]) == pytest.approx(1 - float(row["severity"]), abs=0.15)
    assert found["by_variant"]["clean"]["aggregate"]["fg_miou"] == 1.0


def test_two_models_beside_each_other(scores, predicted, fading, image_dataset, tmp_path):
    truth = predicted("truth", image_dataset)
    found = scores(image_dataset, fading, "--compare", truth, "--metrics", "miou")
    compared = found["compare"]
    assert compared["other"]["aggregate"]["miou"] == 1.0
    assert compared["difference"]["miou"] == pytest.approx(found["aggregate"]["miou"] - 1.0)
    low, high = compared["intervals"]["miou"]
    assert low < compared["difference"]["miou"] < high < 0
    # The other is always 1: the difference varies just as the score does.
    np.testing.assert_allclose(np.array([low, high]) + 1, found["intervals"]["miou"])
    assert compared["by_variant"]["clean"]["difference"]["miou"] == 0.0
    assert compared["by_variant"]["clean"]["intervals"]["miou"] == [0.0, 0.0]
    assert "truth" in (tmp_path / "out" / "severity_miou.svg").read_text()


def test_a_model_beside_itself_differs_by_nothing(robustclevr, predicted, image_dataset, tmp_path):
    empty, out = predicted("empty", image_dataset), tmp_path / "out"
    arguments = (image_dataset.layout.root, empty, "--compare", empty, "-o", out, "--workers", 1)
    finished = robustclevr("evaluate", *arguments, "--metrics", "miou", "--json")
    assert finished.code == 0, finished.err
    # One document on stdout, the one that was written.
    assert finished.out == (out / "scores.json").read_text()
    compared = json.loads(finished.out)["compare"]
    assert set(compared["difference"]) == {"miou", "miou_pairs", "fg_miou"}
    assert set(compared["difference"].values()) == {0.0}
    assert all(ends == [0.0, 0.0] for ends in compared["intervals"].values())
    assert f"{empty} (compared)" not in (out / "scores.svg").read_text()  # its path is enough
    assert str(empty) in (out / "scores.svg").read_text()


def test_missing_predictions(robustclevr, scores, predicted, image_dataset, tmp_path):
    truth = predicted("truth", image_dataset)
    (truth / "test" / "000003.glare.png").unlink()
    out = tmp_path / "out"
    arguments = ("evaluate", image_dataset.layout.root, truth, "-o", out, "--workers", 1)
    finished = robustclevr(*arguments)
    assert finished.code == 1
    assert "1 of 180 predictions are missing: 000003.glare; write them" in finished.err
    finished = robustclevr(*arguments, "--allow-missing")
    assert finished.code == 0
    assert "1 of 180 predictions are missing and were scored as empty" in finished.err
    found = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert found["missing"] == found["by_variant"]["glare"]["missing"] == 1
    assert found["aggregate"]["fg_ari"] == pytest.approx(179 / 180)
    whole = scores(image_dataset, truth, "--variants", "clean,gamma")
    assert whole["aggregate"]["miou"] == 1.0 and whole["images"] == 40


def test_the_benchmarks_json_scores_as_the_folder_does(scores, robustclevr, clip_dataset, tmp_path):
    root = clip_dataset.layout.root
    found = []
    for name in ("folder", "file.json"):
        out = tmp_path / name
        arguments = ("--split", "test", "--workers", 1)
        finished = robustclevr("baseline", "kmeans", root, "-o", out, *arguments)
        assert finished.code == 0, finished.err
        arguments = ("--split", "test", "--preset", "weis2021", "--metrics", "mot")
        found.append(scores(clip_dataset, out, *arguments, out=f"out-{name}")["aggregate"])
    assert found[0] == found[1]
    assert found[0]["match"] > 0.5


@pytest.fixture
def detected(image_dataset, tmp_path):
    """Write the true boxes of the clean images as COCO's results."""
    entries = []
    for sample in image_dataset.samples("test"):
        clean = targets(sample)[0]
        seen = boxes_and_fractions(clean.labels, len(clean.classes))
        for name, footprint in zip(clean.classes, seen, strict=True):
            if footprint.box:
                x0, y0, x1, y1 = footprint.box
                box = {"bbox": [x0, y0, x1 - x0, y1 - y0], "score": 0.9}
                entries.append({"image_id": clean.index, "category_id": CATEGORIES[name], **box})
    file = tmp_path / "detected" / "test" / "clean.coco.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(entries))
    return file.parents[1]


def test_detections(scores, robustclevr, image_dataset, detected, tmp_path):
    found = scores(
        *(image_dataset, detected, "--variants", "clean", "--metrics", "detection,importance"),
    )
    for name in ("ap", "ap50", "ar100", "important_ar100"):
        assert found["aggregate"][name] == pytest.approx(1.0)
    assert found["intervals"]["ap"] == [1.0, 1.0]  # every image is right, so every resample is
    assert 0 < found["aggregate"]["important_objects"] <= 1
    arguments = (image_dataset.layout.root, detected, "-o", tmp_path / "o")
    finished = robustclevr("evaluate", *arguments)
    assert finished.code == 2
    assert "there are no detections of variant 'gamma'" in finished.err
    captions = tmp_path / "captions.json"
    notes = [{"image_id": index, "caption": "A block."} for index in range(20)]
    captions.write_text(json.dumps({"annotations": notes}))
    found = scores(
        *(image_dataset, detected, "--variants", "clean", "--metrics", "importance"),
        *("--captions", captions, "--importance", 0.0),
    )
    # Heat spreads to all objects of the scenes with a cube; the others are left out.
    assert found["aggregate"]["important_objects"] == 1.0


def test_detections_against_severity(scores, image_dataset, detected):
    """Gamma's boxes are right in every image of severity below a half, and in no other."""
    split = detected / "test"
    right = json.loads((split / "clean.coco.json").read_text())
    severity = [s.record["nodes"]["gamma"]["severity"] for s in image_dataset.samples("test")]
    few = [entry for entry in right if severity[entry["image_id"]] < 0.5]
    (split / "gamma.coco.json").write_text(json.dumps(few))
    found = scores(
        *(image_dataset, detected, "--variants", "clean,gamma", "--metrics", "detection"),
        *("--bins", 2, "--compare", detected),
    )
    curve = found["by_severity"]["gamma"]
    assert curve["count"] == [sum(s < 0.5 for s in severity), sum(s >= 0.5 for s in severity)]
    assert min(curve["count"]) > 0
    ap = curve["scores"]["ap"]
    assert ap["mean"] == pytest.approx([1.0, 0.0]) and ap["area"] == pytest.approx(0.5)
    low, high = found["by_variant"]["gamma"]["intervals"]["ap"]
    assert 0 < low < found["by_variant"]["gamma"]["aggregate"]["ap"] < high < 1
    assert found["compare"]["intervals"]["ap"] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metrics", "mota"], "no metric 'mota'; did you mean 'mot'?"),
        (["--metrics", "mot"], "--metrics: 'mot' is of clips, and the dataset holds images"),
        (["--preset", "weis"], "no preset 'weis'; did you mean 'weis2021'?"),
        (["--split", "tests"], "has no split 'tests'; did you mean 'test'?"),
        (["--variants", "glair"], "split 'test' has no variant 'glair'; did you mean 'glare'?"),
    ],
)
def test_wrong_options(robustclevr, predicted, image_dataset, tmp_path, arguments, message):
    out = predicted("empty", image_dataset)
    finished = robustclevr(
        "evaluate", image_dataset.layout.root, out, "-o", tmp_path / "out", *arguments
    )
    assert finished.code in (1, 2)
    assert message in finished.err


def test_clips_have_no_detections(robustclevr, predicted, clip_dataset, tmp_path):
    out = predicted("empty", clip_dataset)
    arguments = (clip_dataset.layout.root, out, "-o", tmp_path / "out", "--metrics", "detection")
    finished = robustclevr("evaluate", *arguments)
    assert finished.code == 2
    assert "'detection' is of images, and the dataset holds clips" in finished.err


def test_severity_of_a_node_is_that_of_the_record(predicted, scores, image_dataset, tmp_path):
    scores(image_dataset, predicted("truth", image_dataset), "--metrics", "ari")
    records = list(image_dataset.records("test"))
    for row in rows(tmp_path / "out" / "per_sample.csv"):
        nodes = records[int(row["index"])]["nodes"]
        severity = nodes[row["variant"]]["severity"] if row["variant"] in nodes else 0.0
        assert float(row["severity"]) == severity
        assert not math.isnan(severity)


def test_baseline_names_what_there_is(robustclevr, image_dataset, tmp_path):
    finished = robustclevr("baseline", "kmean", image_dataset.layout.root, "-o", tmp_path / "p")
    assert finished.code == 2
    assert "no baseline 'kmean'; did you mean 'kmeans'? allowed: empty, kmeans" in finished.err
    finished = robustclevr("baseline", "truth", tmp_path, "-o", tmp_path / "p")
    assert finished.code == 1 and "holds no dataset" in finished.err


def test_pngs_are_the_labels(predicted, image_dataset):
    out = predicted("truth", image_dataset)
    labels = decode_png((out / "test" / "000000.clean.png").read_bytes())
    np.testing.assert_array_equal(labels, image_dataset.sample("test", 0).labels("clean"))
