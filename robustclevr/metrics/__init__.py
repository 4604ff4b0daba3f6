"""Scores: arrays in, fractions out; each names its equation and where it comes from."""

from robustclevr.metrics.class_iou import (
    ClassAreas,
    class_areas,
    expected_fb_iou,
    expected_iou,
)
from robustclevr.metrics.matched_iou import MatchedIou, matched_iou
from robustclevr.metrics.overlap import Overlaps, label_overlaps, mask_overlaps
from robustclevr.metrics.rand import RandScores, rand_scores
from robustclevr.metrics.tracking import PRESETS, TrackingRules, clip_events
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
    "MatchedIou",
    "Overlaps",
    "RandScores",
    "TrackingCounts",
    "TrackingRules",
    "class_areas",
    "clip_events",
    "expected_fb_iou",
    "expected_iou",
    "iou_sweep",
    "label_overlaps",
    "mask_overlaps",
    "matched_iou",
    "rand_scores",
    "score_clip",
    "score_masks",
    "squared_error",
]
