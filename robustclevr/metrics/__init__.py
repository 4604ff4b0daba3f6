"""Scores: arrays in, fractions out; each names its equation and where it comes from."""

from robustclevr.metrics.overlap import Overlaps, label_overlaps, mask_overlaps
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
    "Overlaps",
    "TrackingCounts",
    "TrackingRules",
    "clip_events",
    "iou_sweep",
    "label_overlaps",
    "mask_overlaps",
    "score_clip",
    "score_masks",
    "squared_error",
]
