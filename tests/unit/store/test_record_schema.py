"""Every kind of record fits its published schema, and what is wrong with one does not."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from robustclevr.pictures import Mask, PictureOptions
from robustclevr.plan import ClipPlanner, PicturePlanner, Planner
from robustclevr.recipe import load_recipes
from robustclevr.records import LinearImage, Render, SourcePicture
from robustclevr.run.clips import encode_clip
from robustclevr.scenes import amodal_masks, scene_to_clevr
from robustclevr.spec import SplitSpec, list_datasets, load_dataset
from robustclevr.store.pictures import picture_members
from robustclevr.store.record_schema import RECORD_SCHEMAS
from robustclevr.store.sample import sample_members
from robustclevr.verify.schemas import SchemaCheck

ROOT = Path(__file__).resolve().parents[3]
RECIPES = load_recipes()
SMALL = ("render.height=24", "render.width=32")
"""Overrides of image families: no pixel of them is rendered here."""

MORE = {
    "worst": "family: clevr\ndag: chain-halfnormal\nsplits: {test: {samples: 2, worst_case: "
    "{metric: ssim, over: [gamma.gamma], budget: 2}}}\n",
    "frames": "family: vmds\nvideo: {frames: 2}\nper: frame\noutputs: [image, flow]\n"
    "dag: {nodes: {gamma: {noise: {h: HalfNormal(1)}, set: {gamma: 1 + h}}}}\n"
    "splits: {test: {samples: 2}}\n",
    "crossing": "family: vmds\nscenario: enter_exit\nsplits: {test: {samples: 2}}\n",
}


def scene_record(split: SplitSpec) -> bytes:
    planner = Planner(split, RECIPES, root_seed=0)
    choice = None
    if planner.must_choose:
        choice = planner.choose(planner.probe(0)[1], [0.9, 0.8])
    plan = planner.plan(0, choice)
    size = (plan.settings.height, plan.settings.width)
    pixels, labels = np.zeros((*size, 3), np.float32), np.zeros(size, np.uint8)
    images = tuple(LinearImage(image.variant, pixels, None) for image in plan.images)
    render = Render(
        images, labels, None, None, None, seconds={}, renders=1, versions={}, device="cpu"
    )
    whole = amodal_masks(plan.scene.objects, plan.scene.camera, *size)
    scene = scene_to_clevr(plan.scene)
    return sample_members(plan, render, scene=scene, whole=whole, recipes=RECIPES)["json"]


def clip_record(split: SplitSpec) -> bytes:
    plan = ClipPlanner(split, RECIPES, root_seed=0).plan(0)
    return encode_clip(plan, split.video, RECIPES)[0]["json"]


def validated(name: str, data: bytes) -> dict:
    record = json.loads(data)
    jsonschema.validate(record, RECORD_SCHEMAS[name](), jsonschema.Draft7Validator)
    assert list(SchemaCheck(name)(record)) == []
    return record


@pytest.mark.parametrize("name", list_datasets())
def test_every_dataset_of_the_catalogue(name):
    clips = load_dataset(name, RECIPES).splits[0].video is not None
    for split in load_dataset(name, RECIPES, overrides=() if clips else SMALL).splits[:2]:
        kind = "clip-record" if clips else "record"
        validated(kind, clip_record(split) if clips else scene_record(split))


@pytest.mark.parametrize("name", MORE)
def test_other_splits(tmp_path, name):
    (tmp_path / "spec.yaml").write_text(MORE[name])
    (split,) = load_dataset(tmp_path / "spec.yaml", RECIPES).splits
    kind, make = ("record", scene_record) if name == "worst" else ("clip-record", clip_record)
    validated(kind, make(split))


@pytest.mark.parametrize("masked", [False, True])
def test_corrupted_pictures(tmp_path, masked):
    (tmp_path / "spec.yaml").write_text(
        "family: clevr\ndag: rare\nsplits: {test: {samples: 2}}\n",
    )
    (split,) = load_dataset(tmp_path / "spec.yaml", RECIPES).splits
    split = replace(split, pictures=PictureOptions("", None, "numpy"))
    picture = SourcePicture("a.png", "0" * 64, 4, 6, "RGB", 8, "a.png" if masked else None)
    plan = PicturePlanner(split, RECIPES, root_seed=0).plan(0, picture)
    made = [LinearImage(i.variant, np.zeros((4, 6, 3), np.float32), None) for i in plan.images]
    mask = Mask(np.eye(4, 6, dtype=np.uint8), (255,)) if masked else None
    validated("picture-record", picture_members(plan, made, mask, RECIPES)["json"])


@pytest.fixture(scope="module")
def records():
    demo = load_dataset("demo", RECIPES, overrides=SMALL).splits[0]
    clips = load_dataset("vmds", RECIPES).splits[0]
    return {
        "record": json.loads(scene_record(demo)),
        "clip-record": json.loads(clip_record(clips)),
    }


WRONG = [
    ("record", ("index",), -1),
    ("record", ("seed",), 0.5),
    ("record", ("split",), "Test"),
    ("record", ("log_density",), "low"),
    ("record", ("plan", "settings", "samples"), 0),
    ("record", ("plan", "images", 1, "steps", 0, "severity"), 1.5),
    ("record", ("objects", 0, "visible_fraction"), -0.1),
    ("record", ("objects", 0, "box"), [0, 1, 2]),
    ("record", ("scene", "camera", "position"), [1.0, 2.0]),
    ("record", ("more",), 1),
    ("record", ("plan", "draw", "nodes", "glare", "more"), 1),
    ("clip-record", ("sprites", 0, "color", 0), [0, 0, "red"]),
    ("clip-record", ("sprites", 0, "visibility", 0), 1.1),
    ("clip-record", ("plan", "clip", "background"), [0, 0, 256]),
    ("clip-record", ("plan", "options", "edges"), "soft"),
    ("clip-record", ("family",), "clevr"),
]


@pytest.mark.parametrize(("name", "path", "value"), WRONG)
def test_what_does_not_fit(records, name, path, value):
    record = copy.deepcopy(records[name])
    inner = record
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    (problem,) = SchemaCheck(name)(record)
    assert str(path[0]) in problem.what
    assert not jsonschema.Draft7Validator(RECORD_SCHEMAS[name]()).is_valid(record)


@pytest.mark.parametrize("key", ["index", "plan", "objects", "nodes"])
def test_nothing_may_be_missing(records, key):
    record = {name: value for name, value in records["record"].items() if name != key}
    (problem,) = SchemaCheck("record")(record)
    assert key in problem.what


@pytest.mark.parametrize("name", RECORD_SCHEMAS)
def test_the_schema_is_a_schema_and_the_one_in_docs(name):
    schema = RECORD_SCHEMAS[name]()
    jsonschema.Draft7Validator.check_schema(schema)
    stored = json.loads((ROOT / "docs" / "schema" / f"{name}.schema.json").read_text())
    assert stored == schema, f"run: robustclevr schema {name} > docs/schema/{name}.schema.json"


def test_fields_have_words_and_units():
    defs = RECORD_SCHEMAS["record"]()["$defs"]
    assert defs["SceneObject"]["properties"]["radius"]["description"].endswith("[m]")
    assert "[0, 1]; 0 is clean" in defs["NodeDraw"]["properties"]["severity"]["description"]
