"""A robustness study from nothing to curves: train on clean, predict under a DAG, evaluate.

    python docs/studies/robustness_study.py -o study                   # clips, no Blender: minutes
    python docs/studies/robustness_study.py -o study --family clevr    # scenes, rendered
    python docs/studies/robustness_study.py -o study --family clevr --full    # the paper's numbers

Each step is one command of ``robustclevr``, printed before it runs, so the study can be done by
hand or with a model of your own in the place of Slot Attention. Stopped, the same command goes on.
What comes out: ``study/scores/scores.json`` and its pictures, in which Slot Attention stands beside
k-means, per corruption and against the severity of each.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SPECS = {
    "vmds": """\
family: vmds
video: {{frames: 6, height: 32, width: 32, sprites: [2, 4]}}
splits:
  train: {{samples: {train}}}
  test: {{samples: {test}, dag: {dag}}}
""",
    "clevr": """\
family: clevr
scene: {{objects: [3, 10]}}
render: {render}
splits:
  train: {{samples: {train}}}
  test: {{samples: {test}, dag: {dag}}}
""",
}
"""The datasets: clean images to train on, and as many scenes under every node of the DAG."""

RENDER = {
    False: "{height: 72, width: 96, samples: 32}",
    True: "{height: 240, width: 320, samples: 512}",
}
"""Of scenes, in small and in full."""


@dataclass(frozen=True)
class Study:
    """What is studied, and where.

    Attributes
    ----------
    output : Path
    family, dag : str
    train, test : int
        Samples.
    model : tuple of str
        Options of ``robustclevr train``.
    device : str
        auto, cpu or cuda.
    full : bool
    """

    output: Path
    family: str
    dag: str
    train: int
    test: int
    model: tuple[str, ...]
    device: str
    full: bool

    @property
    def spec(self) -> str:
        """The dataset file."""
        return SPECS[self.family].format(
            train=self.train, test=self.test, dag=self.dag, render=RENDER[self.full]
        )

    @property
    def commands(self) -> list[list[str]]:
        """The steps, in order."""
        out = self.output
        data, run = str(out / "data"), str(out / "run")
        ours, theirs = str(out / "slot-attention"), str(out / "kmeans")
        on_test = ("--split", "test")
        device = ("--device", self.device)
        return [
            ["generate", str(out / "study.yaml"), "-o", data],
            ["train", "slot-attention", data, "-o", run, "--resume", *self.model, *device],
            [
                "baseline",
                "slot-attention",
                data,
                "-o",
                ours,
                *on_test,
                "--checkpoint",
                run,
                *device,
            ],
            ["baseline", "kmeans", data, "-o", theirs, *on_test],
            [
                *("evaluate", data, ours, "-o", str(out / "scores"), *on_test),
                *("--metrics", "ari,miou", "--compare", theirs),
            ],
        ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the study; return the exit code of the first step that fails, or 0."""
    study = _study(arguments)
    study.output.mkdir(parents=True, exist_ok=True)
    (study.output / "study.yaml").write_text(study.spec)
    for words in study.commands:
        print(f"$ robustclevr {shlex.join(words)}", flush=True)
        code = subprocess.run([sys.executable, "-m", "robustclevr", *words], check=False).returncode
        if code:
            return code
    print(table(json.loads((study.output / "scores" / "scores.json").read_text())))
    return 0


def table(scores: dict[str, dict[str, dict[str, dict[str, float]]]]) -> str:
    """Return FG-ARI by variant: of Slot Attention, less that of k-means, with its interval."""
    lines = [f"{'variant':16}  FG-ARI  less k-means'  95 % of resampled sets"]
    for variant, paired in scores["compare"]["by_variant"].items():
        own = scores["by_variant"][variant]["aggregate"]["fg_ari"]
        low, high = paired["intervals"]["fg_ari"]
        difference = paired["difference"]["fg_ari"]
        lines.append(f"{variant:16}  {own:6.3f}  {difference:+12.3f}  [{low:+.3f}, {high:+.3f}]")
    return "\n".join(lines)


def _study(arguments: Sequence[str] | None) -> Study:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--family", choices=sorted(SPECS), default="vmds")
    parser.add_argument("--dag", default="chain-uniform", help="name or path, for the test set")
    parser.add_argument("--train", type=int, help="samples to train on")
    parser.add_argument("--test", type=int, help="samples under the DAG")
    parser.add_argument("--steps", type=int, help="of training")
    parser.add_argument("--batch", type=int, help="images a step")
    parser.add_argument("--config", help="of Slot Attention; by default what fits the images")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--full", action="store_true", help="50,000 and 1,000 samples, full size")
    given = parser.parse_args(arguments)
    train, test = (
        (50_000, 1000) if given.full else {"vmds": (500, 40), "clevr": (200, 40)}[given.family]
    )
    steps = None if given.full else 1000
    # In small, scenes too are seen at the size that a CPU can train.
    config = None if given.full else "sprites-32"
    slots = ["--slots", "11"] if given.family == "clevr" else []
    chosen = {
        "--steps": given.steps or steps,
        "--batch": given.batch,
        "--config": given.config or config,
    }
    model = [word for key, value in chosen.items() if value for word in (key, str(value))]
    return Study(
        output=given.output,
        family=given.family,
        dag=given.dag,
        train=given.train or train,
        test=given.test or test,
        model=(*model, *slots),
        device=given.device,
        full=given.full,
    )


if __name__ == "__main__":
    sys.exit(main())
