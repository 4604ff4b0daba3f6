"""The sampler against the laws it claims, over two thousand scenes."""

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from robustclevr.errors import SamplingError, SpecError
from robustclevr.records import Scene, SceneOptions
from robustclevr.scenes import (
    amodal_masks,
    label_map,
    min_visible_pixels,
    sample_scene,
    visible_pixels,
)
from robustclevr.scenes.search import with_guard

DEFAULTS = SceneOptions(
    objects=(3, 10),
    palette="clevr",
    compat="none",
    min_pixels=200,
    min_distance=0.25,
    margin=0.4,
    tries=2000,
)
HEIGHT, WIDTH = 48, 64
SCENES = 2000
CUBE_REACH = 0.82 * math.sqrt(2) + 0.18

RGB_BYTES = {
    "gray": (87, 87, 87),
    "red": (173, 35, 35),
    "blue": (42, 75, 215),
    "green": (29, 105, 20),
    "brown": (129, 74, 25),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
}


def sample(index: int, options: SceneOptions = DEFAULTS, **name: object) -> Scene:
    where = {"height": HEIGHT, "width": WIDTH, "root_seed": 0, "split": "train"} | name
    return sample_scene(options, index=index, **where)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    return [sample(index) for index in range(SCENES)]


@pytest.fixture(scope="module")
def released() -> list[Scene]:
    options = dataclasses.replace(DEFAULTS, compat="clevr-v1")
    return [sample(index, options) for index in range(100)]


def everything(scenes: list[Scene]) -> list:
    return [item for scene in scenes for item in scene.objects]


def assert_uniform(values: list, kinds: set) -> None:
    counts = Counter(values)
    assert set(counts) == kinds
    # six such tests are made: 0.001 in all
    assert stats.chisquare(list(counts.values())).pvalue > 0.001 / 6


def test_counts_are_uniform(scenes: list[Scene]) -> None:
    assert_uniform([len(scene.objects) for scene in scenes], set(range(3, 11)))


@pytest.mark.parametrize(
    ("field", "kinds"),
    [
        ("shape", {"cube", "sphere", "cylinder"}),
        ("size", {"large", "small"}),
        ("material", {"rubber", "metal"}),
        ("color", set(RGB_BYTES)),
    ],
)
def test_attributes_are_uniform(scenes: list[Scene], field: str, kinds: set[str]) -> None:
    assert_uniform([getattr(item, field) for item in everything(scenes)], kinds)


def test_attributes_are_independent(scenes: list[Scene]) -> None:
    joint = [(item.shape, item.size, item.material) for item in everything(scenes)]
    kinds = {(a, b, c) for a in ("cube", "sphere", "cylinder") for b in ("large", "small")
             for c in ("rubber", "metal")}  # fmt: skip
    assert_uniform(joint, kinds)


def test_attributes_do_not_depend_on_the_number_of_objects(scenes: list[Scene]) -> None:
    large = np.array([[item.size == "large" for item in s.objects[:3]] for s in scenes])
    crowded = np.array([len(scene.objects) >= 7 for scene in scenes])
    table = [[large[crowded].sum(), (~large[crowded]).sum()],
             [large[~crowded].sum(), (~large[~crowded]).sum()]]  # fmt: skip
    assert stats.chi2_contingency(table).pvalue > 0.001


def test_rotation_is_uniform_and_applied_in_degrees(scenes: list[Scene]) -> None:
    rotations = np.array([item.rotation for item in everything(scenes)])
    yaws = np.array([item.yaw_rad for item in everything(scenes)])
    assert stats.kstest(rotations / 360, "uniform").pvalue > 0.001
    np.testing.assert_allclose(yaws, np.deg2rad(rotations), rtol=1e-15)


def test_objects_stand_on_the_ground_inside_the_square(scenes: list[Scene]) -> None:
    for item in everything(scenes):
        x, y, z = item.position
        assert abs(x) <= 3
        assert abs(y) <= 3
        assert z == item.radius == {"large": 0.7, "small": 0.35}[item.size]
        assert item.rgba == (*(byte / 255 for byte in RGB_BYTES[item.color]), 1.0)


def pairs(scene: Scene):
    for i, a in enumerate(scene.objects):
        for b in scene.objects[:i]:
            yield a, b, np.subtract(a.position, b.position)


def test_no_two_circles_come_nearer_than_the_gap(scenes: list[Scene]) -> None:
    for scene in scenes:
        for a, b, offset in pairs(scene):
            reach = sum(
                item.radius * (CUBE_REACH if item.shape == "cube" else 1) for item in (a, b)
            )
            assert math.hypot(offset[0], offset[1]) - reach >= 0.25 - 1e-12


def test_margin_holds_along_every_direction(scenes: list[Scene]) -> None:
    for scene in scenes:
        for _, _, offset in pairs(scene):
            for name in ("left", "right", "front", "behind"):
                assert abs(np.dot(offset, scene.directions[name])) >= 0.4 - 1e-12


def test_directions_follow_from_the_jittered_camera(scenes: list[Scene]) -> None:
    for scene in scenes:
        pose = np.array(scene.camera.world_from_camera)
        flat = np.array([1, 1, 0])
        behind = -pose[:3, 2] * flat
        left = -pose[:3, 0] * flat
        behind, left = behind / np.linalg.norm(behind), left / np.linalg.norm(left)
        expected = {"behind": behind, "front": -behind, "left": left, "right": -left,
                    "above": (0, 0, 1), "below": (0, 0, -1)}  # fmt: skip
        assert scene.directions.keys() == expected.keys()
        for name, vector in expected.items():
            np.testing.assert_allclose(scene.directions[name], vector, atol=1e-12)


def test_relationships_follow_from_the_coordinates(scenes: list[Scene]) -> None:
    for scene in scenes:
        places = np.array([item.position for item in scene.objects])
        assert set(scene.relationships) == {"left", "right", "front", "behind"}
        for name, related in scene.relationships.items():
            along = places @ np.array(scene.directions[name])
            lies_that_way = along[np.newaxis, :] - along[:, np.newaxis] > 0.2
            assert related == tuple(tuple(np.flatnonzero(row).tolist()) for row in lies_that_way)


def test_jitters_are_uniform_and_independent(scenes: list[Scene]) -> None:
    assert set(scenes[0].jitters) == {"camera", "key", "fill", "back"}
    columns = []
    for name, half_width in (("camera", 0.5), ("key", 1.0), ("fill", 1.0), ("back", 1.0)):
        offsets = np.array([scene.jitters[name] for scene in scenes]) / half_width
        columns.extend(offsets.T)
    for column in columns:
        assert stats.kstest(column, stats.uniform(-1, 2).cdf).pvalue > 0.001 / 12
    correlation = np.corrcoef(columns) - np.eye(12)
    assert np.abs(correlation).max() < 4.5 / math.sqrt(SCENES)


def test_jitters_move_camera_and_area_lights_which_then_face_the_origin(
    scenes: list[Scene],
) -> None:
    rest = {"camera": (7.481132, -6.507640, 5.343665), "key": (6.446710, -2.905175, 4.258398),
            "fill": (-4.671124, -4.013597, 3.011225),
            "back": (-1.168501, 2.646024, 5.815737)}  # fmt: skip
    for scene in scenes[:50]:
        movers = {"camera": scene.camera} | {light.name: light for light in scene.lights[:3]}
        for name, mover in movers.items():
            np.testing.assert_allclose(mover.position, np.add(rest[name], scene.jitters[name]))
        for light in scene.lights[:3]:
            to_origin = -np.array(light.position) / np.linalg.norm(light.position)
            np.testing.assert_allclose(light.direction, to_origin, atol=1e-12)
        assert scene.lights[3] == scenes[0].lights[3]


def test_every_object_and_the_background_are_seen(scenes: list[Scene]) -> None:
    required = math.ceil(200 * HEIGHT * WIDTH / (320 * 240))
    for scene in scenes[:500]:
        labels = label_map(scene.objects, scene.camera, HEIGHT, WIDTH)
        counts = visible_pixels(labels, len(scene.objects))
        assert scene.min_visible_pixels == required == 8
        assert min(counts) >= with_guard(required) == 10
        whole = amodal_masks(scene.objects, scene.camera, HEIGHT, WIDTH).sum(axis=(1, 2))
        assert all(seen <= alone for seen, alone in zip(counts[1:], whole, strict=True))


def test_the_default_bound_on_tries_is_far_away(scenes: list[Scene]) -> None:
    tries = np.array([scene.tries for scene in scenes])
    assert tries.min() == 1
    assert np.quantile(tries, 0.99) <= 20
    assert tries.max() <= 400


@pytest.mark.parametrize(
    ("height", "width", "least"), [(240, 320, 200), (64, 64, 11), (480, 640, 800), (120, 160, 50)]
)
def test_visible_pixels_scale_with_the_area_rounded_up(height: int, width: int, least: int) -> None:
    assert min_visible_pixels(DEFAULTS, height=height, width=width) == least


def test_the_guard_is_two_percent_and_a_pixel() -> None:
    assert [with_guard(required) for required in (0, 1, 11, 200, 800)] == [0, 3, 13, 205, 817]


def test_no_visibility_rule_lets_objects_hide() -> None:
    options = dataclasses.replace(DEFAULTS, objects=(10, 10), min_pixels=0)
    found = [sample(index, options) for index in range(40)]
    assert all(scene.min_visible_pixels == 0 for scene in found)
    hidden = [
        0 in visible_pixels(label_map(scene.objects, scene.camera, HEIGHT, WIDTH), 10)
        for scene in found
    ]
    assert any(hidden)


def test_released_quirks(released: list[Scene]) -> None:
    nearest = math.inf
    for scene in released:
        assert scene.compat == "clevr-v1"
        for item in scene.objects:
            assert 0 <= item.yaw_rad < 2 * math.pi
            assert math.isclose(math.cos(item.yaw_rad), math.cos(item.rotation), abs_tol=1e-9)
            assert math.isclose(math.sin(item.yaw_rad), math.sin(item.rotation), abs_tol=1e-9)
        for a, b, offset in pairs(scene):
            gap = math.hypot(offset[0], offset[1]) - a.radius - b.radius
            assert gap >= 0.25 - 1e-12
            if a.shape == b.shape == "cube":
                nearest = min(nearest, gap)
    assert nearest < 0.25 + 0.34 * 0.7  # some cubes stand nearer than the mended rule allows


def test_compat_changes_neither_attributes_nor_camera(
    scenes: list[Scene], released: list[Scene]
) -> None:
    for mine, theirs in zip(scenes, released, strict=False):
        assert mine.camera == theirs.camera
        assert mine.lights == theirs.lights
        for a, b in zip(mine.objects, theirs.objects, strict=True):
            assert (a.shape, a.size, a.color, a.rotation) == (b.shape, b.size, b.color, b.rotation)


MUTED, VIVID = {"gray", "blue", "brown", "yellow"}, {"red", "green", "purple", "cyan"}


@pytest.mark.parametrize(
    ("palette", "cubes", "cylinders"), [("cogent-a", MUTED, VIVID), ("cogent-b", VIVID, MUTED)]
)
def test_cogent_restricts_colors_and_nothing_else(
    scenes: list[Scene], palette: str, cubes: set[str], cylinders: set[str]
) -> None:
    options = dataclasses.replace(DEFAULTS, palette=palette)
    found = [sample(index, options) for index in range(120)]
    by_shape = {
        shape: {item.color for item in everything(found) if item.shape == shape}
        for shape in ("cube", "cylinder", "sphere")
    }
    assert by_shape == {"cube": cubes, "cylinder": cylinders, "sphere": set(RGB_BYTES)}
    for mine, plain in zip(found, scenes, strict=False):
        assert [item.position for item in mine.objects] == [i.position for i in plain.objects]


def test_a_scene_depends_on_its_name_alone(scenes: list[Scene]) -> None:
    for index in (1999, 17, 0):
        assert sample(index) == scenes[index]
    assert sample(17, dataclasses.replace(DEFAULTS, tries=1999)) == scenes[17]


@pytest.mark.parametrize("other", [{"root_seed": 1}, {"split": "test"}])
def test_other_names_give_other_scenes(scenes: list[Scene], other: dict[str, object]) -> None:
    others = [sample(index, **other) for index in range(20)]
    places = {item.position for item in everything(scenes[:200])}
    assert not places & {item.position for item in everything(others)}


def test_stages_do_not_shift_each_other(scenes: list[Scene]) -> None:
    ten = [sample(index, dataclasses.replace(DEFAULTS, objects=(10, 10))) for index in range(10)]
    for mine, plain in zip(ten, scenes, strict=False):
        assert mine.jitters == plain.jitters
        for a, b in zip(mine.objects, plain.objects, strict=False):
            assert (a.shape, a.color, a.rotation) == (b.shape, b.color, b.rotation)


def test_running_out_of_room_says_what_to_relax() -> None:
    options = dataclasses.replace(DEFAULTS, objects=(10, 10), min_distance=3.0, tries=2)
    with pytest.raises(SamplingError) as caught:
        sample(5, options)
    text = str(caught.value)
    assert text.startswith("scene 5 of split 'train' (root seed 0): 10 objects found no ")
    assert "in 2 tries: of 200 placements, 200 left an object without a free place" in text
    assert "(scene.min_distance 3, scene.margin 0.4)" in text
    assert text.endswith(
        "ask for fewer scene.objects; lower scene.min_distance or scene.margin; "
        "or raise scene.tries"
    )


def test_hidden_objects_say_what_to_relax() -> None:
    options = dataclasses.replace(DEFAULTS, objects=(3, 3), min_pixels=20000, tries=1)
    with pytest.raises(
        SamplingError, match=r"fewer scene\.objects; lower scene\.min_pixels"
    ) as caught:
        sample(0, options)
    assert "each needs 800 visible pixels at 64x48, from scene.min_pixels 20000" in str(
        caught.value
    )


def test_wrong_options_are_named_all_at_once() -> None:
    options = dataclasses.replace(DEFAULTS, palette="clever", compat="v1", objects=(4, 3))
    with pytest.raises(SpecError) as caught:
        sample(0, options)
    text = str(caught.value)
    assert "scene.palette: unknown palette 'clever'; did you mean 'clevr'?" in text
    assert "scene.compat: unknown compat 'v1'" in text
    assert "scene.objects: objects [4, 3]" in text
