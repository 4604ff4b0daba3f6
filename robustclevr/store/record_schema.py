"""JSON Schemas of the record beside each sample: one a kind of sample.

Nothing enters; schemas as plain data leave (JSON Schema, draft 7: validators that are quick enough
for a million records speak it). A schema says which
fields there are, of which types and in which ranges; that they fit each other, and the pixels, is
what ``robustclevr verify`` checks beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustclevr.imaging import Footprint
from robustclevr.records import ClipPlan, NodeDraw, PicturePlan, Plan, SourcePicture, Texture
from robustclevr.records.json_schema import Schema, definitions

DIALECT = "http://json-schema.org/draft-07/schema#"

_SPLIT = "^[a-z][a-z0-9_-]*$"
_VARIANT = "^[a-z][a-z0-9_]*$"
_VECTOR: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
_WORD: Schema = {"type": "string"}
_SHARE: Schema = {"minimum": 0, "maximum": 1}
_COUNT: Schema = {"minimum": 0}
_SIZE: Schema = {"minimum": 1}
_POSITIVE: Schema = {"exclusiveMinimum": 0}
_BYTE: Schema = {"items": {"type": "integer", "minimum": 0, "maximum": 255}}

_RANGES: Mapping[str, Mapping[str, Schema]] = {
    "NodeDraw": {"severity": _SHARE, "density_of": {"enum": ["noise", "parameters"]}},
    "Draw": {"index": _COUNT},
    "Step": {"severity": _SHARE, "seed": {"minimum": 0, "maximum": 2**24 - 1}},
    "ImagePlan": {"variant": {"pattern": _VARIANT}, "render": _COUNT},
    "ClipVariant": {"variant": {"pattern": _VARIANT}},
    "RenderSettings": {
        **dict.fromkeys(("height", "width", "samples"), _SIZE),
        "seed": {"minimum": 0, "maximum": 2**31 - 1},
    },
    "Choice": {"metric": {"enum": ["ssim", "psnr"]}, "chosen": _COUNT},
    "Camera": dict.fromkeys(("focal_mm", "sensor_width_mm"), _POSITIVE),
    "Light": {"kind": {"enum": ["area", "sun"]}},
    "SceneObject": {"radius": _POSITIVE},
    "Scene": {"min_visible_pixels": _COUNT, "tries": _SIZE},
    "Footprint": {"visible_pixels": _COUNT, "visible_fraction": _SHARE},
    "SourcePicture": {
        **dict.fromkeys(("height", "width"), _SIZE),
        "sha256": {"pattern": "^[0-9a-f]{64}$"},
        "bits": {"enum": [8, 16]},
    },
    "PicturePlan": {"engine": {"enum": ["blender", "numpy"]}},
    "VideoOptions": {
        **dict.fromkeys(("frames", "height", "width", "tries"), _SIZE),
        "counts": {"enum": ["balanced", "uniform"]},
        "edges": {"enum": ["coverage", "bilinear", "cubic", "hard"]},
    },
    "Clip": {"background": _BYTE},
    "Texture": dict.fromkeys(("top", "left"), _COUNT),
}
"""What types do not say; numbers are those of the records' docstrings."""

_NAMED = ("Plan", "ClipPlan", "PicturePlan", "Clip")
"""Records that carry the sample's name."""


def scene_record_schema() -> Schema:
    """Return the schema of the record of a rendered scene."""
    defs = _definitions(Plan, NodeDraw, Footprint)
    scene, item = defs.pop("Scene"), defs.pop("SceneObject")
    defs |= {"Scene": scene, "SceneObject": item}
    described = {
        **{name: value for name, value in item["properties"].items() if name != "position"},
        "3d_coords": {**_VECTOR, "description": item["properties"]["position"]["description"]},
        "pixel_coords": {
            "type": "array",
            "items": [{"type": "integer"}, {"type": "integer"}, {"type": "number"}],
            "minItems": 3,
            "maxItems": 3,
            "description": item["properties"]["pixel_coords"]["description"],
        },
    }
    defs["ClevrObject"] = _closed("One object in CLEVR's fields and names.", described)
    defs["SeenObject"] = _closed(
        "One object, and what is seen of it in each image.",
        {
            **described,
            **defs["Footprint"]["properties"],
            "variants": {
                "type": "object",
                "additionalProperties": {"$ref": "#/$defs/Footprint"},
                "description": "what is seen of it in each image but the clean one",
            },
        },
    )
    defs["ClevrScene"] = _closed(
        "The scene in CLEVR's fields and names, and what rendering it again needs.",
        {
            "split": _WORD,
            "image_index": {"type": "integer", **_COUNT},
            "image_filename": _WORD,
            **scene["properties"],
            "objects": {"type": "array", "items": {"$ref": "#/$defs/ClevrObject"}},
            "conventions": {"type": "object", "additionalProperties": _WORD},
        },
    )
    return _schema(
        "The record of a rendered scene in a dataset of robustclevr",
        {
            "scene": {"$ref": "#/$defs/ClevrScene"},
            "objects": {"type": "array", "items": {"$ref": "#/$defs/SeenObject"}},
            **_drawn(),
            "mask_instants": _MASK_INSTANTS,
            "render": {"$ref": "#/$defs/RenderSettings"},
            "plan": {"$ref": "#/$defs/Plan"},
        },
        defs,
    )


def picture_record_schema() -> Schema:
    """Return the schema of the record of a corrupted picture."""
    defs = _definitions(PicturePlan, NodeDraw, SourcePicture, Footprint)
    size = {name: {"type": "integer", **_SIZE} for name in ("height", "width")}
    defs["SeenObject"] = _closed(
        "One object of the mask, and what is seen of it in each image.",
        {
            "value": {
                "type": ["integer", "array"],
                "items": {"type": "integer"},
                "description": "its value in the mask's file",
            },
            **defs["Footprint"]["properties"],
            "variants": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Footprint"}},
        },
    )
    return _schema(
        "The record of a corrupted picture in a dataset of robustclevr",
        {
            "picture": {"$ref": "#/$defs/SourcePicture"},
            "objects": {"type": "array", "items": {"$ref": "#/$defs/SeenObject"}},
            **_drawn(),
            "mask_instants": _MASK_INSTANTS,
            "render": _closed("Size of the images. [px]", size),
            "plan": {"$ref": "#/$defs/PicturePlan"},
        },
        defs,
    )


def clip_record_schema() -> Schema:
    """Return the schema of the record of a clip."""
    defs = _definitions(ClipPlan, NodeDraw, Texture)
    sprite = defs["Sprite"]
    seen = {
        "type": "array",
        "items": {"type": "number", **_SHARE},
        "description": "per frame, pixels seen over pixels of the sprite alone",
    }
    defs["SeenSprite"] = _closed(
        "One moving thing, and how much of it is seen.",
        {**sprite["properties"], "visibility": seen},
    )
    clip = defs["Clip"]["properties"]
    background = {
        "color": clip["background"],
        "texture": clip["background_texture"],
        "step": clip["background_step"],
    }
    return _schema(
        "The record of a clip in a dataset of robustclevr",
        {
            "family": {"enum": ["vmds", "texvmds", "spmot"]},
            "frames": {"type": "integer", **_SIZE},
            "sprites": {"type": "array", "items": {"$ref": "#/$defs/SeenSprite"}},
            "background": _closed("What lies behind the sprites.", background),
            "scenario": clip["scenario"],
            "left_out": clip["left_out"],
            **_drawn(),
            "plan": {"$ref": "#/$defs/ClipPlan"},
        },
        defs,
    )


_MASK_INSTANTS: Schema = {
    "type": "object",
    "additionalProperties": {"type": "object", "additionalProperties": _WORD},
    "description": "which instant the labels show, by image and node, where an image shows a span",
}


def _definitions(*kinds: type) -> dict[str, Schema]:
    """Return the definitions of records, with the ranges that types do not say."""
    found = definitions(*kinds)
    for kind, ranges in _RANGES.items():
        for name, bounds in ranges.items():
            if kind in found:
                found[kind]["properties"][name] |= bounds
    named = {"split": {"pattern": _SPLIT}, "index": _COUNT, "root_seed": _COUNT}
    for kind in set(_NAMED) & found.keys():
        for name, bounds in named.items():
            found[kind]["properties"][name] |= bounds
    return found


def _drawn() -> dict[str, Schema]:
    return {
        "nodes": {"type": "object", "additionalProperties": {"$ref": "#/$defs/NodeDraw"}},
        "log_density": {"type": ["number", "null"], "description": "of the whole draw. [nat]"},
        "interventions": {
            "type": "object",
            "additionalProperties": _WORD,
            "description": "what was intervened on, and with what",
        },
    }


def _schema(title: str, properties: Mapping[str, Schema], defs: Mapping[str, Schema]) -> Schema:
    name = {
        "index": {"type": "integer", **_COUNT, "description": "of the sample in its split"},
        "split": {"type": "string", "pattern": _SPLIT},
        "seed": {"type": "integer", **_COUNT, "description": "root seed of the dataset"},
    }
    body = _closed("", {**name, **properties})
    del body["description"]
    return {"$schema": DIALECT, "title": title, **body, "$defs": dict(sorted(defs.items()))}


def _closed(description: str, properties: Mapping[str, Schema]) -> Schema:
    """Return an object that has exactly these properties."""
    return {
        "description": description,
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


RECORD_SCHEMAS: Mapping[str, Any] = {
    "record": scene_record_schema,
    "clip-record": clip_record_schema,
    "picture-record": picture_record_schema,
}
"""How each is made, by the name that ``robustclevr schema`` knows it by."""
