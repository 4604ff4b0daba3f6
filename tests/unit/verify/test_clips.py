"""A sound clip has no problem; each kind of damage has one that says what and where."""

import io
import json

import numpy as np
import pytest

from robustclevr.imaging import encode_npz
from robustclevr.plan import make_clip_plan
from robustclevr.recipe import load_recipes
from robustclevr.records import ClipPlan, from_json
from robustclevr.run.clips import encode_clip
from robustclevr.spec import load_dataset
from robustclevr.store.dataset import Sample
from robustclevr.verify.clips import clip_problems


def made(tmp_path, text="family: vmds\nvideo: {sprites: [3, 3]}", index=1, name="test"):
    file = tmp_path / "clips.yaml"
    file.write_text(f"{text}\nsplits: {{{name}: {{samples: 4}}}}\n")
    recipes = load_recipes()
    split = load_dataset(file, recipes).split(name)
    plan = make_clip_plan(split, recipes, root_seed=0, index=index)
    members, _ = encode_clip(plan, split.video, recipes)
    return Sample(name, f"{index:06d}", members)


def problems(sample):
    plan = from_json(ClipPlan, sample.record["plan"])
    return [str(problem) for problem in clip_problems(sample, plan)]


def changed(sample, *, record=None, **arrays):
    """Return the clip with a function applied to its record and to some of its arrays."""
    stored = sample.record
    if record is not None:
        record(stored)
    found = dict(np.load(io.BytesIO(sample.members["npz"])))
    for name, change in arrays.items():
        found[name] = change(found[name].copy())
    members = {"json": json.dumps(stored).encode(), "npz": encode_npz(**found)}
    return Sample(sample.split, sample.key, members)


@pytest.mark.parametrize(
    "text",
    [
        "family: vmds\nvideo: {sprites: [4, 4], edges: bilinear}\noutputs: [image, flow]",
        "family: vmds\nscenario: [occlusion, mixed]\noutputs: [image, background]",
        "family: vmds\nscenario: enter_exit",
        "family: texvmds",
        "family: spmot\nvideo: {sampling: odd-even, stream: torch-seed-0}",
        "family: spmot\nvideo: {height: 128, width: 128}",
        "family: vmds\ndag: {nodes: {pixelate: {set: {scale: 0.4}}}}",
    ],
)
def test_a_sound_clip_has_no_problem(tmp_path, text):
    assert problems(made(tmp_path, text)) == []


def test_a_pixel_under_the_wrong_name(tmp_path):
    sample = made(tmp_path)
    row, column = np.argwhere(sample.array("masks")[3] == 2)[0]

    def rename(masks):
        masks[3, row, column] = 1
        return masks

    first, *others = problems(changed(sample, masks=rename))
    assert first == (
        f"mask of frame 3 at row {row}, column {column} is 1, "
        "expected 2, which is foremost (1 pixels differ)"
    )
    named = {text.split(" is ")[0] for text in others}
    assert named == {"visibility of sprite 1", "visibility of sprite 2"}


def test_a_visibility_that_is_not_the_masks(tmp_path):
    def half(record):
        record["sprites"][2]["visibility"][4] = 0.5

    (problem,) = problems(changed(made(tmp_path), record=half))
    assert problem.startswith("visibility of sprite 3 is [")


def test_a_sprite_outside(tmp_path):
    def outside(record):
        record["plan"]["clip"]["sprites"][0]["position"][9] = [9.5, 30.0]

    (problem,) = problems(changed(made(tmp_path), record=outside))
    assert problem == (
        "place of sprite 1 in frame 9 is (9.5, 30.0), expected at least 10 px from each border"
    )


def test_arrays_of_another_size_or_type(tmp_path):
    sample = made(tmp_path)
    assert problems(changed(sample, video=lambda video: video[:, ::2])) == [
        "array 'video' is uint8(10, 32, 64, 3), expected uint8(10, 64, 64, 3)"
    ]
    assert problems(changed(sample, amodal=lambda amodal: amodal.astype(np.uint8))) == [
        "array 'amodal' is uint8(10, 3, 64, 64), expected bool(10, 3, 64, 64)"
    ]


def test_a_version_that_nothing_changes_is_the_clip(tmp_path):
    text = "family: vmds\ndag: {nodes: {gamma: {set: {gamma: 1}}}}"
    sample = made(tmp_path, text)
    assert problems(sample) == []
    video, masks = (sample.array(name, "gamma") for name in ("video", "masks"))
    video[2, 5, 5] ^= 1
    altered = {**sample.members, "gamma.npz": encode_npz(video=video, masks=masks)}
    assert problems(Sample("test", sample.key, altered)) == [
        "array 'video' of 'gamma' differs from the clean one, though no step changes it"
    ]
