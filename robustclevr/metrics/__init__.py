"""Scores: arrays in, fractions out; each names its equation and where it comes from."""

from robustclevr.metrics.class_iou import (
    ClassAreas,
    class_areas,
    expected_fb_iou,
    expected_iou,
)
from robustclevr.metrics.detection import (
    DetectionCurves,
    ImageBoxes,
    MatchedImages,
    detection_curves,
    match_images,
)
from robustclevr.metrics.importance import caption_typicality, important, object_importance
from robustclevr.metrics.matched_iou import MatchedIou, matched_iou
from robustclevr.metrics.overlap import Overlaps, label_overlaps, mask_overlaps
from robustclevr.metrics.rand import RandScores, rand_scores
from robustclevr.metrics.tracking import clip_events
from robustclevr.metrics.tracking_rules import PRESETS, TrackingRules
from robustclevr.metrics.tracking_scores import (
    IOU_SWEEP,
    TrackingCounts,
    iou_sweep,
    score_clip,
    score_masks,
    squared_error,
)

__all__ = [
    "IOU_SWEEP",
    "PRESETS",
    "ClassAreas",
    "DetectionCurves",
    "ImageBoxes",
    "MatchedImages",
    "MatchedIou",
    "Overlaps",
    "RandScores",
    "TrackingCounts",
    "TrackingRules",
    "caption_typicality",
    "class_areas",
    "clip_events",
    "detection_curves",
    "expected_fb_iou",
    "expected_iou",
    "important",
    "iou_sweep",
    "label_overlaps",
    "mask_overlaps",
    "match_images",
    "matched_iou",
    "object_importance",
    "rand_scores",
    "score_clip",
    "score_masks",
    "squared_error",
]
