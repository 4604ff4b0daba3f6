"""Two small datasets that need no Blender: of images, from a stand-in renderer, and of clips."""

from pathlib import Path

import pytest
from hypothesis import settings

from robustclevr.recipe import load_recipes
from robustclevr.run.blender_process import RendererCommand
from robustclevr.run.generate import GenerateOptions, generate
from robustclevr.spec import load_dataset
from robustclevr.store.dataset import Dataset

# How long an example takes says how busy the machine is.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")

STAND_IN = Path(__file__).parent / "unit" / "run" / "stand_in_worker.py"

IMAGES = """
family: clevr
dag: tree-uniform
scene: {objects: [3, 5], min_pixels: 20}
render: {height: 24, width: 32, samples: 1}
shard_size: 8
splits:
  test: {samples: 20}
"""
CLIPS = """
family: vmds
video: {frames: 10, height: 32, width: 32, sprites: [2, 3], sigma_px: 8, margin_px: 8}
shard_size: 5
splits:
  test: {samples: 12}
  val: {samples: 3}
"""


def _made(folder: Path, text: str) -> Dataset:
    spec, out = folder / "tiny.yaml", folder / "tiny"
    spec.write_text(text)
    recipes = load_recipes()
    options = GenerateOptions(
        workers=1, device="cpu", command=RendererCommand(bootstrap=str(STAND_IN))
    )
    dataset = load_dataset(str(spec), recipes)
    summary = generate(dataset, recipes, out, options, lambda _event: None)
    assert summary.exit_code == 0, summary.failures
    return Dataset.open(out)


@pytest.fixture(scope="session")
def image_dataset(tmp_path_factory) -> Dataset:
    """Return 20 scenes of 3 to 5 objects, 24x32 pixels, clean and with the paper's eight.

    Object i covers columns 2 i - 2 and 2 i - 1; ``lens_distortion`` mirrors them.
    """
    return _made(tmp_path_factory.mktemp("images"), IMAGES)


@pytest.fixture(scope="session")
def clip_dataset(tmp_path_factory) -> Dataset:
    """Return clips of 10 frames, 32x32 pixels, 2 or 3 sprites; splits test of 12 and val of 3."""
    return _made(tmp_path_factory.mktemp("clips"), CLIPS)
