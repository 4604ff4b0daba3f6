"""Dataset files: defaults, overrides in splits and by option, and what wrong ones say."""

from __future__ import annotations

import json
import pickle
import typing
from collections.abc import Mapping
from pathlib import Path

import pytest

from robustclevr.errors import SpecError
from robustclevr.recipe import LoadedRecipe
from robustclevr.records import SceneOptions, canonical_json
from robustclevr.spec import (
    RenderOptions,
    list_dags,
    load_dataset,
    require_built,
    split_from_document,
)
from robustclevr.spec.split import SPRITE_FAMILIES
from robustclevr.spec.video_schema import VideoFile
from robustclevr.video import options

Recipes = Mapping[str, LoadedRecipe]

DAG = """\
nodes:
  clouds:
    noise: {u: DiscreteUniform(100), h: HalfNormal(0.3)}
    set: {factor: 'where(u > 0.75, h, 0)'}
  weather:
    latent: true
    noise: {w: HalfNormal(1)}
    set: {value: w}
  glare:
    parents: [clouds]
    noise: {v: HalfNormal(1)}
    set: {mix: v - 1, kind: star, fit: mix > 0}
"""

PLAIN = "family: clevr\nsplits: {test: {samples: 3}}\n"


@pytest.fixture
def write(tmp_path: Path):
    (tmp_path / "mine.yaml").write_text(DAG)

    def write_file(text: str) -> Path:
        path = tmp_path / "x.yaml"
        path.write_text(text)
        return path

    return write_file


def problems(path: Path, recipes: Recipes, *overrides: str, seed: int | None = None) -> list[str]:
    with pytest.raises(SpecError) as caught:
        load_dataset(path, recipes, overrides=overrides, seed=seed)
    assert caught.value.exit_code == 2
    return [line.replace(f"{path.parent}/", "") for line in str(caught.value).splitlines()]


def test_defaults(write, recipes: Recipes) -> None:
    dataset = load_dataset(write(PLAIN), recipes)
    assert (dataset.name, dataset.seed, dataset.licence) == ("x", 0, "CC-BY-4.0")
    split = dataset.split("test")
    assert split.scene == SceneOptions((3, 10), "clevr", "none", 200, 0.25, 0.4, 2000)
    assert split.render == RenderOptions(height=240, width=320, samples=512, denoise=False)
    assert (split.samples, split.dag, split.emit) == (3, None, ("clean",))
    assert (split.outputs, split.shard_size) == (("image", "mask"), 64)
    assert dict(split.interventions) == {}
    require_built(split)


def test_a_dataset_with_a_dag_emits_every_node(write, recipes: Recipes) -> None:
    dataset = load_dataset(write(f"dag: mine.yaml\n{PLAIN}"), recipes)
    split = dataset.split("test")
    assert split.emit == "every-node"
    assert split.dag is not None
    assert split.dag.name == "mine"


def test_a_split_overrides_the_top_key_by_key(write, recipes: Recipes) -> None:
    text = """\
family: clevr
name: both
dag: mine.yaml
scene: {objects: [2, 4], palette: cogent-a}
render: {height: 64, samples: 8}
shard_size: 5
splits:
  train: {samples: 10, dag: null, emit: [clean]}
  test-b:
    samples: 20
    scene: {palette: cogent-b}
    render: {width: 96}
    outputs: [image]
    shard_size: 7
    emit: [joint, glare]
"""
    dataset = load_dataset(write(text), recipes)
    assert [split.name for split in dataset.splits] == ["train", "test-b"]
    train, test = dataset.splits
    assert (train.dag, train.emit, train.shard_size) == (None, ("clean",), 5)
    assert (train.scene.objects, train.scene.palette) == ((2, 4), "cogent-a")
    assert (test.scene.objects, test.scene.palette) == ((2, 4), "cogent-b")
    assert test.render == RenderOptions(height=64, width=96, samples=8, denoise=False)
    assert (test.emit, test.outputs, test.shard_size) == (("joint", "glare"), ("image",), 7)


def test_every_node_of_no_dag_is_the_clean_image(write, recipes: Recipes) -> None:
    text = (
        "family: clevr\ndag: mine.yaml\nemit: every-node\nsplits:\n  a: {samples: 1, dag: null}\n"
    )
    assert load_dataset(write(text), recipes).split("a").emit == ("clean",)


def test_a_dag_may_stand_in_the_file(write, recipes: Recipes) -> None:
    text = PLAIN + "dag:\n  nodes:\n    gamma:\n      set: {gamma: 2}\n"
    dag = load_dataset(write(text), recipes).split("test").dag
    assert dag is not None
    assert dag.nodes[0].line == 5
    wrong = PLAIN + "dag:\n  nodes:\n    gamma:\n      set: {gama: 2}\n"
    (line,) = problems(write(wrong), recipes)
    assert line.startswith("x.yaml:6: nodes.gamma.set.gama: recipe 'gamma' has no parameter")


def test_the_options_of_the_command_line(write, recipes: Recipes) -> None:
    overrides = [
        "splits.test.samples=6",
        "shard_size=2",
        "render.samples=16",
        "scene.objects=[1, 2]",
        "dag=null",
        "seed=3",
    ]
    path = write(f"dag: mine.yaml\n{PLAIN}")
    dataset = load_dataset(path, recipes, overrides=overrides, seed=7)
    (split,) = dataset.splits
    assert (dataset.seed, split.samples, split.shard_size) == (7, 6, 2)
    assert (split.render.samples, split.render.height) == (16, 240)
    assert (split.scene.objects, split.dag) == ((1, 2), None)
    assert load_dataset(path, recipes, overrides=overrides).seed == 3


def test_seed_zero_is_a_seed(write, recipes: Recipes) -> None:
    assert load_dataset(write(f"seed: 5\n{PLAIN}"), recipes, seed=0).seed == 0


def test_an_option_reaches_a_key_with_a_dot(write, recipes: Recipes) -> None:
    flat = "do: {glare.mix: 0.5}"
    nested = "do: {glare: {mix: 0.5}}"
    for written in (flat, nested):
        text = f"family: clevr\ndag: mine.yaml\nsplits:\n  a: {{samples: 1, {written}}}\n"
        dataset = load_dataset(write(text), recipes, overrides=["splits.a.do.glare.mix=0.25"])
        assert dataset.split("a").interventions == {"do": {"glare.mix": 0.25}}


def test_a_dag_on_the_command_line_starts_where_the_person_stands(
    write, recipes: Recipes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "other.yaml").write_text("name: other\nnodes: {gamma: {}}\n")
    monkeypatch.chdir(tmp_path / "here")
    dataset = load_dataset(write(PLAIN), recipes, overrides=["dag=other.yaml"])
    dag = dataset.split("test").dag
    assert dag is not None
    assert dag.name == "other"


INTERVENTIONS = """\
family: clevr
dag: mine.yaml
splits:
  test: {samples: 1}
  do: {samples: 1, do: {glare: {kind: streaks, fit: true}, weather.value: 2}}
  shift:
    samples: 1
    shift:
      clouds.h: HalfNormal(0.6)
      glare.mix: 1 + v + clouds.factor
  given: {samples: 1, given: clouds.factor > 0.1 and glare.severity < 1}
  twins: {samples: 1, twin_of: test, do: {clouds.factor: 0}}
  tail: {samples: 1, tail: {below: 0.01}}
  ood: {samples: 1, ood: {clouds.factor: [4.0, 5]}}
  grid: {samples: 1, grid: {glare.mix: [0, 0.5, 1]}}
  worst: {samples: 1, worst_case: {metric: ssim, over: [glare.mix], budget: 32}}
"""


def test_every_kind_of_split_loads(write, recipes: Recipes) -> None:
    dataset = load_dataset(write(INTERVENTIONS), recipes)
    found = {split.name: dict(split.interventions) for split in dataset.splits}
    assert found == {
        "test": {},
        "do": {"do": {"glare.kind": "streaks", "glare.fit": True, "weather.value": 2}},
        "shift": {"shift": {"clouds.h": "HalfNormal(0.6)", "glare.mix": "1 + v + clouds.factor"}},
        "given": {"given": "clouds.factor > 0.1 and glare.severity < 1"},
        "twins": {"twin_of": "test", "do": {"clouds.factor": 0}},
        "tail": {"tail": {"of": "joint", "below": 0.01}},
        "ood": {"ood": {"clouds.factor": [4.0, 5]}},
        "grid": {"grid": {"glare.mix": [0, 0.5, 1]}},
        "worst": {"worst_case": {"metric": "ssim", "over": ["glare.mix"], "budget": 32}},
    }
    for split in dataset.splits:
        require_built(split)
    assert dataset.split("grid").samples == 3 * dataset.split("test").samples


def test_a_split_survives_json_with_sorted_keys_and_pickle(write, recipes: Recipes) -> None:
    for split in load_dataset(write(INTERVENTIONS), recipes).splits:
        document = json.loads(canonical_json(split.document))
        again = split_from_document(split.name, document, recipes, file="dataset.json")
        assert again.document == split.document
        assert (again.samples, again.emit, again.scene, again.render) == (
            split.samples,
            split.emit,
            split.scene,
            split.render,
        )
        assert pickle.loads(pickle.dumps(split)) == split  # noqa: S301 - our own bytes


def test_the_document_is_the_same_whichever_way_it_is_spelt(write, recipes: Recipes) -> None:
    one = (
        "family: clevr\nshard_size: 9\n"
        "splits: {a: {samples: 1, dag: mine.yaml, do: {glare: {mix: 0}}}}\n"
    )
    two = (
        "family: clevr\nsummary: other words\ndag: ./mine.yaml\nrender: {height: 240}\n"
        "splits: {a: {samples: 1, emit: every-node, shard_size: 9, do: {glare.mix: 0}}}\n"
    )
    first, second = (load_dataset(write(text), recipes).split("a").document for text in (one, two))
    assert canonical_json(first) == canonical_json(second)
    assert first["samples"] == 1


VIDEO = """\
family: vmds
video: {frames: 20, counts: balanced, edges: hard, sigma_px: 50}
outputs: [image, mask, flow]
splits:
  train: {samples: 1}
  a: {samples: 1, scenario: occlusion}
  b: {samples: 1, scenario: [color, size], video: {height: 128}}
  c: {samples: 1, scenario: {rotation: {step_deg: [5, 40]}}}
"""


def test_video_options_are_resolved(write, recipes: Recipes) -> None:
    dataset = load_dataset(write(VIDEO), recipes)
    documents = [split.document for split in dataset.splits]
    assert [document["scenario"] for document in documents[:2]] == [{}, {"occlusion": {}}]
    assert list(documents[2]["scenario"]) == ["size", "color"]
    assert documents[3]["scenario"] == {"rotation": {"step_deg": [5.0, 40.0]}}
    video = documents[2]["video"]
    assert (video["frames"], video["height"], video["width"]) == (20, 128, 64)
    assert (video["edges"], video["sigma_px"], video["sprites"]) == ("hard", 50.0, [1, 4])
    assert "scene" not in documents[2]
    assert dataset.split("b").video.height == 128
    assert dataset.split("a").video.sprites == (2, 4)
    assert dataset.split("train").outputs == ("image", "mask", "amodal", "flow")
    assert {split.shard_size for split in dataset.splits} == {100}
    for split in dataset.splits:
        require_built(split)
        again = split_from_document(split.name, split.document, recipes, file="dataset.json")
        assert canonical_json(again.document) == canonical_json(split.document)
        assert again.video == split.video


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("family: vor", "family 'vor' is not built yet; this version makes clevr, vmds, "),
        ("family: clevrtex", "family 'clevrtex' is not built yet; this version makes clevr, "),
        (
            "family: vmds\ndag: mine.yaml",
            "splits.a.worst_case: 'worst_case' on clips is not built yet; choose the other splits",
        ),
    ],
)
def test_what_loads_and_cannot_be_made_yet(write, recipes: Recipes, text: str, message) -> None:
    worst = "worst_case: {metric: ssim, over: [glare.mix], budget: 3}"
    own = f", {worst}" if "dag" in text else ""
    dataset = load_dataset(write(f"{text}\nsplits: {{a: {{samples: 1{own}}}}}\n"), recipes)
    with pytest.raises(SpecError) as caught:
        require_built(dataset.split("a"))
    assert message in str(caught.value)


def test_paths_of_clips_start_at_the_file_and_on_the_command_line_here(
    write, recipes: Recipes, tmp_path, monkeypatch
) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "here" / "others").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    file = write("family: texvmds\nvideo: {textures: pictures}\nsplits:\n  a: {samples: 1}\n")
    one = load_dataset(file, recipes).split("a")
    assert Path(one.video.textures) == file.parent / "pictures"
    assert one.document["video"]["textures"] == "pictures"
    two = load_dataset(file, recipes, overrides=["video.textures=others"]).split("a")
    assert Path(two.video.textures) == tmp_path / "here" / "others"


def split(text: str) -> str:
    top = "family: clevr\ndag: mine.yaml\nsplits:\n  test: {samples: 1}\n"
    return f"{top}  a:\n    samples: 9\n    {text}\n"


FAMILIES = "allowed: clevr, clevrtex, spmot, texvmds, vmds, vor"

ERRORS = {
    "no family": (
        "splits: {a: {samples: 1}}\n",
        f"x.yaml:1: family: 'family' is missing; {FAMILIES}",
    ),
    "unknown family": (
        "family: cleve\nsplits: {a: {samples: 1}}\n",
        f"x.yaml:1: family: 'cleve' is not allowed; did you mean 'clevr'? {FAMILIES}",
    ),
    "no splits": (
        "family: clevr\n",
        "x.yaml: splits: there are no splits; such as test: {samples: 1000}",
    ),
    "no samples": (
        "family: clevr\nsplits:\n  a: {}\n",
        "x.yaml:3: splits.a: needs 'samples'; such as samples: 1000",
    ),
    "samples -1": (
        "family: clevr\nsplits:\n  a: {samples: -1}\n",
        "x.yaml:3: splits.a.samples: must be at least 1, got -1",
    ),
    "samples 0": (
        "family: clevr\nsplits:\n  a: {samples: 0}\n",
        "x.yaml:3: splits.a.samples: must be at least 1, got 0",
    ),
    "samples 1.5": (
        "family: clevr\nsplits:\n  a: {samples: 1.5}\n",
        "x.yaml:3: splits.a.samples: must be a whole number, got 1.5",
    ),
    "samples in words": (
        "family: clevr\nsplits:\n  a: {samples: ten}\n",
        "x.yaml:3: splits.a.samples: must be a whole number, got 'ten'",
    ),
    "samples true": (
        "family: clevr\nsplits:\n  a: {samples: true}\n",
        "x.yaml:3: splits.a.samples: must be a whole number, got true",
    ),
    "split that is nothing": (
        "family: clevr\nsplits:\n  a:\n",
        "x.yaml:3: splits.a: must be a mapping of 'key: value', got nothing",
    ),
    "split with a bad name": (
        "family: clevr\nsplits:\n  ../a: {samples: 1}\n",
        (
            "x.yaml:3: splits.../a: '../a' is not a valid name; "
            "lower-case letters, digits, - and _, a letter first: it names a folder"
        ),
    ),
    "seed below zero": (f"seed: -1\n{PLAIN}", "x.yaml:1: seed: must be at least 0, got -1"),
    "objects the wrong way": (
        f"scene: {{objects: [5, 3]}}\n{PLAIN}",
        "x.yaml:1: scene.objects: must be [least, most], got [5, 3]; 1 <= least <= most <= 255",
    ),
    "too many objects": (
        f"scene: {{objects: [5, 256]}}\n{PLAIN}",
        "x.yaml:1: scene.objects: must be [least, most], got [5, 256]; 1 <= least <= most <= 255",
    ),
    "unknown palette": (
        f"scene: {{palette: cogent-c}}\n{PLAIN}",
        (
            "x.yaml:1: scene.palette: 'cogent-c' is not allowed; did you mean 'cogent-b'? "
            "allowed: clevr, cogent-a, cogent-b"
        ),
    ),
    "unknown key of render": (
        f"render: {{hight: 3}}\n{PLAIN}",
        (
            "x.yaml:1: render.hight: unknown key 'hight'; did you mean 'height'? "
            "allowed: denoise, height, samples, width"
        ),
    ),
    "image too small": (
        f"render: {{width: 15}}\n{PLAIN}",
        "x.yaml:1: render.width: must be at least 16, got 15",
    ),
    "no paths": (
        f"render: {{samples: 0}}\n{PLAIN}",
        "x.yaml:1: render.samples: must be at least 1, got 0",
    ),
    "shard of nothing": (
        f"shard_size: 0\n{PLAIN}",
        "x.yaml:1: shard_size: must be at least 1, got 0",
    ),
    "unknown output": (
        f"outputs: [image, msk]\n{PLAIN}",
        (
            "x.yaml:1: outputs.1: 'msk' is not allowed; did you mean 'mask'? "
            "allowed: amodal, background, depth, flow, image, mask, normal"
        ),
    ),
    "no image": (
        f"outputs: [mask]\n{PLAIN}",
        "x.yaml:1: outputs: 'image' is missing; images are always written: put it into the list",
    ),
    "flow of a still": (
        f"outputs: [image, flow]\n{PLAIN}",
        (
            "x.yaml:1: outputs: 'flow' has no meaning for family 'clevr'; "
            "it belongs to vmds, texvmds, spmot, vor"
        ),
    ),
    "depth of sprites": (
        "family: vmds\noutputs: [image, depth]\nsplits: {a: {samples: 1}}\n",
        (
            "x.yaml:2: outputs: 'depth' has no meaning for family 'vmds'; "
            "it belongs to clevr, clevrtex"
        ),
    ),
    "video of a still": (
        f"video: {{frames: 3}}\n{PLAIN}",
        (
            "x.yaml:1: video: 'video' has no meaning for family 'clevr'; "
            "it belongs to vmds, texvmds, spmot, vor"
        ),
    ),
    "frames of a still": (
        f"per: frame\n{PLAIN}",
        (
            "x.yaml:1: per: 'per' has no meaning for family 'clevr'; "
            "it belongs to vmds, texvmds, spmot, vor"
        ),
    ),
    "per what": (
        "family: vmds\nper: second\nsplits: {a: {samples: 1}}\n",
        "x.yaml:2: per: 'second' is not allowed; allowed: clip, frame",
    ),
    "frames without a model": (
        "family: vmds\nsplits:\n  a: {samples: 1, per: frame}\n",
        "x.yaml:3: splits.a.per: 'per' needs a DAG; name one under 'dag'",
    ),
    "twin of frames with one draw": (
        (
            "family: vmds\ndag: mine.yaml\nper: frame\nsplits:\n  test: {samples: 1}\n"
            "  a: {samples: 1, twin_of: test, per: clip}\n"
        ),
        (
            "x.yaml:6: splits.a.twin_of: 'per' differs from that of 'test', whose scenes and noise "
            "a twin has; leave 'per' out of both splits"
        ),
    ),
    "twin of fewer frames": (
        (
            "family: vmds\ndag: mine.yaml\nper: frame\nsplits:\n  test: {samples: 1}\n"
            "  a: {samples: 1, twin_of: test, video: {frames: 3}}\n"
        ),
        (
            "x.yaml:6: splits.a.twin_of: 'video.frames' differs from that of 'test', whose scenes "
            "and noise a twin has; leave 'video.frames' out of both splits"
        ),
    ),
    "missing dag file": (
        f"dag: no/such.yaml\n{PLAIN}",
        "x.yaml:1: dag: there is no file 'no/such.yaml'; paths start at this file's folder",
    ),
    "emit of an unknown node": (
        split("emit: [clean, glar]"),
        (
            "x.yaml:7: splits.a.emit.1: there is no node 'glar'; did you mean 'glare'? "
            "allowed: clean, clouds, glare, joint, leaves"
        ),
    ),
    "emit of a latent node": (
        split("emit: [weather]"),
        "x.yaml:7: splits.a.emit.0: 'weather' is a latent node and has no image",
    ),
    "emit without a dag": (
        f"emit: [leaves]\n{PLAIN}",
        "x.yaml:1: emit.0: 'leaves' needs a DAG; name one under 'dag', or emit: [clean]",
    ),
    "emit of a word": (
        split("emit: clean"),
        (
            "x.yaml:7: splits.a.emit: must be 'every-node' or a list, got 'clean'; "
            "write [clean]; allowed: every-node, or a list"
        ),
    ),
    "do of an unknown node": (
        split("do: {glre.mix: 1}"),
        (
            "x.yaml:7: splits.a.do.glre.mix: there is no node 'glre'; did you mean 'glare'? "
            "allowed: clouds, glare, weather"
        ),
    ),
    "do of an unknown parameter": (
        split("do: {glare.mx: 1}"),
        (
            "x.yaml:7: splits.a.do.glare.mx: node 'glare' has no parameter or noise 'mx'; "
            "did you mean 'mix'? allowed: fit, kind, mix, v"
        ),
    ),
    "do of a noise": (
        split("do: {glare.v: 1}"),
        "x.yaml:7: splits.a.do.glare.v: 'v' is a noise; a noise is replaced under 'shift'",
    ),
    "do with a formula": (
        split("do: {glare.mix: 1 + v}"),
        (
            "x.yaml:7: splits.a.do.glare.mix: must be a number, got '1 + v'; "
            "a formula stands under 'shift'"
        ),
    ),
    "do twice": (
        split("do: {glare.mix: 1, glare: {mix: 2}}"),
        "x.yaml:7: splits.a.do.glare.mix: 'glare.mix' stands twice",
    ),
    "do without a dag": (
        "family: clevr\nsplits:\n  a: {samples: 1, do: {glare.mix: 1}}\n",
        "x.yaml:3: splits.a.do: 'do' needs a DAG; name one under 'dag'",
    ),
    "shift to no distribution": (
        split("shift: {clouds.h: HalfNormal(0)}"),
        (
            "x.yaml:7: splits.a.shift.clouds.h: HalfNormal: scale must be a number above 0, got 0 "
            "at column 1 of 'HalfNormal(0)'"
        ),
    ),
    "shift that reads a stranger": (
        split("shift: {clouds.factor: glare.mix}"),
        (
            "x.yaml:7: splits.a.shift.clouds.factor: 'glare.mix' is read, but 'glare' is not a "
            "parent; add glare to the parents of clouds"
        ),
    ),
    "shift that reads too early": (
        split("shift: {glare.mix: where(fit, 1, 2)}").replace(
            "where(fit, 1, 2)", "'where(fit, 1, 2)'"
        ),
        (
            "x.yaml:7: splits.a.shift.glare.mix: 'fit' is read before it is set; "
            "a formula reads the noise of its node and the parameters set above it"
        ),
    ),
    "given of a bare name": (
        split("given: u > 1"),
        "x.yaml:7: splits.a.given: unknown name 'u'; write node.parameter",
    ),
    "given of an unknown node": (
        split("given: cloud.factor > 1"),
        (
            "x.yaml:7: splits.a.given: unknown node 'cloud'; did you mean 'clouds'? "
            "allowed: clouds, glare, weather"
        ),
    ),
    "twin of nothing": (
        split("twin_of: tset"),
        "x.yaml:7: splits.a.twin_of: there is no split 'tset'; did you mean 'test'? allowed: test",
    ),
    "twin of itself": (
        split("twin_of: a"),
        "x.yaml:7: splits.a.twin_of: a split is not its own twin; allowed: test",
    ),
    "exclusive kinds": (
        split("tail: {below: 0.1}\n    ood: {glare.mix: [2, 3]}"),
        "x.yaml:8: splits.a.ood: tail and ood exclude each other; make two splits of them",
    ),
    "tail of everything": (
        split("tail: {below: 1}"),
        "x.yaml:7: splits.a.tail.below: must be below 1.0, got 1",
    ),
    "tail of an unknown node": (
        split("tail: {of: jont, below: 0.1}"),
        (
            "x.yaml:7: splits.a.tail.of: there is no node 'jont'; did you mean 'joint'? "
            "allowed: clouds, glare, joint, weather"
        ),
    ),
    "box the wrong way": (
        split("ood: {glare.mix: [3, 2]}"),
        "x.yaml:7: splits.a.ood.glare.mix: must be [low, high] with low < high, got [3, 2]",
    ),
    "box of a word": (
        split("ood: {glare.kind: [1, 2]}"),
        "x.yaml:7: splits.a.ood.glare.kind: 'kind' is not a number",
    ),
    "grid of a word that is no choice": (
        split("grid: {glare.kind: [star, moon]}"),
        (
            "x.yaml:7: splits.a.grid.glare.kind: 'moon' is not a choice of kind; "
            "allowed: star, streaks"
        ),
    ),
    "grid of nothing": (
        split("grid: {glare.mix: []}"),
        "x.yaml:7: splits.a.grid.glare.mix: must be a list of values, got []",
    ),
    "worst case without a budget": (
        split("worst_case: {metric: ssim, over: [glare.mix]}"),
        "x.yaml:7: splits.a.worst_case: needs 'budget'",
    ),
    "unknown metric": (
        split("worst_case: {metric: sim, over: [glare.mix], budget: 3}"),
        (
            "x.yaml:7: splits.a.worst_case.metric: 'sim' is not allowed; did you mean 'ssim'? "
            "allowed: psnr, ssim"
        ),
    ),
    "unknown scenario": (
        "family: vmds\nsplits:\n  a: {samples: 1, scenario: rotate}\n",
        (
            "x.yaml:3: splits.a.scenario: unknown scenario 'rotate'; did you mean 'rotation'? "
            "allowed: color, crowd, enter_exit, large, low_contrast, mixed, occlusion, rotation, "
            "same_color, size, small, swap"
        ),
    ),
    "no frames": (
        "family: vmds\nvideo:\n  height: 32\n  frames: 0\nsplits: {a: {samples: 1}}\n",
        "x.yaml:4: video.frames: got 0; write a whole number from 1 to 1000",
    ),
    "200 sprites in one split": (
        "family: vmds\nsplits:\n  a:\n    samples: 1\n    video:\n      sprites: [1, 200]\n",
        (
            "x.yaml:6: splits.a.video.sprites: got [1, 200]; two whole numbers, "
            "0 <= least <= most <= 32; more sprites would hide one another"
        ),
    ),
    "contradicting scenarios": (
        "family: vmds\nscenario: [small, large]\nsplits:\n  a: {samples: 1}\n  b: {samples: 1}\n",
        "x.yaml:2: scenario: 'small' and 'large' both set the scale; leave one of them out",
    ),
    "an option that a scenario lacks": (
        "family: vmds\nsplits:\n  a: {samples: 1, scenario: {rotation: {step: [5, 40]}}}\n",
        (
            "x.yaml:3: splits.a.scenario.rotation: unknown option 'step'; "
            "did you mean 'step_deg'? allowed: step_deg"
        ),
    ),
    "no such folder of textures": (
        "family: texvmds\nvideo: {textures: no/such}\nsplits: {a: {samples: 1}}\n",
        (
            "x.yaml:2: video.textures: there is no folder 'no/such'; "
            "relative paths start at this file's folder"
        ),
    ),
    "a torch stream for vmds": (
        "family: vmds\nvideo: {stream: torch-seed-0}\nsplits: {a: {samples: 1}}\n",
        (
            "x.yaml:2: video.stream: 'torch-seed-0' belongs to Sprites-MOT; "
            "leave it out, or use family: spmot"
        ),
    ),
    "scene of a video": (
        "family: vmds\nsplits:\n  a: {samples: 1, scene: {objects: [1, 2]}}\n",
        (
            "x.yaml:3: splits.a.scene: 'scene' has no meaning for family 'vmds'; "
            "it belongs to clevr, clevrtex"
        ),
    ),
    "a variant of clevr": (
        f"scene: {{variant: camo}}\n{PLAIN}",
        "x.yaml:1: scene.variant: 'variant' has no meaning for family 'clevr'",
    ),
}


@pytest.mark.parametrize(("text", "expected"), ERRORS.values(), ids=ERRORS)
def test_a_wrong_file_has_one_exact_message(
    write, recipes: Recipes, text: str, expected: str
) -> None:
    assert problems(write(text), recipes) == [expected]


def test_an_unknown_dag_gets_the_nearest_spelling_and_the_list(write, recipes: Recipes) -> None:
    (line,) = problems(write(f"dag: tree-unifrom\n{PLAIN}"), recipes)
    start = "x.yaml:1: dag: there is no DAG called 'tree-unifrom'; did you mean 'tree-uniform'?"
    names = ", ".join(sorted(list_dags()))
    assert line == f"{start} allowed: {names}; a file is given by a path that ends in .yaml"


def test_an_unknown_key_of_a_split_gets_the_nearest_spelling(write, recipes: Recipes) -> None:
    first, second = problems(write("family: clevr\nsplits:\n  a: {sampels: 3}\n"), recipes)
    assert first.startswith(
        "x.yaml:3: splits.a.sampels: unknown key 'sampels'; did you mean 'samples'?"
    )
    assert second == "x.yaml:3: splits.a: needs 'samples'; such as samples: 1000"


def test_errors_of_the_file_and_of_its_dag_are_named_together(write, recipes: Recipes) -> None:
    path = write("family: clevr\ndag: wrong.yaml\nsplits:\n  a: {samples: 0}\n")
    (path.parent / "wrong.yaml").write_text("nodes:\n  gamma:\n    set: {gama: 1}\n")
    first, second = problems(path, recipes)
    assert first.startswith("wrong.yaml:3: nodes.gamma.set.gama: ")
    assert second.startswith("x.yaml:4: splits.a.samples: ")


def test_a_top_level_error_is_named_once_for_all_splits(write, recipes: Recipes) -> None:
    text = (
        "family: clevr\ndag: mine.yaml\nemit: [moon]\nsplits: {a: {samples: 1}, b: {samples: 1}}\n"
    )
    (line,) = problems(write(text), recipes)
    assert line.startswith("x.yaml:3: emit.0: there is no node 'moon'; ")


OPTIONS = {
    "no value": ("samples", "--set samples: is not PATH=VALUE; such as shard_size=2"),
    "no path": ("=3", "--set =3: is not PATH=VALUE; such as shard_size=2"),
    "unknown split": (
        "splits.tset.samples=3",
        "--set splits.tset.samples=3: there is no split 'tset'; did you mean 'test'? allowed: test",
    ),
    "wrong value": (
        "shard_size=x",
        "--set shard_size=x: shard_size: must be a whole number, got 'x'",
    ),
    "too deep": (
        "family.x=1",
        "--set family.x=1: family is not a mapping; set family itself",
    ),
    "broken brackets": (
        "scene.objects=[1",
        "--set scene.objects=[1:1: is not YAML: a bracket or brace is not closed",
    ),
    "missing dag": (
        "dag=./no.yaml",
        "--set dag=./no.yaml: dag: there is no file './no.yaml'; paths start at the working folder",
    ),
}


@pytest.mark.parametrize(("option", "expected"), OPTIONS.values(), ids=OPTIONS)
def test_a_wrong_option_is_named(write, recipes: Recipes, option: str, expected: str) -> None:
    assert problems(write(PLAIN), recipes, option) == [expected]


def test_a_misspelt_path_is_named(write, recipes: Recipes) -> None:
    (line,) = problems(write(PLAIN), recipes, "sahrd_size=2")
    assert line.startswith(
        "--set sahrd_size=2: sahrd_size: unknown key 'sahrd_size'; did you mean 'shard_size'?"
    )


def test_a_negative_seed_is_named(write, recipes: Recipes) -> None:
    (line,) = problems(write(PLAIN), recipes, seed=-1)
    assert line == "--seed -1: seed: must be at least 0, got -1"


def test_a_dataset_that_does_not_exist(recipes: Recipes) -> None:
    with pytest.raises(SpecError, match="called 'demmo'; did you mean 'demo'"):
        load_dataset("demmo", recipes)
    with pytest.raises(SpecError, match=r"^nowhere/x\.yaml: no such file$"):
        load_dataset("nowhere/x.yaml", recipes)


def test_the_words_of_clips_are_those_of_the_video_package() -> None:
    fields = VideoFile.model_fields
    for key, words in {
        "counts": options.COUNTS,
        "edges": options.EDGES,
        "stream": options.STREAMS,
        "sampling": options.SAMPLINGS,
    }.items():
        (literal, _) = typing.get_args(fields[key].annotation)
        assert typing.get_args(literal) == words
    assert {*options.DEFAULTS, "sigma_px", "margin_px"} == set(fields)
    assert options.FAMILIES == SPRITE_FAMILIES
