"""A small real spec, and a stand-in at the edge of the Blender process."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from robustclevr.plan import make_plan
from robustclevr.recipe import load_recipes
from robustclevr.records import SceneOptions
from robustclevr.run.blender_process import RendererCommand, RendererSetup
from robustclevr.run.generate import GenerateOptions, generate, renderer_setup
from robustclevr.run.job import Job
from robustclevr.run.prepare import split_fingerprints
from robustclevr.spec import DatasetSpec, RenderOptions, SplitSpec, load_dag

STAND_IN = RendererCommand(bootstrap=str(Path(__file__).with_name("stand_in_worker.py")))
HEIGHT, WIDTH = 24, 32


def _split(name="test", samples=5, shard_size=2, dag="tree-uniform", outputs=("image", "mask")):
    loaded = load_dag(dag, load_recipes()) if dag else None
    document = {
        "samples": samples,
        "family": "clevr",
        "dag": None if loaded is None else loaded.document,
        "render": {"height": HEIGHT, "width": WIDTH, "samples": 1, "denoise": False},
        "outputs": list(outputs),
        "shard_size": shard_size,
    }
    return SplitSpec(
        name=name,
        samples=samples,
        family="clevr",
        dag=loaded,
        emit="every-node",
        scene=SceneOptions((3, 5), "clevr", "none", 20, 0.25, 0.4, 2000),
        render=RenderOptions(HEIGHT, WIDTH, 1, denoise=False),
        outputs=outputs,
        shard_size=shard_size,
        document=document,
    )


def _spec(*splits, seed=0):
    return DatasetSpec("tiny", "", "", "CC-BY-4.0", seed, splits or (_split(),), "tiny.yaml")


@pytest.fixture(scope="session")
def make_split() -> Callable[..., SplitSpec]:
    """Return a split of five samples in shards of two, 32x24 pixels, with the paper's tree."""
    return _split


@pytest.fixture(scope="session")
def make_spec() -> Callable[..., DatasetSpec]:
    """Return a dataset of the given splits, or of the default one."""
    return _spec


@pytest.fixture(scope="session")
def recipes():
    return load_recipes()


@pytest.fixture(scope="session")
def stand_in() -> RendererSetup:
    return RendererSetup((), command=STAND_IN)


@pytest.fixture(scope="session")
def plans(recipes):
    """Three plans with every kind of output."""
    split = _split(outputs=("image", "mask", "amodal", "depth", "normal"))
    return [make_plan(split, recipes, root_seed=0, index=index) for index in range(3)]


@pytest.fixture
def options() -> GenerateOptions:
    return GenerateOptions(workers=1, device="cpu", command=STAND_IN)


@pytest.fixture
def make_job(recipes, options, tmp_path) -> Callable[..., Job]:
    """Return a job for a shard worker in this process."""

    def make_job(spec=None, root=None, **changes):
        spec = spec or _spec()
        return Job(
            root=root or tmp_path / "d",
            splits=spec.splits,
            fingerprints=split_fingerprints(spec.splits, recipes, spec.seed),
            root_seed=spec.seed,
            renderer=renderer_setup(recipes, 1, options),
            **changes,
        )

    return make_job


@pytest.fixture
def run(recipes, options):
    """Generate into a folder; return summary and events."""

    def run(out, spec=None, **changes):
        events = []
        chosen = replace(options, **changes)
        summary = generate(spec or _spec(), recipes, out, chosen, events.append)
        return summary, events

    return run


@pytest.fixture(scope="session")
def tree() -> Callable[[Path], dict[str, bytes]]:
    """Return every file below a folder but receipts, which hold timings."""

    def tree(root):
        return {
            str(path.relative_to(root)): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file() and not path.name.endswith(".receipt.json")
        }

    return tree
