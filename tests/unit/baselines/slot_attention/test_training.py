"""Training: functions of seed and step, checkpoints that go on to the last bit, predictions."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from robustclevr.baselines import Baseline, run_baseline
from robustclevr.baselines.kmeans import link_segments
from robustclevr.baselines.slot_attention import checkpoint as checkpoints
from robustclevr.baselines.slot_attention.config import CONFIGS
from robustclevr.baselines.slot_attention.frames import open_frames, resized
from robustclevr.baselines.slot_attention.model import Decoded
from robustclevr.baselines.slot_attention.predict import segment
from robustclevr.baselines.slot_attention.run import TrainOptions, plan_training, train
from robustclevr.baselines.slot_attention.training import Trainer, batch_places, device_named
from robustclevr.errors import SpecError, StoreError
from robustclevr.imaging import decode_npz, decode_png

CPU = torch.device("cpu")
OPTIONS = TrainOptions(split="test", steps=6, batch=4, device="cpu", workers=1)


def trained(dataset, run, options=OPTIONS, **also):
    return train(dataset, run, options, plan_training(dataset, run, options), **also)


def losses(run):
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == list(range(1, len(lines) + 1))
    return [line["loss"] for line in lines]


@pytest.fixture(scope="module")
def run(clip_dataset, tmp_path_factory):
    """Return the folder of six steps on clips."""
    folder = tmp_path_factory.mktemp("run")
    outcome = trained(clip_dataset, folder)
    assert outcome.steps == 6 and outcome.finished
    assert outcome.loss == pytest.approx(np.mean(losses(folder)))
    return folder


def test_every_frame_comes_once_a_shuffle():
    def batches(seed):
        return np.stack([batch_places(20, 8, s, seed=seed, split="train") for s in range(10)])

    row = batches(0).reshape(-1)
    for shuffle in row.reshape(4, 20):
        assert sorted(shuffle) == list(range(20))
    assert (row[:20] != row[20:40]).any()
    np.testing.assert_array_equal(batches(0), batches(0))
    assert (batches(0) != batches(1)).any()


def test_frames_are_those_of_the_clips(clip_dataset, tmp_path):
    heard = []
    frames = open_frames(
        *(clip_dataset, "test", tmp_path), height=32, width=32, workers=1, on_progress=heard.append
    )
    assert frames.shape == (120, 32, 32, 3) and sum(heard) == 12
    videos = [sample.array("video") for sample in clip_dataset.samples("test")]
    np.testing.assert_array_equal(frames, np.concatenate(videos))
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"\x07")
    again = open_frames(clip_dataset, "test", tmp_path, height=32, width=32)
    assert again[-1, -1, -1, -1] == 7  # read, not made again


def test_images_are_seen_whole(image_dataset, tmp_path):
    frames = open_frames(image_dataset, "test", tmp_path, height=32, width=32, workers=1)
    assert frames.shape == (20, 32, 32, 3)
    clean = image_dataset.sample("test", 5).image("clean")
    expected = Image.fromarray(clean).resize((32, 32), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(frames[5], np.asarray(expected))
    np.testing.assert_array_equal(resized(clean[np.newaxis], 24, 32)[0], clean)


def test_the_loss_falls(clip_dataset, tmp_path):
    options = replace(OPTIONS, steps=60, batch=8)
    trained(clip_dataset, tmp_path, options)
    values = losses(tmp_path)
    assert np.mean(values[-10:]) < 0.99 * np.mean(values[:10])


def test_going_on_gives_what_never_stopped(clip_dataset, run, tmp_path):
    stops = iter([False, False, False, True])
    outcome = trained(clip_dataset, tmp_path, stop=lambda: next(stops))
    assert (outcome.steps, outcome.finished) == (3, False)
    assert losses(tmp_path) == losses(run)[:3]
    outcome = trained(clip_dataset, tmp_path, replace(OPTIONS, resume=True))
    assert (outcome.steps, outcome.finished) == (6, True)
    assert losses(tmp_path) == losses(run)
    first, second = (checkpoints.read_checkpoint(folder) for folder in (run, tmp_path))
    for name, weights in first.model.items():
        assert torch.equal(weights, second.model[name])


def test_a_log_that_ran_ahead_is_cut_back(clip_dataset, run, tmp_path):
    stops = iter([False, False, True])
    trained(clip_dataset, tmp_path, stop=lambda: next(stops))
    with (tmp_path / "log.jsonl").open("a") as log:
        log.write('{"step": 3, "loss": 7.0}\n{"st')
    trained(clip_dataset, tmp_path, replace(OPTIONS, resume=True))
    assert losses(tmp_path) == losses(run)


def test_steps_may_grow_and_nothing_else_change(clip_dataset, run, tmp_path):
    (tmp_path / checkpoints.FILE).write_bytes((run / checkpoints.FILE).read_bytes())
    with pytest.raises(SpecError, match="go on with --resume"):
        plan_training(clip_dataset, tmp_path, OPTIONS)
    resume = replace(OPTIONS, resume=True)
    assert plan_training(clip_dataset, tmp_path, replace(resume, steps=9)).config.steps == 9
    same = replace(resume, batch=None, steps=None)
    assert plan_training(clip_dataset, tmp_path, same).config.batch == 4
    for change in ({"batch": 5}, {"slots": 4}, {"seed": 1}, {"config": "clevr-128"}):
        (name,) = change
        with pytest.raises(SpecError, match=f"leave --{name} out"):
            plan_training(clip_dataset, tmp_path, replace(resume, **change))


def test_other_data_is_refused(image_dataset, run):
    with pytest.raises(StoreError, match="was trained on other data"):
        plan_training(image_dataset, run, replace(OPTIONS, resume=True))


def test_the_seed_decides(clip_dataset, run, tmp_path):
    trained(clip_dataset, tmp_path, replace(OPTIONS, seed=1))
    assert losses(tmp_path) != losses(run)
    frames = np.load(next(run.glob("frames-*.npy")), mmap_mode="r")
    config = CONFIGS["sprites-32"].with_options(batch=4, steps=6)
    torch.manual_seed(99)  # of no consequence
    trainer = Trainer(frames, config, seed=0, split="test", device=CPU)
    assert [trainer.advance() for _ in range(6)] == losses(run)


def test_too_little_data(clip_dataset, tmp_path):
    with pytest.raises(SpecError, match=r"has 120 images, and a batch 121.*--batch 120 or less"):
        plan_training(clip_dataset, tmp_path, replace(OPTIONS, batch=121))
    with pytest.raises(StoreError, match="did you mean 'test'"):
        plan_training(clip_dataset, tmp_path, replace(OPTIONS, split="tset"))


def test_devices():
    assert device_named("cpu") == CPU
    with pytest.raises(SpecError, match="did you mean 'cuda'"):
        device_named("cud")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot be read"),
        (b"PK\x03\x04 no zip", "cannot be read"),
        ({"a": 1}, "no checkpoint"),
    ],
    ids=["empty", "cut", "other"],
)
def test_what_is_no_checkpoint(tmp_path, content, reason):
    file = tmp_path / "checkpoint.pt"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        torch.save(content, file)
    with pytest.raises(StoreError, match=reason):
        checkpoints.read_checkpoint(tmp_path)


def test_a_checkpoint_of_another_version(run, tmp_path):
    content = torch.load(run / checkpoints.FILE, weights_only=True)
    torch.save(content | {"format": 99}, tmp_path / "new.pt")
    with pytest.raises(StoreError, match="is of format 99, this version reads 1"):
        checkpoints.read_checkpoint(tmp_path / "new.pt")
    content["config"].pop("places")
    torch.save(content, tmp_path / "old.pt")
    with pytest.raises(StoreError, match="configuration is of another version"):
        checkpoints.read_checkpoint(tmp_path / "old.pt")
    with pytest.raises(StoreError, match="there is no checkpoint; 'robustclevr train"):
        checkpoints.read_checkpoint(tmp_path)


def test_predictions_of_clips(clip_dataset, run, tmp_path):
    for workers in (1, 2):
        made = run_baseline(
            *(clip_dataset, ["val"], "slot-attention", tmp_path / str(workers)),
            checkpoint=run,
            workers=workers,
        )
        assert made == 3
    contents = [
        [file.read_bytes() for file in sorted((tmp_path / n / "val").iterdir())] for n in "12"
    ]
    assert contents[0] == contents[1]
    masks = decode_npz(contents[0][1])["masks"]
    assert masks.shape == (10, 32, 32) and masks.min() >= 1 and masks.max() <= 5
    np.testing.assert_array_equal(link_segments(masks - 1, 5) + 1, masks)  # linked already


def test_predictions_of_every_variant(image_dataset, run, tmp_path):
    options = {"checkpoint": run / checkpoints.FILE, "workers": 1, "segments": 3}
    made = run_baseline(image_dataset, ["test"], "slot-attention", tmp_path, **options)
    assert made == 20 * 9
    seen = [decode_png(file.read_bytes()) for file in sorted((tmp_path / "test").iterdir())]
    assert {labels.shape for labels in seen} == {(24, 32)}
    assert max(labels.max() for labels in seen) <= 3


def test_masks_come_back_to_the_size_of_the_image():
    def halves(images, noise):
        """Give the left half of an image to slot 0, the right to slot 2; slot 1 has nothing."""
        masks = torch.zeros(len(images), noise.shape[1], *images.shape[2:])
        masks[:, 0, :, :16] = masks[:, 2, :, 16:] = 1.0
        return Decoded(images, masks)

    config = CONFIGS["sprites-32"]
    frames = np.zeros((2, 48, 128, 3), np.uint8)
    labels = segment(halves, config, frames, torch.zeros(1, 3, config.noise_size))
    assert labels.dtype == np.uint8 and labels.shape == (2, 48, 128)
    assert (labels[:, :, :64] == 0).all() and (labels[:, :, 64:] == 2).all()


def test_a_model_belongs_to_its_method(run):
    with pytest.raises(SpecError, match="takes a trained model"):
        Baseline("slot-attention", 5, seed=0)
    with pytest.raises(SpecError, match="takes no trained model"):
        Baseline("kmeans", 5, seed=0, checkpoint=run)


@pytest.mark.slow
def test_the_published_configuration_goes_on_to_the_last_bit(clip_dataset, tmp_path):
    """With few slots and one image a step: as published a step takes a CPU minutes."""
    options = TrainOptions(
        split="test", config="clevr-128", slots=2, batch=1, steps=6, device="cpu", workers=1
    )
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    trained(clip_dataset, whole, options)
    trained(clip_dataset, parts, replace(options, steps=3))
    trained(clip_dataset, parts, replace(options, resume=True))
    assert losses(whole) == losses(parts)
    assert len(set(losses(whole))) == 6
