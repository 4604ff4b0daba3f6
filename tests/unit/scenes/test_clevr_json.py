"""Scene records: CLEVR's fields, and back without loss."""

import json

import pytest

from robustclevr.errors import StoreError
from robustclevr.records import Scene, SceneOptions
from robustclevr.scenes import sample_scene, scene_from_record, scene_to_clevr


def scene(index: int, compat: str = "none") -> Scene:
    options = SceneOptions((3, 10), "clevr", compat, 200, 0.25, 0.4, 2000)
    return sample_scene(options, height=48, width=64, root_seed=9, split="test", index=index)


@pytest.mark.parametrize("compat", ["none", "clevr-v1"])
@pytest.mark.parametrize("index", range(5))
def test_round_trip_through_json_text(index: int, compat: str) -> None:
    original = scene(index, compat)
    text = json.dumps(scene_to_clevr(original), allow_nan=False)
    assert scene_from_record(json.loads(text)) == original


def test_clevrs_fields_and_names() -> None:
    original = scene(0)
    data = scene_to_clevr(original)
    assert {"objects", "directions", "relationships"} <= data.keys()
    for item, fields in zip(original.objects, data["objects"], strict=True):
        clevr = {"shape", "size", "material", "color", "3d_coords", "rotation", "pixel_coords"}
        assert clevr <= fields.keys()
        assert fields["3d_coords"] == list(item.position)
        column, row, depth = fields["pixel_coords"]
        assert isinstance(column, int)
        assert isinstance(row, int)
        assert (column, row, depth) == item.pixel_coords
        assert 5 < depth < 17
    assert data["directions"]["left"] == list(original.directions["left"])
    assert data["relationships"]["behind"] == [list(r) for r in original.relationships["behind"]]
    assert len(data["camera"]["world_from_camera"]) == 4
    assert "OpenGL" in data["conventions"]["world_from_camera"]


def test_further_keys_are_ignored() -> None:
    original = scene(1)
    data = scene_to_clevr(original) | {"image_filename": "CLEVR_new_000001.png", "split": "new"}
    assert scene_from_record(data) == original


@pytest.mark.parametrize("key", ["camera", "lights", "objects"])
def test_a_missing_field_is_named(key: str) -> None:
    data = scene_to_clevr(scene(2))
    del data[key]
    with pytest.raises(StoreError, match=f"it lacks '{key}'"):
        scene_from_record(data)


def test_a_missing_object_field_is_named() -> None:
    data = scene_to_clevr(scene(2))
    del data["objects"][1]["yaw_rad"]
    with pytest.raises(StoreError, match="it lacks 'yaw_rad'"):
        scene_from_record(data)


@pytest.mark.parametrize(("key", "value"), [("camera", "here"), ("objects", 3), ("lights", None)])
def test_a_field_of_another_kind_is_an_error(key: str, value: object) -> None:
    data = scene_to_clevr(scene(2)) | {key: value}
    with pytest.raises(StoreError, match="not a scene record"):
        scene_from_record(data)
