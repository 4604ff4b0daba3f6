from dataclasses import replace

import numpy as np
import pytest

from robustclevr.errors import RenderError
from robustclevr.imaging import decode_npz, decode_png, jpeg_round_trip
from robustclevr.recipe import load_recipes
from robustclevr.records import (
    Draw,
    ImagePlan,
    LinearImage,
    NodeDraw,
    Plan,
    Render,
    RenderPass,
    RenderSettings,
    SceneOptions,
    Step,
    from_json,
)
from robustclevr.scenes import sample_scene, scene_to_clevr
from robustclevr.store.dataset import Sample
from robustclevr.store.sample import mask_instants, sample_members

HEIGHT, WIDTH = 6, 8
OPTIONS = SceneOptions((2, 2), "clevr", "none", 10, 0.25, 0.4, 2000)
NODE = NodeDraw(True, {"factor": 0.5}, 0.5, {"u": 0.25}, -1.0, {})


def plan(outputs=("image", "mask")) -> Plan:
    scene = sample_scene(OPTIONS, height=48, width=64, root_seed=0, split="test", index=17)
    return Plan(
        version=1,
        split="test",
        index=17,
        root_seed=3,
        draw=Draw(17, {"clouds": NODE}, -1.0, {}),
        scene=scene,
        settings=RenderSettings(HEIGHT, WIDTH, 4, denoise=False, seed=9),
        outputs=outputs,
        renders=(RenderPass(()),),
        images=(ImagePlan("clean", 0, ()), ImagePlan("flip", 0, ())),
    )


def test_the_record_says_which_instant_the_labels_of_a_smeared_image_show():
    smear = Step("pan", "camera_motion_blur", {}, 0.5, 1, "shutter center")
    still = replace(smear, node="still", severity=0.0)
    made = replace(
        plan(),
        renders=(RenderPass(()), RenderPass((smear,))),
        images=(ImagePlan("clean", 0, (still,)), ImagePlan("flip", 1, ())),
    )
    assert mask_instants(made.images, made.renders) == {"flip": {"pan": "shutter center"}}


def labels() -> np.ndarray:
    array = np.zeros((HEIGHT, WIDTH), np.uint8)
    array[1:4, 2:5] = 1  # 9 pixels, three of them then hidden
    array[1:3, 4:6] = 2
    return array


def render(**changes) -> Render:
    pixels = np.linspace(0, 1, HEIGHT * WIDTH * 3, dtype=np.float32).reshape(HEIGHT, WIDTH, 3)
    flipped = np.arange(HEIGHT * WIDTH, dtype=np.int32).reshape(HEIGHT, WIDTH)[:, ::-1].copy()
    flipped[:, 0] = -1
    made = Render(
        images=(
            LinearImage("clean", pixels, None),
            LinearImage("flip", pixels[:, ::-1], flipped),
        ),
        labels=labels(),
        amodal=None,
        depth=None,
        normal=None,
        seconds={},
        renders=1,
        versions={},
        device="cpu",
    )
    return replace(made, **changes)


def whole() -> np.ndarray:
    masks = np.stack([labels() == 1, labels() == 2])
    masks[0, 1:3, 4] = True  # the two pixels that object 2 hides
    masks[0, 0, 7] = True  # moves to column 0, which the flip does not show
    return masks


def members(planned: Plan | None = None, rendered: Render | None = None) -> dict[str, bytes]:
    planned = planned or plan()
    return sample_members(
        planned,
        rendered or render(),
        scene=scene_to_clevr(planned.scene),
        whole=whole(),
    )


def test_names_follow_the_outputs() -> None:
    assert sorted(members()) == [
        "clean.mask.png",
        "clean.png",
        "flip.mask.png",
        "flip.png",
        "json",
    ]
    assert sorted(members(plan(("image",)))) == ["clean.png", "flip.png", "json"]
    depth = np.full((HEIGHT, WIDTH), 2.5, np.float32)
    made = members(plan(("mask", "depth")), render(depth=depth))
    assert sorted(made) == ["clean.mask.png", "depth.npz", "flip.mask.png", "json"]
    np.testing.assert_array_equal(decode_npz(made["depth.npz"])["depth"], depth)


def test_encoded_steps_change_the_stored_pixels_and_no_labels() -> None:
    quality = {"quality": 5.0, "halve_color": True}
    images = (
        ImagePlan("clean", 0, ()),
        ImagePlan("flip", 0, (), (Step("last", "jpeg", quality, 1.0, 0),)),
    )
    before = members()
    made = sample_members(
        replace(plan(), images=images),
        render(),
        scene=scene_to_clevr(plan().scene),
        whole=whole(),
        recipes=load_recipes(),
    )
    assert [name for name in made if made[name] != before[name]] == ["flip.png", "json"]
    expected = jpeg_round_trip(decode_png(before["flip.png"]), 5.0, halve=True)
    np.testing.assert_array_equal(decode_png(made["flip.png"]), expected)


def test_pixels_and_labels() -> None:
    made = members()
    image = decode_png(made["clean.png"])
    assert image[0, 0].tolist()[0] == 0
    assert image[-1, -1].tolist()[2] == 255
    np.testing.assert_array_equal(decode_png(made["clean.mask.png"]), labels())
    moved = labels()[:, ::-1].copy()
    moved[:, 0] = 0
    np.testing.assert_array_equal(decode_png(made["flip.mask.png"]), moved)


def test_the_record_says_what_the_masks_show() -> None:
    record = Sample("test", "000017", members()).record
    first, second = record["objects"]
    # Columns 2 to 3 of rows 1 to 3, and column 4 of row 3: 7 of 10 pixels.
    assert first["box"] == [2, 1, 5, 4]
    assert (first["visible_pixels"], first["visible_fraction"]) == (7, 0.7)
    assert second["box"] == [4, 1, 6, 3]
    assert (second["visible_pixels"], second["visible_fraction"]) == (4, 1.0)
    assert first["variants"]["flip"]["box"] == [3, 1, 6, 4]
    assert first["variants"]["flip"]["visible_fraction"] == 7 / 9
    assert first["shape"] == record["scene"]["objects"][0]["shape"]


def test_the_record_holds_the_whole_plan() -> None:
    planned = plan()
    record = Sample("test", "000017", members(planned)).record
    assert from_json(Plan, record["plan"]) == planned
    assert (record["index"], record["split"], record["seed"]) == (17, "test", 3)
    assert record["nodes"]["clouds"]["noise"] == {"u": 0.25}
    assert record["scene"]["image_filename"] == "CLEVR_test_000017.png"


def test_equal_input_gives_equal_bytes() -> None:
    assert members() == members()


def test_an_image_of_another_plan_is_refused() -> None:
    wrong = render(images=render().images[:1])
    with pytest.raises(RenderError, match="test/17"):
        members(rendered=wrong)


def test_a_pixel_that_is_no_number_is_refused() -> None:
    images = render().images
    broken = images[0].pixels.copy()
    broken[2, 3, 1] = np.nan
    with pytest.raises(RenderError):
        members(rendered=render(images=(replace(images[0], pixels=broken), images[1])))
