"""CLEVR scenes: what stands where, seen from which camera, under which lights."""

from robustclevr.scenes.clevr_json import scene_from_record, scene_to_clevr
from robustclevr.scenes.raster import amodal_masks, label_map, visible_pixels
from robustclevr.scenes.sample import sample_scene
from robustclevr.scenes.search import min_visible_pixels

__all__ = [
    "amodal_masks",
    "label_map",
    "min_visible_pixels",
    "sample_scene",
    "scene_from_record",
    "scene_to_clevr",
    "visible_pixels",
]
