"""A small real spec, and a stand-in at the edge of the Blender process."""

from dataclasses import replace
from pathlib import Path

import pytest

from robustclevr.recipe import load_recipes
from robustclevr.records import SceneOptions
from robustclevr.run.blender_process import RendererCommand
from robustclevr.run.generate import GenerateOptions, generate
from robustclevr.spec import DatasetSpec, RenderOptions, SplitSpec, load_dag

STAND_IN = Path(__file__).with_name("stand_in_worker.py")
HEIGHT, WIDTH = 24, 32


def make_split(name="test", samples=5, shard_size=2, dag="tree-uniform", **changes):
    loaded = load_dag(dag, load_recipes()) if dag else None
    document = {
        "samples": samples,
        "family": "clevr",
        "dag": None if loaded is None else loaded.document,
        "emit": "every-node",
        "render": {"height": HEIGHT, "width": WIDTH, "samples": 1, "denoise": False},
        "outputs": ["image", "mask"],
        "shard_size": shard_size,
    }
    split = SplitSpec(
        name=name,
        samples=samples,
        family="clevr",
        dag=loaded,
        emit="every-node",
        scene=SceneOptions((3, 5), "clevr", "none", 20, 0.25, 0.4, 2000),
        render=RenderOptions(HEIGHT, WIDTH, 1, denoise=False),
        outputs=("image", "mask"),
        shard_size=shard_size,
        document=document,
    )
    return replace(split, **changes)


def make_spec(*splits, seed=0):
    return DatasetSpec("tiny", "", "", "CC-BY-4.0", seed, splits or (make_split(),), "tiny.yaml")


@pytest.fixture(scope="session")
def recipes():
    return load_recipes()


@pytest.fixture
def options():
    return GenerateOptions(workers=1, device="cpu", command=RendererCommand(bootstrap=str(STAND_IN)))


@pytest.fixture
def run(recipes, options):
    """Generate into a folder and return summary and events."""

    def run(out, spec=None, **changes):
        events = []
        chosen = replace(options, **changes)
        summary = generate(spec or make_spec(), recipes, out, chosen, events.append)
        return summary, events

    return run


def tree(root: Path) -> dict[str, bytes]:
    """Every file below a folder but receipts, which hold timings."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.endswith(".receipt.json")
    }
