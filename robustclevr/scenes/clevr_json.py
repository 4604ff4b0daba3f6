"""A Scene as CLEVR's scene JSON, and back without loss.

The fields and names are CLEVR's. Beside them stands what the released data leave out and
without which a scene cannot be rendered again: the camera and its matrices, the lights, the
jitters, and what was really applied to each object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustclevr.errors import StoreError
from robustclevr.records import Scene, SceneObject, from_json, to_json

_CONVENTIONS = {
    "world": "right-handed, z up, ground at z = 0, metres",
    "world_from_camera": "rows of a 4x4 matrix; camera axes x right, y up, looking down -z "
    "(OpenGL, Blender)",
    "intrinsics": "rows of a 3x3 matrix in pixels for camera axes x right, y down, z forward "
    "(OpenCV); negate y and z of world_from_camera's columns to get there",
    "pixels": "origin top left, x right, y down, pixel centres at +0.5",
    "pixel_coords": "column and row of the object's centre, rounded; distance along the "
    "camera's axis in metres",
    "rotation": "CLEVR's number; yaw_rad is the rotation about z that was applied",
}

_CLEVR_NAMES = {"position": "3d_coords"}
_OBJECT_KEYS = (
    "shape",
    "size",
    "material",
    "color",
    "position",
    "rotation",
    "pixel_coords",
    "radius",
    "rgba",
    "yaw_rad",
)


def scene_to_clevr(scene: Scene) -> dict[str, Any]:
    """Return a scene as plain JSON data with CLEVR's fields and names.

    Parameters
    ----------
    scene : Scene

    Returns
    -------
    dict
        CLEVR's ``objects`` (``shape``, ``size``, ``material``, ``color``, ``3d_coords``,
        ``rotation``, ``pixel_coords``), ``directions`` and ``relationships``; further per object
        ``radius``, ``rgba``, ``yaw_rad``; further per scene ``camera``, ``lights``, ``jitters``,
        ``compat``, ``min_visible_pixels``, ``tries`` and ``conventions``, which says how to read
        coordinates and matrices.
    """
    return {
        "objects": [_object_to_clevr(item) for item in scene.objects],
        "directions": to_json(scene.directions),
        "relationships": to_json(scene.relationships),
        "camera": to_json(scene.camera),
        "lights": to_json(scene.lights),
        "jitters": to_json(scene.jitters),
        "compat": scene.compat,
        "min_visible_pixels": scene.min_visible_pixels,
        "tries": scene.tries,
        "conventions": dict(_CONVENTIONS),
    }


def scene_from_record(data: Mapping[str, Any]) -> Scene:
    """Return the scene that :func:`scene_to_clevr` wrote.

    Parameters
    ----------
    data : mapping
        Further keys, such as ``image_filename``, are ignored.

    Returns
    -------
    Scene
        Equal to the one that was written.

    Raises
    ------
    StoreError
        If a field is missing or is not what it should be, as in scenes of the released CLEVR,
        which have no camera.
    """
    try:
        fields = {name: data[name] for name in Scene.__dataclass_fields__}
        fields["objects"] = [_object_from_clevr(item) for item in data["objects"]]
        return from_json(Scene, fields)
    except KeyError as error:
        raise StoreError(
            f"not a scene record: it lacks {error}; only records of this project say all that "
            "a scene needs to be rendered again"
        ) from None
    except (TypeError, ValueError, AttributeError) as error:
        raise StoreError(f"not a scene record: {error}") from None


def _object_to_clevr(item: SceneObject) -> dict[str, Any]:
    fields = to_json(item)
    column, row, depth = item.pixel_coords
    fields["pixel_coords"] = [round(column), round(row), depth]
    return {_CLEVR_NAMES.get(name, name): fields[name] for name in _OBJECT_KEYS}


def _object_from_clevr(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: data[_CLEVR_NAMES.get(name, name)] for name in _OBJECT_KEYS}
