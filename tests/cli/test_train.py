"""Training by the command line: what it says, its exit codes, and that it can be stopped."""

import json
import signal
import subprocess
import sys
import time

import pytest


@pytest.fixture
def train(robustclevr, clip_dataset, tmp_path):
    def train(*arguments, out="run"):
        return robustclevr(
            *("train", "slot-attention", clip_dataset.layout.root, "-o", tmp_path / out),
            *("--split", "test", "--device", "cpu", "--batch", 2, "--workers", 1),
            *arguments,
        )

    return train


def test_train_go_on_predict_evaluate(train, robustclevr, clip_dataset, tmp_path):
    first = train("--steps", 2)
    assert first.code == 0
    assert "sprites-32: 2 steps of 2 of 120 images" in first.err
    assert "2 steps, loss" in first.err
    again = train("--steps", 3)
    assert again.code == 2 and "go on with --resume" in again.err
    further = train("--steps", 3, "--resume")
    assert further.code == 0 and "1 steps of 2 of 120 images, 2 are made already" in further.err
    assert len((tmp_path / "run" / "log.jsonl").read_text().splitlines()) == 3
    root, predictions = clip_dataset.layout.root, tmp_path / "predictions"
    made = robustclevr(
        *("baseline", "slot-attention", root, "-o", predictions, "--split", "val"),
        *("--checkpoint", tmp_path / "run", "--workers", 1),
    )
    assert made.code == 0 and "3 predictions of slot-attention" in made.err
    scored = robustclevr(
        *("evaluate", root, predictions, "-o", tmp_path / "scores", "--workers", 1)
    )
    assert scored.code == 0
    scores = json.loads((tmp_path / "scores" / "scores.json").read_text())
    assert -1 <= scores["aggregate"]["fg_ari"] <= 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--config", "sprite-32"), "did you mean 'sprites-32'"),
        (("--split", "tset"), "did you mean 'test'"),
        (("--device", "gpu"), "allowed: auto, cpu, cuda"),
        (("--batch", 1000), "choose --batch 120 or less"),
        (("--slots", 300), "1 to 255 are possible"),
    ],
    ids=["config", "split", "device", "batch", "slots"],
)
def test_wrong_options(train, arguments, said):
    finished = train("--steps", 1, *arguments)
    assert finished.code in (1, 2) and said in finished.err


def test_a_model_that_is_not_there(robustclevr, clip_dataset, tmp_path):
    root = clip_dataset.layout.root
    finished = robustclevr("train", "slot-atention", root, "-o", tmp_path)
    assert finished.code == 2 and "did you mean 'slot-attention'" in finished.err
    arguments = ("baseline", "slot-attention", root, "-o", tmp_path / "p")
    finished = robustclevr(*arguments)
    assert finished.code == 2 and "--checkpoint" in finished.err
    finished = robustclevr(*arguments, "--checkpoint", tmp_path)
    assert finished.code == 1 and "there is no checkpoint" in finished.err


@pytest.mark.parametrize("command", ["train", "baseline"])
def test_without_torch(clip_dataset, tmp_path, command):
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from robustclevr.cli.main import main\n"
        "main(sys.argv[1:])\n"
    )
    arguments = [command, "slot-attention", clip_dataset.layout.root, "-o", tmp_path / "out"]
    if command == "baseline":
        arguments += ["--checkpoint", tmp_path]
    run = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True)
    assert run.returncode == 3
    assert "pip install 'robustclevr[torch]'" in run.stderr and "Traceback" not in run.stderr


def test_an_interrupt_leaves_a_checkpoint(train, clip_dataset, tmp_path):
    out = tmp_path / "stopped"
    command = [sys.executable, "-m", "robustclevr", "train", "slot-attention"]
    command += [clip_dataset.layout.root, "-o", out, "--split", "test", "--batch", "2"]
    command += ["--device", "cpu", "--workers", "1", "--steps", "100000"]
    # A shell that starts this in the background may have SIGINT ignored.
    code = "import signal, sys, os; signal.signal(2, signal.default_int_handler); "
    code += "os.execv(sys.argv[1], sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, command)], stderr=subprocess.PIPE, text=True
    )
    log = out / "log.jsonl"
    while process.poll() is None and not (log.is_file() and log.read_text().count("\n") > 2):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "the same command with --resume goes on" in said
    made = len(log.read_text().splitlines())
    assert f"stopped after step {made} of 100000" in said
    assert train("--resume", "--steps", made + 1, out="stopped").code == 0
    assert len(log.read_text().splitlines()) == made + 1
