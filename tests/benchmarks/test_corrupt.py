"""What corrupting existing pictures costs: 320x240, one compositor recipe, one core.

Processor time of all processes, so that a busy machine does not count; printed beside the same
corruption of imagecorruptions where that is installed.
"""

import json
import os
import resource
import time
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image

from robustclevr.pictures import PictureOptions
from robustclevr.recipe import load_recipes
from robustclevr.run.blender_process import RendererCommand
from robustclevr.run.corrupt import prepare_corruption
from robustclevr.run.generate import GenerateOptions, generate

pytestmark = [pytest.mark.blender, pytest.mark.slow]

PICTURES = 100
LARGEST_MS = 40.0
DAG = 'nodes:\n  gaussian_blur:\n    noise: {u: "Uniform(0, 1)"}\n    set: {size: 1 + 8 * u}\n'


def children_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    rows, columns = np.mgrid[0:240, 0:320]
    rng = np.random.default_rng(0)
    for number in range(PICTURES):
        waves = np.stack([rows + number, columns - number, rows + columns], axis=-1) // 3
        Image.fromarray(((waves + rng.integers(0, 6, waves.shape)) % 256).astype(np.uint8)).save(
            folder / f"{number:04d}.png"
        )
    return folder


def make(folder, out, dag):
    recipes = load_recipes()
    options = PictureOptions(str(folder), None, "blender")
    planned = prepare_corruption(options, str(dag), recipes, RendererCommand(), workers=1)
    settings = GenerateOptions(workers=1, device="cpu")
    return generate(planned.spec, recipes, out, settings, print_nothing)


def test_a_picture_takes_hundredths_of_a_second(benchmark, pictures, tmp_path):
    dag = tmp_path / "dag.yaml"
    dag.write_text(DAG)
    few = tmp_path / "few"
    few.mkdir()
    os.link(pictures / "0000.png", few / "0000.png")
    before = children_s()
    make(few, tmp_path / "warm", dag)
    start_up = children_s() - before

    def measured(number):
        started = children_s()
        assert make(pictures, tmp_path / f"out{number}", dag).exit_code == 0
        return (children_s() - started - start_up) / PICTURES * 1000

    # The better of two: other work on the processor slows both down, never speeds one up.
    each_ms = benchmark.pedantic(lambda: min(map(measured, "ab")), rounds=1, iterations=1)
    receipt = json.loads((tmp_path / "outb/pictures/shard-00000.receipt.json").read_text())
    benchmark.extra_info.update(
        cpu_ms_each=round(each_ms, 2),
        **{name: round(1000 * s / PICTURES, 2) for name, s in receipt["seconds"].items()},
    )
    print(f"\n{PICTURES} pictures, gaussian_blur, ms each: {benchmark.extra_info}")  # noqa: T201
    if find_spec("imagecorruptions"):
        print(f"imagecorruptions' gaussian_blur, ms each: {theirs_ms(pictures):.2f}")  # noqa: T201
    # Printed against the aim; asserted far above it, as the machine may be busy with other work.
    assert each_ms <= 3 * LARGEST_MS


def print_nothing(_event):
    """No progress is shown."""


def theirs_ms(folder):
    from imagecorruptions import corrupt

    images = [np.asarray(Image.open(path)) for path in sorted(folder.iterdir())[:40]]
    started = time.process_time()
    for image in images:
        corrupt(image, corruption_name="gaussian_blur", severity=3)
    return (time.process_time() - started) / len(images) * 1000
