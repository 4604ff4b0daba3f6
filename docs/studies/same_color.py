"""Slot Attention where color tells nothing apart: sprites of one color, against k-means.

    python docs/studies/same_color.py -o out/same-color

Everything through the command line, from seed 0; about ten minutes on two cores. Ends with exit
code 1 if Slot Attention is not 0.2 FG-ARI better than k-means.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

LEAST = 0.2
"""FG-ARI that Slot Attention has to be better by."""


def commands(output: Path, options: Sequence[str]) -> list[list[str]]:
    """Return the steps, in order."""
    data, run = str(output / "data"), str(output / "run")
    ours, theirs = str(output / "slot-attention"), str(output / "kmeans")
    on_test = ("--split", "test")
    return [
        ["generate", "sprites-same-color", "-o", data],
        ["train", "slot-attention", data, "-o", run, "--resume", "--device", "cpu", *options],
        ["baseline", "slot-attention", data, "-o", ours, *on_test, "--checkpoint", run],
        ["baseline", "kmeans", data, "-o", theirs, *on_test],
        [
            *("evaluate", data, ours, "-o", str(output / "scores"), *on_test),
            *("--metrics", "ari,miou", "--compare", theirs),
        ],
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the comparison; return the exit code of the first step that fails, 1 if it shows not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0, help="of training")
    parser.add_argument("--steps", type=int, help="of training; by default all")
    given = parser.parse_args(arguments)
    options = ["--seed", str(given.seed)]
    if given.steps:
        options += ["--steps", str(given.steps)]
    started = time.monotonic()
    for words in commands(given.output, options):
        print(f"$ robustclevr {shlex.join(words)}", flush=True)
        code = subprocess.run([sys.executable, "-m", "robustclevr", *words], check=False).returncode
        if code:
            return code
    compared = json.loads((given.output / "scores" / "scores.json").read_text())["compare"]
    difference = compared["difference"]["fg_ari"]
    minutes = (time.monotonic() - started) / 60
    print(f"FG-ARI less that of k-means: {difference:+.3f}, after {minutes:.1f} min")
    return 0 if difference >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
