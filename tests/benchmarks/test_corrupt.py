"""What corrupting existing pictures costs: 320x240, one compositor recipe, one core.

Processor time of all processes, so that a busy machine does not count. Where
``ROBUSTCLEVR_IMAGECORRUPTIONS`` names an interpreter that has imagecorruptions (``make
bench-corrupt`` makes one), its corruptions of the same name are timed in the same run.
"""

import json
import os
import resource
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robustclevr.pictures import PictureOptions
from robustclevr.recipe import load_recipes
from robustclevr.run.blender_process import RendererCommand
from robustclevr.run.corrupt import prepare_corruption
from robustclevr.run.generate import GenerateOptions, generate

pytestmark = [pytest.mark.blender, pytest.mark.slow]

PEER = os.environ.get("ROBUSTCLEVR_IMAGECORRUPTIONS", "")
PICTURES = int(os.environ.get("ROBUSTCLEVR_BENCH_PICTURES", "60"))
LARGEST_MS = 40.0
SAME_NAMED = {
    "gaussian_blur": ("gaussian_blur", {"size": "1 + 8 * u"}),
    "defocus": ("defocus_blur", {"z": "1 + 3 * u"}),
    "motion_blur": ("motion_blur", {"distance": "0.02 + 0.05 * u"}),
    "pixelate": ("pixelate", {"scale": "0.2 + 0.2 * u"}),
    "jpeg": ("jpeg_compression", {"quality": "10 + 10 * u"}),
}
"""Our recipe: imagecorruptions' name, and what sets the recipe."""


def children_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
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


def print_nothing(_event):
    """No progress is shown."""


def dag_of(recipe, folder):
    _, sets = SAME_NAMED[recipe]
    lines = ["nodes:", f"  {recipe}:", '    noise: {u: "Uniform(0, 1)"}', "    set:"]
    lines += [f"      {name}: {formula}" for name, formula in sets.items()]
    path = folder / f"{recipe}.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def ours_ms(recipe, pictures, folder):
    """Return milliseconds a picture, the start of the processes not counted."""
    dag = dag_of(recipe, folder)
    few = folder / "few"
    few.mkdir()
    os.link(pictures / "0000.png", few / "0000.png")
    before = children_s()
    make(few, folder / "warm", dag)
    start_up = children_s() - before

    def measured(number):
        started = children_s()
        assert make(pictures, folder / f"out{number}", dag).exit_code == 0
        return (children_s() - started - start_up) / (PICTURES - 1) * 1000

    # The better of two: other work on the processor slows both down, never speeds one up.
    return min(map(measured, "ab"))


def test_a_picture_takes_hundredths_of_a_second(benchmark, pictures, tmp_path):
    each_ms = benchmark.pedantic(
        lambda: ours_ms("gaussian_blur", pictures, tmp_path), rounds=1, iterations=1
    )
    benchmark.extra_info.update(cpu_ms_each=round(each_ms, 2), pictures=PICTURES)
    print(f"\n{PICTURES} pictures, gaussian_blur, ms each: {each_ms:.1f}")  # noqa: T201
    # Printed against the aim; asserted far above it, as the machine may be busy with other work.
    assert each_ms <= 3 * LARGEST_MS


if PEER:

    @pytest.fixture(scope="module")
    def theirs(pictures):
        script = Path(__file__).with_name("imagecorruptions_ms.py")
        run = subprocess.run(
            [PEER, "-W", "ignore", str(script), str(pictures)],
            check=True,
            capture_output=True,
            text=True,
        )
        return json.loads(run.stdout)

    @pytest.mark.parametrize("recipe", SAME_NAMED)
    def test_beside_imagecorruptions(recipe, theirs, pictures, tmp_path):
        name, _ = SAME_NAMED[recipe]
        ours = ours_ms(recipe, pictures, tmp_path)
        print(f"\n{recipe}: {ours:.1f} ms; imagecorruptions' {name}: {theirs[name]} ms")  # noqa: T201
        assert ours > 0.0
