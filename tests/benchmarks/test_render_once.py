"""Render once, corrupt many: what eight corruptions cost beside the one render they share.

Figures come from the receipt of a real run with one warm worker, so start-up stands apart.
Ratios hold inside one run; seconds depend on the machine and are printed, never asserted.
"""

import json

import pytest

from robustclevr.recipe import load_recipes
from robustclevr.run.generate import GenerateOptions, generate
from robustclevr.spec import load_dataset

pytestmark = [pytest.mark.blender, pytest.mark.slow]

SCENES = 16
LARGEST_SHARE = 0.25  # of Cycles' time: compositor, label passes and encoding together
LARGEST_WHOLE = 1.35  # of Cycles' time: everything but start-up


@pytest.mark.timeout(1500)
def test_eight_corruptions_cost_a_fraction_of_the_render(benchmark, tmp_path):
    recipes = load_recipes()
    overrides = [f"splits.test.samples={SCENES}", f"shard_size={SCENES}", "render.samples=64"]
    spec = load_dataset("robustclevr-iid-uniform", recipes, overrides=overrides)
    options = GenerateOptions(splits=("test",), workers=1)

    events = []

    def run():
        return generate(spec, recipes, tmp_path / "out", options, events.append)

    summary = benchmark.pedantic(run, rounds=1, iterations=1)
    assert summary.exit_code == 0
    receipt = json.loads((tmp_path / "out" / "test" / "shard-00000.receipt.json").read_text())
    seconds = receipt["seconds"]
    beside = seconds["compositor"] + seconds["labels"] + seconds["encode"]
    share, whole = beside / seconds["cycles"], seconds["total"] / seconds["cycles"]
    benchmark.extra_info.update(
        {name: round(value, 3) for name, value in seconds.items()},
        share_of_cycles=round(share, 4),
        whole_over_cycles=round(whole, 4),
        renders=receipt["renders"],
    )
    print(f"\n{SCENES} scenes, 320x240, 64 samples, seconds: {benchmark.extra_info}")  # noqa: T201
    assert receipt["renders"] == SCENES
    assert share <= LARGEST_SHARE
    assert whole <= LARGEST_WHOLE
