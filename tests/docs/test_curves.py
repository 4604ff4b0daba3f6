"""The table of measured severities in the docs says what the curve files say."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from robustclevr.recipe import curve_path, load_recipes

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "recipes.md").read_text()
MEASURED = {name: item for name, item in load_recipes().items() if item.recipe.curve}
ROWS = dict(re.findall(r"^\| `(\w+)` \| (\d\.\d{3},.*) \|$", TEXT, flags=re.MULTILINE))


def test_every_measured_recipe_has_a_row():
    assert set(ROWS) == set(MEASURED)


@pytest.mark.parametrize("name", MEASURED)
def test_a_row_is_of_the_curve_file(name):
    found = json.loads(curve_path(MEASURED[name].path).read_text())
    scenes = 1.0 - np.array(found["per_scene"]["ssim"])
    mean = scenes.mean(axis=0)
    steps = np.diff(mean)
    rank = min(spearmanr(found["severity"], scene).statistic for scene in scenes)
    expected = (
        f"{mean[1]:.3f}, {mean[5]:.3f}, {mean[10]:.3f} | {found['mean']['psnr'][-1]:.1f} | "
        f"{steps.min():.4f} to {steps.max():.4f} | {rank:.3f} | "
        f"{100 * (1 - found['hundredth']['ssim']) / mean[10]:.1f} | {found['ms_per_image']:.0f}"
    )
    assert ROWS[name] == expected
